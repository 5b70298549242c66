/** MenuService: the menu of the console, cut to what the caller may see. */

import type { MenuService } from '../../../proto/gen/waf/v1/menu_pb.ts';
import { meets, type Caller } from '../../auth/permissions.ts';
import { callerOf } from '../context.ts';
import type { Built } from '../method.ts';

interface MenuEntry {
  readonly path: string;
  readonly name: string;
  readonly title: string;
  readonly icon: string;
  /** Permission that shows it. */
  readonly needs: string;
}

const entries: readonly MenuEntry[] = [
  { path: '/overview', name: 'overview', title: 'Overview', icon: 'gauge', needs: 'site:read' },
  { path: '/sites', name: 'sites', title: 'Sites', icon: 'globe', needs: 'site:read' },
  {
    path: '/upstreams',
    name: 'upstreams',
    title: 'Upstreams',
    icon: 'server',
    needs: 'upstream:read',
  },
  { path: '/policies', name: 'policies', title: 'Policies', icon: 'shield', needs: 'policy:read' },
  {
    path: '/ip-lists',
    name: 'ip-lists',
    title: 'IP lists',
    icon: 'list-checks',
    needs: 'policy:read',
  },
  {
    path: '/rulesets',
    name: 'rulesets',
    title: 'Rulesets',
    icon: 'package',
    needs: 'system:update:read',
  },
  { path: '/apis', name: 'apis', title: 'APIs', icon: 'braces', needs: 'telemetry:read' },
  { path: '/events', name: 'events', title: 'Events', icon: 'list', needs: 'log:read' },
  { path: '/alerts', name: 'alerts', title: 'Alerts', icon: 'bell', needs: 'alert:read' },
  { path: '/nodes', name: 'nodes', title: 'Nodes', icon: 'network', needs: 'agent:read' },
  { path: '/certs', name: 'certs', title: 'Certificates', icon: 'lock', needs: 'cert:read' },
  { path: '/users', name: 'users', title: 'Users', icon: 'users', needs: 'user:read' },
  { path: '/roles', name: 'roles', title: 'Roles', icon: 'key', needs: 'role:read' },
  { path: '/audit', name: 'audit', title: 'Audit', icon: 'history', needs: 'audit:read' },
  { path: '/settings', name: 'settings', title: 'Settings', icon: 'cog', needs: 'system:read' },
];

/** MenuService. */
export function menuService(): Built<typeof MenuService> {
  return {
    listMenus: (_request, context) => ({ menus: menusFor(callerOf(context)) }),
  };
}

function menusFor(caller: Caller) {
  return entries
    .filter(({ needs }) =>
      meets({ public: false, anyPermission: [needs], allPermission: [] }, caller.permissions),
    )
    .map(({ path, name, title, icon, needs }, at) => ({
      path,
      name,
      component: name,
      redirect: '',
      meta: { title, icon, order: at + 1, authority: [needs] },
      children: [],
    }));
}
