/**
 * The proof of what updates, lists and tenants have in common, over one table of resources: masks,
 * revisions, pages, whole replacement, and that another tenant's resources are not there.
 */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import type { Collection } from '../store/collection.ts';
import { collections } from '../store/collection-list.ts';
import { openLmdbKv } from '../store/lmdb-kv.ts';
import { openStore } from '../store/store.ts';
import {
  startTestControl,
  type Answer,
  type TestControl,
} from '../../test/support/test-control.ts';
import { services } from './services.ts';

type Shown = Readonly<Record<string, unknown>> & { readonly id: string };

interface Resource {
  /** The field that holds it in requests and answers. */
  readonly field: string;
  readonly service: string;
  readonly rpc: string;
  readonly plural: string;
  /** Fields of the n-th one. */
  readonly make: (n: number) => object;
  /** What a Create request has beside the resource. */
  readonly beside?: object;
  /** The field that a masked update changes; absent where an update replaces everything. */
  readonly masked?: string;
  readonly revisions?: boolean;
  readonly upsert?: boolean;
  /** What changes it is called; Update unless stated. */
  readonly verb?: 'Upsert';
  /** Its list has pages although it is made by Upsert. */
  readonly lists?: boolean;
  /** Selects the list that it stands in. */
  readonly within?: () => object;
  /** Belongs to something that has a tenant, and has none of its own. */
  readonly inherits?: boolean;
}

let waf: TestControl;
let policyId = '';
const url = 'http://127.0.0.1:9';

const resources: readonly Resource[] = [
  {
    field: 'site',
    service: 'SiteService',
    rpc: 'Site',
    plural: 'Sites',
    make: (n) => ({
      name: `site ${n}`,
      primaryHost: `h${n}.test`,
      upstreams: [{ inline: { url } }],
    }),
    masked: 'name',
    revisions: true,
  },
  {
    field: 'policy',
    service: 'PolicyService',
    rpc: 'Policy',
    plural: 'Policies',
    make: (n) => ({ name: `policy ${n}` }),
    masked: 'name',
    revisions: true,
  },
  {
    field: 'upstream',
    service: 'UpstreamService',
    rpc: 'Upstream',
    plural: 'Upstreams',
    make: (n) => ({ name: `pool ${n}`, endpoints: [{ url }] }),
    masked: 'name',
  },
  {
    field: 'role',
    service: 'RoleService',
    rpc: 'Role',
    plural: 'Roles',
    make: (n) => ({ name: `role ${n}`, permissions: ['site:read'] }),
    masked: 'description',
  },
  {
    field: 'user',
    service: 'UserService',
    rpc: 'User',
    plural: 'Users',
    make: (n) => ({ username: `user${n}` }),
    beside: { password: 'long enough to be good 7' },
    masked: 'displayName',
  },
  {
    field: 'rule',
    service: 'CustomRuleService',
    rpc: 'CustomRule',
    plural: 'CustomRules',
    make: (n) => ({
      policyId,
      name: `rule ${n}`,
      enabled: true,
      seclang: `SecRule ARGS:x "@streq ${n}" "id:${900 + n},phase:2,pass,log"`,
    }),
    masked: 'name',
    within: () => ({ policyId }),
    inherits: true,
  },
  {
    field: 'ipList',
    service: 'IpListService',
    rpc: 'IpList',
    plural: 'IpLists',
    make: (n) => ({ name: `list ${n}`, entries: [{ value: `10.0.0.${n}` }] }),
    masked: 'name',
  },
  {
    field: 'group',
    service: 'AgentGroupService',
    rpc: 'AgentGroup',
    plural: 'AgentGroups',
    make: (n) => ({ name: `group ${n}`, selector: { matchTags: [`t${n}`] } }),
  },
  {
    field: 'rule',
    service: 'CountryAccessService',
    rpc: 'CountryAccessRule',
    plural: 'CountryAccessRules',
    make: (n) => ({
      name: `country ${n}`,
      countryCodes: ['DE'],
      kind: 'deny',
      addressSource: 'client_ip',
      matchMode: 'in_list',
      targets: [{ scope: 'global' }],
    }),
    upsert: true,
  },
  {
    field: 'rule',
    service: 'AlertService',
    rpc: 'AlertRule',
    plural: 'AlertRules',
    make: (n) => ({
      name: `alert rule ${n}`,
      severity: 'ALERT_SEVERITY_WARNING',
      expression: `{"kind":"node_offline","forSeconds":${n}}`,
    }),
    masked: 'name',
    ...{ upsert: true, verb: 'Upsert', lists: true },
  },
  {
    field: 'channel',
    service: 'AlertService',
    rpc: 'AlertChannel',
    plural: 'AlertChannels',
    make: (n) => ({
      name: `channel ${n}`,
      kind: 'ALERT_CHANNEL_KIND_WEBHOOK',
      config: { url: `https://hooks.example/${n}`, secret: `s3cret-${n}` },
    }),
    masked: 'name',
    ...{ upsert: true, verb: 'Upsert', lists: true },
  },
];

const call = (rpc: string, body: object): Promise<Answer> => waf.call(rpc, body);
const one = async (resource: Resource, n: number, extra: object = {}): Promise<Shown> => {
  const { field, service, rpc, make, beside, upsert } = resource;
  const body = { [field]: { ...make(n), ...extra }, ...beside };
  const answer = await call(`${service}/${upsert === true ? 'Upsert' : 'Create'}${rpc}`, body);
  expect([rpc, answer.status, answer.body['message']]).toEqual([rpc, 200, undefined]);
  return answer.body[field] as Shown;
};
const read = async ({ field, service, rpc }: Resource, id: string): Promise<Shown> => {
  const answer = await call(`${service}/Get${rpc}`, { id });
  expect(answer.status).toBe(200);
  return answer.body[field] as Shown;
};
const update = (resource: Resource, body: object): Promise<Answer> =>
  call(`${resource.service}/${resource.verb ?? 'Update'}${resource.rpc}`, body);
const refused = (answer: Answer, status: number, code: string, message: RegExp): void => {
  expect([answer.status, answer.body['code']]).toEqual([status, code]);
  expect(answer.body['message']).toMatch(message);
};

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  const made = await call('PolicyService/CreatePolicy', { policy: { name: 'holds rules' } });
  policyId = (made.body['policy'] as Shown).id;
  return () => waf.control.close();
});

test('every built RPC with a mask or a revision stands in a table here', () => {
  const inTable = new Set(
    resources.flatMap(({ service, rpc, masked, revisions, verb = 'Update' }) =>
      masked === undefined && revisions !== true ? [] : [`${service}/${verb}${rpc}`],
    ),
  );
  const elsewhere = [...otherRevisions.map(([rpc]) => rpc), ...readElsewhere];
  const missing = services.flatMap(({ service, build }) => {
    const built = build({} as never);
    return service.methods
      .filter((method) => built[method.localName] !== undefined)
      .filter(({ input }) =>
        input.fields.some(({ jsonName }) => ['updateMask', 'revision'].includes(jsonName)),
      )
      .map((method) => `${service.name}/${method.name}`)
      .filter((rpc) => !inTable.has(rpc) && !elsewhere.includes(rpc));
  });
  expect(missing).toEqual([]);
});

describe.each(resources.filter(({ masked }) => masked !== undefined))('$rpc', (resource) => {
  const { field, masked = '', revisions } = resource;
  const revision = (record: Shown): object =>
    revisions === true ? { revision: record['revision'] } : {};

  test('a mask changes what it names and nothing else', async () => {
    const made = await one(resource, 1);
    const change = { ...resource.make(77), id: made.id, [masked]: 'changed' };
    const answer = await update(resource, {
      [field]: change,
      updateMask: masked,
      ...revision(made),
    });
    expect([answer.status, answer.body['message']]).toEqual([200, undefined]);
    const after = await read(resource, made.id);
    const moves = new Set([masked, 'updatedAt', 'revision', 'etag', 'bundleSha256']);
    const rest = (record: Shown): unknown =>
      Object.fromEntries(Object.entries(record).filter(([name]) => !moves.has(name)));
    expect(after[masked]).toBe('changed');
    expect(rest(after)).toEqual(rest(made));
  });

  test('masks that cannot be: none, unknown, an array, what the service gives', async () => {
    const made = await one(resource, 2);
    const before = await read(resource, made.id);
    const wrong: unknown[] = ['color', `${masked},color`, `${masked}.inside`, 'id', 'tenantId'];
    for (const updateMask of [...wrong, '', 'createdAt', [masked], { paths: [masked] }]) {
      const body = { [field]: { id: made.id, [masked]: 'x' }, updateMask, ...revision(made) };
      refused(await update(resource, body), 400, 'invalid_argument', /^updateMask: /);
    }
    expect(await read(resource, made.id)).toEqual(before);
  });
});

describe.each(resources.filter(({ revisions }) => revisions === true))('$rpc', (resource) => {
  const { field, masked = '' } = resource;

  test('revisions: missing, stale, right, and used up', async () => {
    const made = await one(resource, 3);
    const body = { [field]: { id: made.id, [masked]: 'again' }, updateMask: masked };
    const at = `revision`;
    refused(await update(resource, body), 400, 'invalid_argument', new RegExp(`^${at}: `));
    refused(await update(resource, { ...body, revision: '7' }), 409, 'aborted', /^revision: .* 1 /);
    refused(await update(resource, { ...body, revision: '-1' }), 400, 'invalid_argument', /^rev/);
    expect((await update(resource, { ...body, revision: '1' })).status).toBe(200);
    refused(await update(resource, { ...body, revision: '1' }), 409, 'aborted', /^revision: .* 2 /);
  });
});

/** Other changes that ask for the revision of what they change. */
const otherRevisions: readonly (readonly [rpc: string, body: (id: string) => object])[] = [
  ['SiteService/EnableSite', (id) => ({ id })],
  ['SiteService/DisableSite', (id) => ({ id })],
  [
    'PolicyService/UpdatePolicyLayer',
    (policy) => ({ policyId: policy, layer: 'POLICY_LAYER_KIND_ARG_LIMITS', config: {} }),
  ],
  [
    'PolicyService/SetEngineState',
    (policy) => ({ policyId: policy, engineState: 'ENGINE_STATE_OFF' }),
  ],
  ['PolicyService/SetActiveCrsRuleset', (policy) => ({ policyId: policy, crsRulesetId: 'none' })],
];
/** Their masks and revisions are optional, or proved beside them. */
const readElsewhere = ['SiteService/UpdateSiteRouting', 'AgentService/UpdateAgent'];

test('a stale revision is aborted by every change that asks for one', async () => {
  for (const [rpc, body] of otherRevisions) {
    const resource = resources.find(({ service }) => rpc.startsWith(service)) as Resource;
    const made = await one(resource, 40 + otherRevisions.findIndex(([name]) => name === rpc));
    const stale = await call(rpc, { ...body(made.id), revision: '9' });
    expect([rpc, stale.status, stale.body['code']]).toEqual([rpc, 409, 'aborted']);
    const none = await call(rpc, body(made.id));
    expect([rpc, none.status, none.body['code']]).toEqual([rpc, 400, 'invalid_argument']);
  }
});

test('groups and policy layers are replaced whole', async () => {
  const groups = resources.find(({ rpc }) => rpc === 'AgentGroup') as Resource;
  const group = await one(groups, 1);
  const selector = { matchAgentIds: ['local'] };
  const replaced = await update(groups, { group: { id: group.id, name: 'whole', selector } });
  expect(replaced.status).toBe(200);
  expect((await read(groups, group.id))['selector']).toEqual(selector);
  const half = await update(groups, { group: { id: group.id, name: 'half' } });
  refused(half, 400, 'invalid_argument', /^group\.selector/);

  const policies = resources.find(({ rpc }) => rpc === 'Policy') as Resource;
  const policy = await one(policies, 50);
  const layer = { policyId: policy.id, layer: 'POLICY_LAYER_KIND_ARG_LIMITS' };
  const set = (revision: string, config: object): Promise<Answer> =>
    call('PolicyService/UpdatePolicyLayer', { ...layer, revision, config });
  expect((await set('1', { maxNumArgs: 10, argLength: 100 })).status).toBe(200);
  expect((await set('2', { argLength: 200 })).status).toBe(200);
  expect((await read(policies, policy.id))['argLimits']).toEqual({ argLength: 200 });
});

const paged = resources.filter(({ upsert, lists }) => upsert !== true || lists === true);
describe.each(paged)('$plural', (resource) => {
  test('pages hold every one once, in the same order, and count all', async () => {
    const { service, plural, within } = resource;
    for (let n = 10; n < 15; n++) await one(resource, n);
    const list = async (page: object): Promise<{ ids: string[]; total: unknown }> => {
      const answer = await call(`${service}/List${plural}`, { ...within?.(), page });
      expect(answer.status).toBe(200);
      const items = (answer.body['items'] ?? []) as Shown[];
      return { ids: items.map(({ id }) => id), total: (answer.body['page'] as Shown)['total'] };
    };
    const { ids: all, total } = await list({ pageSize: 200 });
    expect(total).toBe(String(all.length));
    const seen: string[] = [];
    for (let page = 1; seen.length < all.length; page++) {
      const found = await list({ page, pageSize: 2 });
      expect(found.total).toBe(total);
      expect(found.ids.length).toBeGreaterThan(0);
      seen.push(...found.ids);
    }
    expect(seen).toEqual(all);
    expect((await list({ page: 1000, pageSize: 2 })).ids).toEqual([]);
  });

  test.each([
    ['pageSize', 201],
    ['pageSize', -1],
    ['page', -1],
  ])('a page that cannot be: %s %i', async (field, value) => {
    const { service, plural, within } = resource;
    const page = { [field]: value };
    const answer = await call(`${service}/List${plural}`, { ...within?.(), page });
    expect([answer.status, answer.body['code']]).toEqual([400, 'invalid_argument']);
    expect(answer.body['message']).toMatch(new RegExp(`^page\\.${field}: `));
  });
});

const owned = paged.filter(({ inherits, upsert }) => inherits !== true && upsert !== true);
describe.each(owned)('$plural', (resource) => {
  test('the tenant is that of the caller, whatever is sent', async () => {
    const made = await one(resource, 20, { tenantId: 'other', id: 'mine', createdAt: past });
    expect(made['tenantId']).toBe('default');
    expect(made.id).not.toBe('mine');
    expect(made['createdAt']).not.toBe(past);
  });
});
const past = '2001-01-01T00:00:00Z';

test('what belongs to another tenant is not there: not read, changed, removed or listed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'waf-tenants-'));
  const mine = waf;
  const first = await startTestControl({ demoOrigin: null, dataFolder: folder });
  waf = first;
  const policy = await call('PolicyService/CreatePolicy', { policy: { name: 'holds rules' } });
  const before = policyId;
  policyId = (policy.body['policy'] as Shown).id;
  const made = new Map<Resource, string>();
  for (const resource of resources) made.set(resource, (await one(resource, 60)).id);
  await first.control.close();
  await giveAway(folder);
  const second = await startTestControl({ demoOrigin: null, dataFolder: folder });
  waf = second;
  try {
    for (const [resource, id] of made) {
      const { service, rpc, plural, field, masked = 'name', within, upsert } = resource;
      const missing = (answer: Answer): void => {
        expect([rpc, answer.status, answer.body['code']]).toEqual([rpc, 404, 'not_found']);
      };
      missing(await call(`${service}/Get${rpc}`, { id }));
      const change = { ...resource.make(61), id, [masked]: 'stolen' };
      const all = { [field]: change, updateMask: masked, revision: '1' };
      const asks = services
        .find((entry) => entry.service.name === service)
        ?.service.methods.find(({ name }) => name === `${upsert ? 'Upsert' : 'Update'}${rpc}`);
      const known = new Set(asks?.input.fields.map(({ jsonName }) => jsonName));
      const body = Object.fromEntries(Object.entries(all).filter(([name]) => known.has(name)));
      missing(await call(`${service}/${asks?.name}`, body));
      missing(await call(`${service}/Delete${rpc}`, { id }));
      if (resource.inherits === true) continue;
      const list = await call(`${service}/List${plural}`, { ...within?.() });
      expect(list.text).not.toContain(id);
    }
  } finally {
    await second.control.close();
    waf = mine;
    policyId = before;
  }
});

/** Makes every stored record that has a tenant belong to another one, but for who signs in. */
async function giveAway(folder: string): Promise<void> {
  const kv = openLmdbKv({ folder: join(folder, 'control'), durable: false });
  const store = await openStore(kv, systemClock);
  const builtIn = /^(?:user-admin|role-|template-|policy-(?:light|standard|strict))/;
  await store.write((tx) => {
    for (const one of collections) {
      const collection = one as unknown as Collection<{ id: string; tenantId?: string }>;
      for (const record of tx.list(collection)) {
        if (record.tenantId === undefined) continue;
        const isMade = !builtIn.test(record.id) || /-[0-9a-f]{8}-/.test(record.id);
        if (isMade) tx.put(collection, { ...record, tenantId: 'other' });
      }
    }
  });
  await store.close();
}
