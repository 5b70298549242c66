/** What somebody else changed is shown by each page that lists it, without a reload. */

import { inList } from '../../../control/console/parts/in-list.ts';
import type { Task, World } from './task.ts';

interface Change {
  readonly id: string;
  readonly page: string;
  readonly path: string;
  readonly make: (world: World, name: string) => Promise<unknown>;
}

/** One change for each list of records that people make. */
const changes: readonly Change[] = [
  { id: 'fresh-sites', page: 'Sites', path: '/sites', make: (world, name) => world.site(name) },
  {
    id: 'fresh-policies',
    page: 'Policies',
    path: '/policies',
    make: (world, name) => world.policy(name),
  },
  {
    id: 'fresh-protection',
    page: 'Protection',
    path: '/protection',
    make: (world, name) => world.ipList(name),
  },
  {
    id: 'fresh-countries',
    page: 'Countries',
    path: '/protection?tab=countries',
    make: (world, name) => {
      const choice = { ...inList, kind: 'monitor', enabled: true };
      const rule = { name, countryCodes: ['SE'], targets: [{ scope: 'global' }], ...choice };
      return world.call('CountryAccessService/UpsertCountryAccessRule', { rule });
    },
  },
  {
    id: 'fresh-nodes',
    page: 'Nodes',
    path: '/nodes',
    make: (world, name) =>
      world.call('AgentGroupService/CreateAgentGroup', {
        group: { name, selector: { matchTags: [name] } },
      }),
  },
  {
    id: 'fresh-access',
    page: 'Access',
    path: '/access',
    make: (world, name) => {
      const password = 'a password for tests 1';
      return world.call('UserService/CreateUser', { user: { username: name }, password });
    },
  },
  {
    id: 'fresh-roles',
    page: 'Roles',
    path: '/access?tab=roles',
    make: (world, name) =>
      world.call('RoleService/CreateRole', { role: { name, permissions: ['site:read'] } }),
  },
  {
    id: 'fresh-attacks',
    page: 'Attacks',
    path: '/attacks?live=1',
    make: async (world, name) => world.refused(name),
  },
];

/** The table. */
export const freshTasks: readonly Task[] = changes.map(({ id, page, path, make }) => ({
  id,
  page,
  does: 'watches while somebody else changes something',
  expects: 'the change is shown without a reload',
  run: async (desk, world) => {
    await desk.go('/account');
    await desk.go(path);
    await make(world, id);
    await desk.shows(id);
  },
}));
