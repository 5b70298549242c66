/** The proof of IP lists: entries, pages, CSV, bindings at three scopes, what they decide. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

let waf: TestControl;
let policyId = '';
let siteId = '';

const call = async (method: string, body: unknown): Promise<Record<string, unknown>> => {
  const answer = await waf.call(method.includes('/') ? method : `IpListService/${method}`, body);
  if (answer.status !== 200) throw new Error(`${method}: ${answer.text}`);
  return answer.body;
};
const refusalOf = async (method: string, body: unknown): Promise<string> => {
  const { status, body: answer } = await waf.call(`IpListService/${method}`, body);
  expect(status).not.toBe(200);
  return `${String(answer['code'])} ${String(answer['message'])}`;
};
type Shown = Record<string, unknown> & { readonly id: string; readonly etag: string };
const create = async (name: string, ...values: string[]): Promise<Shown> => {
  const entries = values.map((value) => ({ value }));
  return (await call('CreateIpList', { ipList: { name, entries } }))['ipList'] as Shown;
};

beforeAll(async () => {
  waf = await startTestControl();
  const policy = { policy: { name: 'guarded' } };
  policyId = ((await call('PolicyService/CreatePolicy', policy))['policy'] as Shown).id;
  const site = {
    name: 'shop',
    primaryHost: 'shop.test',
    upstreams: [{ inline: { url: 'http://127.0.0.1:1' } }],
    waf: { enabled: true, policyId },
  };
  siteId = ((await call('SiteService/CreateSite', { site }))['site'] as Shown).id;
});
afterAll(() => waf.control.close());

test('entries are normalized, counted, edited, paged and searched', async () => {
  const list = await create('office', '192.0.2.9/24', '2001:DB8::1', '192.0.2.0/24', '10.0.0.1');
  expect(list).toMatchObject({ entryCount: 3, ipv4Count: 2, ipv6Count: 1 });
  expect(list).toMatchObject({ contentStatus: 'available', deploymentStatus: 'not_in_use' });
  const values = (list['entries'] as { value: string }[]).map(({ value }) => value);
  expect(values).toEqual(['10.0.0.1', '192.0.2.0/24', '2001:db8::1']);
  const expiresAt = '2999-01-01T00:00:00Z';
  const added = await call('AddEntries', {
    ipListId: list.id,
    entries: [
      { value: '10.0.0.2', note: 'printer', expiresAt },
      { value: '10.0.0.1', note: 'x' },
    ],
  });
  expect(added['ipList']).toMatchObject({ entryCount: 4 });
  expect((added['ipList'] as Shown).etag).not.toBe(list.etag);
  const first = await call('ListIpListEntries', {
    ipListId: list.id,
    page: { page: 1, pageSize: 2 },
    addressFamily: 'ipv4',
  });
  expect(first).toMatchObject({ ipv4Count: 3, ipv6Count: 1, page: { total: '3' } });
  expect(first['items']).toMatchObject([{ note: 'x' }, { value: '10.0.0.2', note: 'printer' }]);
  const second = await call('ListIpListEntries', {
    ipListId: list.id,
    page: { page: 2, pageSize: 2 },
  });
  expect(second['items']).toMatchObject([{ value: '192.0.2.0/24' }, { value: '2001:db8::1' }]);
  const found = await call('ListIpListEntries', { ipListId: list.id, query: 'PRINT' });
  expect(found['items']).toMatchObject([{ value: '10.0.0.2' }]);
  const stale = { ipListId: list.id, etag: list.etag };
  expect(await refusalOf('ListIpListEntries', stale)).toMatch(/^aborted etag: /);
  const csv = await call('ExportCsv', { ipListId: list.id });
  expect(Buffer.from(String(csv['csv']), 'base64').toString()).toBe(
    'value,note,expires_at\r\n10.0.0.1,x,\r\n10.0.0.2,printer,2999-01-01T00:00:00.000Z\r\n' +
      '192.0.2.0/24,,\r\n2001:db8::1,,\r\n',
  );
  const values2 = ['10.0.0.1', '10.9.9.9', '2001:db8::1/128'];
  const removed = await call('RemoveEntries', { ipListId: list.id, values: values2 });
  expect(removed['ipList']).toMatchObject({ entryCount: 2, ipv4Count: 2 });
  expect(removed['ipList']).not.toHaveProperty('ipv6Count');
});

test('a list is renamed, replaced by its etag, cloned and removed', async () => {
  const list = await create('blocked', '198.51.100.0/24');
  const renamed = await call('UpdateIpList', {
    ipList: { id: list.id, name: 'banned', entries: [] },
    updateMask: 'name',
  });
  expect(renamed['ipList']).toMatchObject({ name: 'banned', entryCount: 1 });
  const entries = [{ value: '203.0.113.1' }, { value: '203.0.113.2' }];
  const replaced = await call('ReplaceIpListEntries', { id: list.id, entries, etag: list.etag });
  expect(replaced).toMatchObject({ ipList: { name: 'banned', entryCount: 2 } });
  expect(replaced['rollout']).toMatchObject({ status: 'not_in_use' });
  const again = { id: list.id, entries, etag: list.etag };
  expect(await refusalOf('ReplaceIpListEntries', again)).toMatch(/^aborted etag: /);
  const clone = (await call('CloneIpList', { id: list.id, name: 'copy' }))['ipList'] as Shown;
  expect(clone).toMatchObject({ name: 'copy', entryCount: 2, managementMode: 'manual' });
  expect(clone.etag).toBe((replaced['ipList'] as Shown).etag);
  await call('DeleteIpList', { id: list.id });
  expect(await refusalOf('GetIpList', { id: list.id })).toMatch(/^not_found /);
  expect((await call('GetIpList', { id: clone.id }))['ipList']).toMatchObject({ entryCount: 2 });
  const listed = await call('ListIpLists', { query: 'copy' });
  expect(listed['page']).toMatchObject({ total: '1' });
});

test('bindings decide by scope and order; what is missing is said', async () => {
  const deny = await create('deny', '203.0.113.0/24');
  const allow = await create('allow', '203.0.113.7');
  const choice = { addressSource: 'client_ip', matchMode: 'in_list' };
  const applied = await call('ApplyIpList', {
    ipListId: deny.id,
    targets: [{ scope: 'global' }, { scope: 'policy', policyId }],
    kind: 'deny',
    ...choice,
    etag: deny.etag,
  });
  expect(applied).toMatchObject({ saved: true });
  expect(applied['applied'] ?? false).toBe(false);
  expect(String(applied['applyError'])).toMatch(/no node is connected/);
  const binding = { ipListId: allow.id, siteId, kind: 'allow', pathPrefix: '/api/', ...choice };
  const made = (await call('UpsertIpListBinding', { binding }))['binding'] as Shown;
  expect(made).toMatchObject({ scope: 'site', pathPrefix: '/api', bypassMode: 'ip_lists_only' });
  const ask = (more: object) => call('LookupIpScopes', { ip: '203.0.113.7', ...more });
  expect(await ask({ siteId, requestPath: '/api/x?y' })).toMatchObject({
    decision: 'allow',
    decisionStatus: 'evaluated',
    decisionBindingId: made.id,
  });
  expect(await ask({ siteId, requestPath: '/apix' })).toMatchObject({ decision: 'deny' });
  expect(await ask({})).toMatchObject({ decisionStatus: 'site_required' });
  expect(await call('LookupIpScopes', { ip: '192.0.2.200', siteId })).toMatchObject({
    decision: 'none',
  });
  const peers = { ipListId: allow.id, siteId, kind: 'deny', ...choice, matchMode: 'not_in_list' };
  const peerBinding = { ...peers, addressSource: 'peer_ip' };
  const peer = (await call('UpsertIpListBinding', { binding: peerBinding }))['binding'] as Shown;
  expect(await ask({ siteId })).toMatchObject({ decisionStatus: 'peer_required' });
  expect(await ask({ siteId, peerIp: '10.1.1.1' })).toMatchObject({ decisionBindingId: peer.id });
  const used = await refusalOf('DeleteIpList', { id: allow.id });
  expect(used).toMatch(new RegExp(`^failed_precondition id: .*${made.id}`));
  const impact = await call('GetIpListEditImpact', { id: deny.id });
  expect(impact).toMatchObject({ affectedConsumers: 2 });
  expect((await call('GetIpList', { id: deny.id }))['ipList']).toMatchObject({
    globalRefCount: 1,
    policyRefCount: 1,
    deploymentStatus: 'unverified',
  });
  const again = { binding: { ...binding, kind: 'monitor' } };
  const monitor = (await call('UpsertIpListBinding', again))['binding'];
  expect(monitor).toMatchObject({ id: made.id, kind: 'monitor' });
  const lookup = await call('LookupIp', { ipListId: deny.id, ip: '203.0.113.99' });
  expect(lookup).toMatchObject({ matched: true, decision: 'deny' });
  expect((await call('ListGlobalIpListBindings', {}))['items']).toHaveLength(1);
  const exclusive = await call('ReplaceIpListEntries', {
    id: deny.id,
    entries: [{ value: '203.0.113.0/25' }],
    exclusiveGlobalKind: 'monitor',
  });
  expect(exclusive).toMatchObject({ affectedConsumers: 1 });
  expect((await call('ListIpListReferences', { ipListId: deny.id }))['items']).toMatchObject([
    { scope: 'global', kind: 'monitor', role: 'access_control' },
  ]);
});

test('bindings, rates and country rules of what is removed go with it', async () => {
  const list = await create('gone', '192.0.2.77');
  const site = {
    name: 'brief',
    primaryHost: 'brief.test',
    upstreams: [{ inline: { url: 'http://127.0.0.1:1' } }],
  };
  const made = (await call('SiteService/CreateSite', { site }))['site'] as Shown;
  const choice = { addressSource: 'client_ip', matchMode: 'in_list', kind: 'deny' };
  await call('UpsertIpListBinding', { binding: { ipListId: list.id, siteId: made.id, ...choice } });
  const endpoint = { siteId: made.id, pathPattern: '/', action: 'block', requestCount: 1 };
  await call('RateLimitService/UpsertRateLimitEndpoint', {
    endpoint: { ...endpoint, windowSeconds: 1 },
  });
  const rule = { name: 'r', countryCodes: ['DE'], ...choice, targets: [{ siteId: made.id }] };
  await call('CountryAccessService/UpsertCountryAccessRule', { rule });
  await call('SiteService/DeleteSite', { id: made.id });
  expect(await call('ListIpListReferences', { ipListId: list.id })).toEqual({});
  const rules = await call('CountryAccessService/ListCountryAccessRules', {});
  expect(rules).toEqual({});
  await call('DeleteIpList', { id: list.id });
});

test('a list of 60000 entries is written and read in pieces', async () => {
  const values = Array.from(
    { length: 60_000 },
    (_, at) => `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`,
  );
  const list = await create('long');
  const entries = values.toReversed().map((value) => ({ value }));
  const added = await call('AddEntries', { ipListId: list.id, entries });
  expect(added['ipList']).toMatchObject({ entryCount: 60_000 });
  expect(added['ipList']).not.toHaveProperty('entries');
  const page = await call('ListIpListEntries', {
    ipListId: list.id,
    page: { page: 300, pageSize: 200 },
  });
  expect((page['items'] as { value: string }[]).map(({ value }) => value)).toEqual(
    values.slice(-200),
  );
  const unsafe = { ipList: { id: list.id, entries: [] }, updateMask: 'entries' };
  expect(await refusalOf('UpdateIpList', unsafe)).toMatch(/^invalid_argument ipList\.etag: /);
  await call('RemoveEntries', { ipListId: list.id, values: values.slice(0, 50_000) });
  expect(await call('LookupIp', { ipListId: list.id, ip: '10.0.0.1' })).toEqual({
    decision: 'none',
  });
  const kept = await call('LookupIp', { ipListId: list.id, ip: values.at(-1) });
  expect(kept).toMatchObject({ matched: true });
});
