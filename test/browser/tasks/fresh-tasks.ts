/** What somebody else changed is shown by each page that lists it, without a reload. */

import { expect } from 'vitest';
import { apiDocuments } from '../../support/api-documents.ts';
import { inList } from '../../../control/console/parts/in-list.ts';
import type { Desk } from './desk.ts';
import type { Task, World } from './task.ts';

interface Change {
  readonly id: string;
  readonly page: string;
  /** The page; made with what it shows where it is of one record. */
  readonly path: string | ((world: World, name: string) => Promise<string>);
  /** Which page of one record it is. */
  readonly view?: string;
  readonly make: (world: World, name: string, path: string) => Promise<unknown>;
  /** Whether the page shows the change; whether it shows its name unless this says more. */
  readonly seen?: (desk: Desk) => Promise<boolean>;
}

/** The id at the end of an address. */
const lastOf = (path: string): string => /([^/=?]+)$/.exec(path)![1]!;

/** Changes fields of a site as another session does. */
async function changeSite(world: World, id: string, site: object, updateMask: string) {
  const { revision } = await world.siteAt(id);
  await world.call('SiteService/UpdateSite', { site: { id, ...site }, revision, updateMask });
}

/** Changes the name of a policy. */
async function renamePolicy(world: World, id: string, name: string): Promise<void> {
  const { policy } = await world.call('PolicyService/GetPolicy', { id });
  const { revision } = policy as { revision: string };
  const wanted = { policy: { id, name }, revision, updateMask: 'name' };
  await world.call('PolicyService/UpdatePolicy', wanted);
}

const accessSeconds = 'An access token ends after (seconds)';
const keptDays = 'Days requests are kept';

/** One change for each list of records that people make, and for each page of one record. */
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
  {
    id: 'fresh-attack-list',
    page: 'Attacks',
    path: '/attacks',
    make: async (world, name) => world.refused(name),
  },
  {
    id: 'fresh-log',
    page: 'Logs',
    path: '/logs',
    make: async (world, name) => world.refused(name),
  },
  {
    id: 'fresh-site',
    page: 'Sites',
    path: async (world) => `/sites/${await world.site('watched')}`,
    view: 'site names',
    make: (world, name, path) => changeSite(world, lastOf(path), { name }, 'name'),
  },
  {
    id: 'fresh-inspection',
    page: 'Sites',
    path: async (world) => `/sites/${await world.site('inspected')}?tab=inspection`,
    view: 'site inspection',
    make: (world, _name, path) => {
      const waf = { enabled: true, mode: 'WAF_MODE_DETECTION' };
      return changeSite(world, lastOf(path.split('?')[0]!), { waf }, 'waf.mode');
    },
    seen: async (desk) => (await desk.held('Attacks are')) === '2',
  },
  {
    id: 'fresh-policy',
    page: 'Policies',
    path: async (world) => `/policies/${await world.policy('Watched')}`,
    view: 'policy settings',
    make: (world, name, path) => renamePolicy(world, lastOf(path), name),
  },
  {
    id: 'fresh-provider',
    page: 'Certificates',
    path: '/certificates',
    make: (world, name) => {
      const credentialsJson = Buffer.from('{"apiToken":"of a test"}').toString('base64');
      const provider = { name, provider: 'cloudflare', zones: ['shop.example'] };
      return world.call('CertService/CreateDNSProvider', { ...provider, credentialsJson });
    },
  },
  {
    id: 'fresh-document',
    page: 'APIs',
    path: async (world) => `/apis?site=${await world.site('documented')}`,
    view: '/apis',
    make: (world, name, path) =>
      world.call('ApiSchemaService/StageSchemaSource', {
        ...{ siteId: lastOf(path), name, format: 'json', idempotencyKey: name },
        source: Buffer.from(apiDocuments['pets']!).toString('base64'),
      }),
  },
  {
    id: 'fresh-tuning',
    page: 'Tuning',
    path: '/tuning',
    make: async (world, name) => world.refused(name),
  },
  {
    id: 'fresh-learning',
    page: 'Tuning',
    path: async (world) => `/tuning?site=${await world.site('taught')}`,
    make: (world, _name, path) =>
      world.call('SystemService/UpdateSystemSettings', {
        values: { 'detection.learning': { [lastOf(path)]: 'off' } },
      }),
    seen: async (desk) => (await desk.held('The site')) === 'off',
  },
  {
    id: 'fresh-keeping',
    page: 'Logs',
    path: '/logs?tab=keeping',
    make: async (world) => {
      const { policy } = await world.call('LogService/GetGlobalLogPolicy', {});
      const { policy: held, revision } = policy as { policy: object; revision: string };
      await world.call('LogService/UpdateGlobalLogPolicy', {
        policy: { ...held, accessFullRetentionDays: 5 },
        ...{ expectedRevision: revision, acknowledgeStorageRisk: true },
      });
    },
    seen: async (desk) => (await desk.held(keptDays)) === '5',
  },
  {
    id: 'fresh-channels',
    page: 'Alerts',
    path: '/alerts?tab=channels',
    make: (world, name) => {
      const config = { url: 'https://hooks.shop.example/waf' };
      const channel = { name, enabled: true, kind: 'ALERT_CHANNEL_KIND_WEBHOOK', config };
      return world.call('AlertService/UpsertAlertChannel', { channel });
    },
  },
  {
    id: 'fresh-alert-rules',
    page: 'Alerts',
    path: '/alerts?tab=rules',
    make: (world, name) => {
      const rule = {
        name,
        severity: 'ALERT_SEVERITY_WARNING',
        expression: '{"kind":"node_offline"}',
      };
      return world.call('AlertService/UpsertAlertRule', { rule });
    },
  },
  {
    id: 'fresh-sessions',
    page: 'Access',
    path: '/access?tab=sessions',
    make: async (world, username) => {
      const password = 'a password for tests 2';
      await world.call('UserService/CreateUser', { user: { username }, password });
      await world.call('AuthService/Login', { username, password });
    },
  },
  {
    id: 'fresh-tokens',
    page: 'Access',
    path: '/access?tab=tokens',
    make: async (world, name) => {
      const { items } = await world.call('RoleService/ListRoles', {});
      const roleId = (items as { id: string }[])[0]!.id;
      const token = { name, roleId, noExpiry: true };
      await world.call('waf.access.v1.TokenService/CreateApiToken', token);
    },
  },
  {
    id: 'fresh-settings',
    page: 'Settings',
    path: '/settings?tab=sign-in',
    make: (world) =>
      world.call('SystemService/UpdateSystemSettings', {
        values: { 'auth.access_token_seconds': 28_700 },
      }),
    seen: async (desk) => (await desk.held(accessSeconds)) === '28700',
  },
  {
    id: 'fresh-silences',
    page: 'Alerts',
    path: '/alerts?tab=silences',
    make: (world, reason) =>
      world.call('AlertService/CreateAlertSilence', {
        ...{ matchers: { severity: 'info' }, reason },
        ...{ startsAt: new Date(), endsAt: new Date(Date.now() + 3_600_000) },
      }),
  },
  {
    id: 'fresh-audit',
    page: 'Access',
    path: '/access?tab=audit',
    make: (world, name) => world.site(name),
  },
  {
    id: 'fresh-limits',
    page: 'Sites',
    path: async (world) => `/sites/${await world.site('rationed')}?tab=limits`,
    view: 'site limits',
    make: (world, name, path) =>
      world.call('RateLimitService/UpsertRateLimitEndpoint', {
        endpoint: {
          ...{ siteId: lastOf(path.split('?')[0]!), pathPattern: `/${name}`, methodMode: 'any' },
          ...{ requestCount: 50, windowSeconds: 60, mitigationSeconds: 30 },
          ...{ action: 'block', enforcementMode: 'enforce' },
        },
      }),
  },
  {
    id: 'fresh-routes',
    page: 'Sites',
    path: async (world) => `/sites/${await world.site('rerouted')}?tab=routes`,
    view: 'site routes',
    make: async (world, name, path) => {
      const upstream = { name, endpoints: [{ url: world.origin, weight: 1 }] };
      const made = await world.call('UpstreamService/CreateUpstream', { upstream });
      const { id: upstreamId } = made['upstream'] as { id: string };
      const route = { id: 'r1', pathPrefix: `/${name}`, upstreamId, rewriteMode: 1 };
      const siteId = lastOf(path.split('?')[0]!);
      return world.call('SiteService/UpdateSiteRouting', { siteId, routing: { routes: [route] } });
    },
  },
  {
    id: 'fresh-own-rules',
    page: 'Policies',
    path: async (world) => `/policies/${await world.policy('With rules')}?tab=rules`,
    view: 'policy rules',
    make: (world, name, path) => {
      const seclang = 'SecRule ARGS "@contains zzz" "id:10003,phase:2,pass"';
      const rule = {
        policyId: lastOf(path.split('?')[0]!),
        name,
        seclang,
        phase: 2,
        enabled: true,
      };
      return world.call('CustomRuleService/CreateCustomRule', { rule });
    },
  },
  {
    id: 'fresh-versions',
    page: 'Policies',
    path: async (world) => `/policies/${await world.policy('With versions')}?tab=versions`,
    view: 'policy versions',
    make: (world, name, path) => renamePolicy(world, lastOf(path.split('?')[0]!), name),
    seen: async (desk) => (await desk.page.$$('main tbody tr[role=row]')).length > 1,
  },
  {
    id: 'fresh-exclusions',
    page: 'Policies',
    path: async (world) => `/policies/${await world.policy('Excluded from')}?tab=exclusions`,
    view: 'policy exclusions',
    make: (world, rationale, path) =>
      world.exclude(lastOf(path.split('?')[0]!), 'ARGS:q', { rationale }),
  },
  {
    id: 'fresh-delivery',
    page: 'Sites',
    path: async (world) => `/sites/${await world.site('redirected')}?tab=delivery`,
    view: 'site delivery',
    make: (world, name, path) => {
      const delivery = { redirects: [{ path: `/${name}`, target: '/new', status: 308 }] };
      return changeSite(world, lastOf(path.split('?')[0]!), { delivery }, 'delivery');
    },
  },
];

/** Pages that no change above is watched on, and why. */
export const notWatched: Readonly<Record<string, string>> = {
  '/': 'its numbers change while numbers-overview waits for them',
  '/alerts': 'an incident needs minutes to open; its list is made as those of the other tabs',
  '/logs?tab=errors': 'the same list as requests',
  '/protection?tab=limits': 'the same list as that of one site',
  '/protection?tab=trust': 'a profile of all sites would change whom other tasks trust',
  '/settings': 'what the engine says of itself changes by itself',
  '/settings?tab=settings': 'the same form as that of sign-in',
  '/settings?tab=services': 'the same form as that of sign-in',
  '/settings?tab=updates': 'what others change there is a release',
  '/operations': 'shows only what was asked for',
  '/account': 'nobody else changes it',
  '/start': 'a wizard: each step asks again',
  'policy test': 'shows only what was asked for',
  'policy ruleset': 'changes with the next release; shadow runs are watched in their task',
  'site tls': 'the same form as that of the names',
  'site challenges': 'the same form as that of the names',
  'site trust': 'its conflict is tried in edit-trust',
};

/** A change of somebody else does not touch what is typed. */
const typing: Task = {
  id: 'fresh-typing',
  page: 'Sites',
  does: 'types in a form of a site that somebody else changes meanwhile',
  expects: 'what was typed stays; the page shows the change; saving says what the other saved',
  run: async (desk, world) => {
    const id = await world.site('typed');
    await desk.go(`/sites/${id}`);
    await desk.fill('Further hosts, one a line', 'mine.example');
    const theirs = { name: 'Theirs typed', aliases: ['theirs.example'] };
    await changeSite(world, id, theirs, 'name,aliases');
    // The only task that waits as long as a person does.
    await desk.shows('theirs.example');
    expect(await desk.held('Further hosts, one a line')).toBe('mine.example');
    expect(await desk.held('Name')).toBe('typed');
    await desk.press('Save');
    await desk.shows('Somebody else saved this meanwhile.');
    expect(await desk.held('Further hosts, one a line')).toBe('mine.example');
    await desk.press('Take theirs');
    expect(await desk.held('Further hosts, one a line')).toBe('theirs.example');
    expect(await desk.held('Name')).toBe('Theirs typed');
    await changeSite(world, id, { name: 'Theirs again' }, 'name');
    await desk.refreshes(async () => (await desk.held('Name')) === 'Theirs again');
  },
};

/** Pages, and views of one record, on which a change is watched. */
export const watched: readonly string[] = changes.flatMap(({ path, view }) =>
  typeof path === 'string' ? [path] : view === undefined ? [] : [view],
);

/** The table. */
export const freshTasks: readonly Task[] = [...changes.map(taskOf), typing];

function taskOf({ id, page, path, make, seen }: Change): Task {
  return {
    id,
    page,
    does: 'watches while somebody else changes something',
    expects: 'the change is shown without a reload',
    run: async (desk, world) => {
      await desk.go('/account');
      const at = typeof path === 'string' ? path : await path(world, id);
      await desk.go(at);
      await make(world, id, at);
      await desk.refreshes(() => seen?.(desk) ?? desk.has(id));
    },
  };
}
