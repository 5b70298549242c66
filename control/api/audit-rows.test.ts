/** Proves what audit rows say of changes to what belongs to sites, IP lists and policies. */

import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';

let waf: TestControl;
/** Ids by the names that requests call them by, such as `$site`. */
const ids = new Map<string, string>();

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  const policy = { name: 'shop' };
  await made('policy', 'PolicyService/CreatePolicy', { policy });
  const upstreams = [{ inline: { url: 'http://127.0.0.1:1' } }];
  const site = { name: 'shop', primaryHost: 'shop.test', upstreams };
  await made('site', 'SiteService/CreateSite', { site });
  await made('pool', 'UpstreamService/CreateUpstream', {
    upstream: { name: 'images', endpoints: [{ url: 'http://127.0.0.1:2' }] },
  });
  await made('list', 'IpListService/CreateIpList', { ipList: { name: 'office' } });
  await made('gone', 'IpListService/CreateIpList', { ipList: { name: 'gone' } });
  await made('feed', 'IpListService/CreateIpListSubscription', {
    name: 'feed',
    source: { url: 'https://feeds.test/list.txt', format: 'text_v1', interval: '3600s' },
  });
});
afterAll(async () => {
  await waf.control.close();
  rmSync(waf.folder, { recursive: true, force: true });
});

async function made(name: string, rpc: string, body: object): Promise<void> {
  const { status, body: answer, text } = await waf.call(rpc, named(body));
  if (status !== 200) throw new Error(`${rpc}: ${text}`);
  const { id = '' } = (Object.values(answer)[0] ?? {}) as { id?: string };
  ids.set(name, id);
}

/** The same with ids in place of their names. */
function named<T extends object>(body: T): T {
  const text = JSON.stringify(body).replace(/\$([a-z]+)/g, (_, name: string) => ids.get(name)!);
  return JSON.parse(text) as T;
}

interface Row {
  readonly action: string;
  readonly resourceType: string;
  readonly resourceId?: string;
  readonly resourceName?: string;
  /** Some of the fields; absent where the row has none. */
  readonly before?: object;
  readonly after?: object;
}

const routes = [{ pathPrefix: '/images', upstreamId: '$pool' }];
const choice = { ipListId: '$list', addressSource: 'client_ip', matchMode: 'in_list' };
const limit = { pathPattern: '/login', action: 'block', requestCount: 5, windowSeconds: 60 };
const list = { resourceType: 'ip_list', resourceId: '$list', resourceName: 'office' };
const feed = { resourceType: 'ip_list', resourceId: '$feed', resourceName: 'feed' };
const binding = { resourceType: 'ip_list_binding', resourceName: '$list' };

/** What is called, and the rows that it leaves, the last one first. */
const calls: readonly (readonly [rpc: string, body: object, rows: readonly Row[]])[] = [
  [
    'SiteService/UpdateSiteRouting',
    { siteId: '$site', routing: { routes, unmatchedAction: 'UNMATCHED_PATH_ACTION_RETURN_404' } },
    [
      {
        action: 'update',
        resourceType: 'site_routing',
        resourceId: '$site',
        resourceName: 'shop',
        before: { routes: [], unmatchedAction: 'UNMATCHED_PATH_ACTION_DEFAULT_UPSTREAM' },
        after: { routes, unmatchedAction: 'UNMATCHED_PATH_ACTION_RETURN_404' },
      },
    ],
  ],
  [
    'LogService/UpsertSiteLogPolicyOverride',
    { override: { siteId: '$site', accessFullRetentionDays: 5 } },
    [{ action: 'set', resourceType: 'log_policy', resourceId: '$site', before: {}, after: {} }],
  ],
  [
    'IpListService/UpdateIpList',
    { ipList: { id: '$list', description: 'people' }, updateMask: 'description' },
    [{ ...list, action: 'update', before: { description: '' }, after: { description: 'people' } }],
  ],
  [
    'IpListService/AddEntries',
    { ipListId: '$list', entries: [{ value: '192.0.2.1' }] },
    [
      {
        ...list,
        action: 'add_entries',
        before: { name: 'office', ipv4Count: 0 },
        after: { name: 'office', ipv4Count: 1, set: 1 },
      },
    ],
  ],
  [
    'IpListService/RemoveEntries',
    { ipListId: '$list', values: ['192.0.2.1'] },
    [{ ...list, action: 'remove_entries', before: { ipv4Count: 1 }, after: { removed: 1 } }],
  ],
  [
    'IpListService/CloneIpList',
    { id: '$list', name: 'copy' },
    [
      {
        action: 'create',
        resourceType: 'ip_list',
        resourceName: 'copy',
        after: { name: 'copy', description: 'people', managementMode: 'manual', ipv4Count: 0 },
      },
    ],
  ],
  [
    'IpListService/DeleteIpList',
    { id: '$gone' },
    [
      {
        action: 'delete',
        resourceType: 'ip_list',
        resourceId: '$gone',
        resourceName: 'gone',
        before: { name: 'gone', ipv4Count: 0 },
      },
    ],
  ],
  [
    'IpListService/PauseIpListSync',
    { id: '$feed' },
    [{ ...feed, action: 'pause', before: { paused: false }, after: { paused: true } }],
  ],
  [
    'IpListService/ResumeIpListSync',
    { id: '$feed' },
    [{ ...feed, action: 'resume', before: { paused: true }, after: { paused: false } }],
  ],
  [
    'IpListService/UpsertIpListBinding',
    { binding: { ...choice, kind: 'deny', policyId: '$policy' } },
    [{ ...binding, action: 'upsert', after: { kind: 'deny', scope: 'policy', sortOrder: 0 } }],
  ],
  [
    'IpListService/UpsertIpListBinding',
    { binding: { ...choice, kind: 'monitor', policyId: '$policy' } },
    [{ ...binding, action: 'upsert', before: { kind: 'deny' }, after: { kind: 'monitor' } }],
  ],
  [
    'IpListService/UpsertGlobalIpListBinding',
    { binding: { ...choice, kind: 'deny' } },
    [{ ...binding, action: 'upsert', after: { kind: 'deny', scope: 'global' } }],
  ],
  [
    'IpListService/ApplyIpList',
    {
      ...{ ...choice, kind: 'deny', bypassMode: '' },
      targets: [{ policyId: '$policy' }, { siteId: '$site' }],
    },
    [
      { ...binding, action: 'upsert', after: { kind: 'deny', scope: 'site', siteId: '$site' } },
      { ...binding, action: 'upsert', before: { kind: 'monitor' }, after: { kind: 'deny' } },
    ],
  ],
  [
    'IpListService/ReplaceIpListEntries',
    { id: '$list', entries: [{ value: '192.0.2.0/24' }], exclusiveGlobalKind: 'allow' },
    [
      { ...list, action: 'replace_entries', before: { ipv4Count: 0 }, after: { ipv4Count: 1 } },
      { ...binding, action: 'upsert', after: { kind: 'allow', scope: 'global' } },
      { ...binding, action: 'delete', before: {} },
      { ...binding, action: 'delete', before: {} },
      { ...binding, action: 'delete', before: {} },
    ],
  ],
  [
    'RateLimitService/UpsertRateLimitEndpoint',
    { endpoint: { ...limit, policyId: '$policy' } },
    [
      {
        action: 'upsert',
        resourceType: 'rate_limit',
        resourceName: '/login',
        after: { ...limit, policyId: '$policy' },
      },
    ],
  ],
  [
    'LearningService/ResetLearning',
    { siteId: '$site' },
    [
      {
        action: 'reset',
        resourceType: 'detection_learning',
        resourceId: '$site',
        resourceName: 'shop',
        before: { generation: 0 },
        after: { generation: 1 },
      },
    ],
  ],
  [
    'LogService/DeleteSiteLogPolicyOverride',
    { siteId: '$site', expectedRevision: '1' },
    [{ action: 'reset', resourceType: 'log_policy', resourceId: '$site', before: {} }],
  ],
];

interface Entry extends Row {
  readonly diff: { readonly before?: object; readonly after?: object };
}

async function entries(): Promise<readonly Entry[]> {
  const { body } = await waf.call('AuditService/QueryAudit', { page: { pageSize: 100 } });
  return body['items'] as Entry[];
}

test.each(calls)('%s', async (rpc, body, rows) => {
  const earlier = (await entries()).length;
  const method = rpc.startsWith('Learning') ? `waf.learning.v1.${rpc}` : rpc;
  const answer = await waf.call(method, named(body));
  expect(answer.status, answer.text).toBe(200);
  const all = await entries();
  const left = all.slice(0, all.length - earlier);
  expect(left.map(({ action }) => action)).toEqual(rows.map(({ action }) => action));
  rows.forEach(({ before, after, ...row }, at) => {
    const { diff, ...entry } = left[at]!;
    expect(entry).toMatchObject(named(row));
    if (before === undefined) expect(diff.before).toBeUndefined();
    else expect(diff.before).toMatchObject(named(before));
    if (after === undefined) expect(diff.after).toBeUndefined();
    else expect(diff.after).toMatchObject(named(after));
  });
});
