/**
 * The proof of trust: profiles with their issues, explanations by the code of live traffic,
 * warnings, and analyses that become profiles.
 */

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../../../base/log.ts';
import type { EngineHandler } from '../../../engine/contract/evaluation.ts';
import type { ClientSample, SpoofNote } from '../../../engine/contract/trust.ts';
import { ClientIpResolver } from '../../../engine/guard/client-ip.ts';
import { serveEngineService } from '../../../engine/link/engine-service.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

let waf: TestControl;
let engine: { close(): Promise<void> };
let siteId = '';
let listId = '';
let samples: ClientSample[] = [];
let asked: (readonly [string, number, boolean])[] = [];
const spoofs: SpoofNote[] = [];

/** The resolver of live traffic; samples as the test has them. */
const handler: EngineHandler = {
  compile: () => Promise.reject(new Error('not here')),
  evaluate: () => Promise.reject(new Error('not here')),
  evaluateBatch: () => Promise.reject(new Error('not here')),
  status: () => ({ revision: '0', sha256: '', version: '', uptimeMs: 0, libraries: {} }),
  explainTrust: (config, peer, headers) =>
    new ClientIpResolver(config).resolve(peer, (name) => {
      const value = headers[name];
      return value === undefined ? [] : [value];
    }),
  sampleClients: (site, count, end) => {
    asked.push([site, count, end]);
    return { samples, active: samples.length < 500 };
  },
  probeUpstream: () => Promise.resolve([]),
  readFirstPage: () => Promise.resolve(null),
  spoofNotes: () => spoofs,
};

const call = async (method: string, body: unknown): Promise<Record<string, unknown>> => {
  const found = await waf.call(method.includes('/') ? method : `TrustService/${method}`, body);
  if (found.status !== 200) throw new Error(`${method}: ${found.text}`);
  return found.body;
};
const profileWith = (change: object = {}, rule: object = {}) => ({
  nodes: [{ id: 'lb', name: 'Balancer', trust: { ipListIds: [listId] }, xffMode: 'append' }],
  edges: [
    { from: 'internet', to: 'lb' },
    { from: 'lb', to: 'waf' },
  ],
  extractionRules: [
    { id: 'r', header: 'X-Forwarded-For', parser: 'xff', nodeIds: ['lb'], enabled: true, ...rule },
  ],
  ...change,
});

beforeAll(async () => {
  const engineSocket = join(mkdtempSync(join(tmpdir(), 'waf-trust-')), 'engine.sock');
  engine = await serveEngineService({ socketPath: engineSocket, handler, logger: silentLogger });
  waf = await startTestControl({ engineSocket });
  const site = {
    name: 'shop',
    primaryHost: 'shop.test',
    upstreams: [{ inline: { url: 'http://127.0.0.1:1' } }],
  };
  siteId = ((await call('SiteService/CreateSite', { site }))['site'] as { id: string }).id;
  const ipList = { name: 'balancers', entries: [{ value: '10.0.0.0/24' }] };
  const made = (await call('IpListService/CreateIpList', { ipList }))['ipList'];
  listId = (made as { id: string }).id;
});
beforeEach(() => {
  samples = [];
  asked = [];
});
afterAll(async () => {
  await waf.control.close();
  await engine.close();
});

test('a profile that changed since it was read is not replaced', async () => {
  const read = async (): Promise<unknown> =>
    (await call('GetTrustProfile', { siteId }))['updatedAt'];
  const set = (expectedUpdatedAt: unknown) =>
    waf.call('TrustService/SetTrustProfile', { siteId, profile: profileWith(), expectedUpdatedAt });
  const epoch = '1970-01-01T00:00:00Z';
  expect(await set(epoch)).toMatchObject({ status: 200 });
  const first = await read();
  expect(await set(epoch)).toMatchObject({ status: 409, body: { code: 'aborted' } });
  expect(await set(first)).toMatchObject({ status: 200 });
  expect(await set(first)).toMatchObject({ status: 409 });
  expect(await set(await read())).toMatchObject({ status: 200 });
  await call('ResetTrustProfile', { siteId });
  expect(await set(first)).toMatchObject({ status: 409 });
});

test('empty at first; set, read back with its lists, used, reset', async () => {
  expect(await call('GetTrustProfile', {})).toEqual({ profile: {}, resolved: {} });
  const none = await waf.call('TrustService/GetTrustProfile', { siteId });
  expect(none.body['code']).toBe('not_found');
  const set = await call('SetTrustProfile', { profile: profileWith() });
  expect(set['profile']).toMatchObject({ extractionRules: [{ header: 'x-forwarded-for' }] });
  expect(set['resolved']).toMatchObject({
    nodes: [{ id: 'lb', trust: { ipListIds: [listId], ranges: ['10.0.0.0/24'] } }],
  });
  const { profile, resolved, updatedAt } = set;
  expect(updatedAt).toEqual(expect.any(String));
  expect(await call('GetTrustProfile', {})).toEqual({ profile, resolved, updatedAt });
  const used = await waf.call('IpListService/DeleteIpList', { id: listId });
  expect(String(used.body['message'])).toMatch(/^id: the list is used by trust node lb/);
  const override = { siteId, profile: profileWith({}, { enabled: false }) };
  await call('SetTrustProfile', override);
  const status = await call('GetTrustStatus', {});
  expect(status).toMatchObject({
    siteOverrides: [{ siteId, primaryHost: 'shop.test' }],
    totalSites: 2,
  });
  const ask = { peer: '10.0.0.1', headers: { 'X-Forwarded-For': '192.0.2.9' } };
  expect(await call('ExplainTrust', { siteId, ...ask })).toMatchObject({ ip: '10.0.0.1' });
  expect((await call('ResetTrustProfile', { siteId }))['result']).toMatchObject({ changed: true });
  expect(await call('ExplainTrust', { siteId, ...ask })).toMatchObject({ ip: '192.0.2.9' });
  await call('ResetTrustProfile', {});
  expect(await call('GetTrustProfile', {})).toEqual({ profile: {}, resolved: {} });
});

test('explanations say why, also of drafts, and keep nothing', async () => {
  const headers = { 'X-Forwarded-For': '1.1.1.1, 192.0.2.9', 'X-Empty': '' };
  const ask = { peer: '10.0.0.1', headers, draftProfile: profileWith() };
  expect(await call('ExplainTrust', ask)).toEqual({
    ip: '192.0.2.9',
    sourceHeader: 'x-forwarded-for',
    peerTrusted: true,
    hops: ['1.1.1.1', '192.0.2.9', '10.0.0.1'],
    warnings: ['hops before the client were sent by the client itself and prove nothing'],
    ruleTraces: [
      {
        ruleId: 'r',
        header: 'x-forwarded-for',
        status: 'used',
        reason: 'the proxies of the rule are proved',
        candidateIp: '192.0.2.9',
        pathNodeIds: ['lb'],
      },
    ],
    verifiedNodeIds: ['lb'],
  });
  expect(await call('ExplainTrust', { ...ask, peer: '192.0.2.1' })).toMatchObject({
    ip: '192.0.2.1',
    spoofed: true,
    ruleTraces: [{ status: 'rejected' }, { status: 'fallback' }],
  });
  const fixed = profileWith(
    { nodes: [], edges: [] },
    {
      nodeIds: [],
      selector: 'leftmost',
      allowUntrusted: true,
    },
  );
  const risky = await call('ExplainTrust', { ...ask, peer: '192.0.2.1', draftProfile: fixed });
  expect(risky).toMatchObject({ ip: '1.1.1.1', untrustedRule: true });
  expect(await call('GetTrustProfile', {})).toEqual({ profile: {}, resolved: {} });
  const bad = await waf.call('TrustService/ExplainTrust', { peer: 'here' });
  expect(String(bad.body['message'])).toMatch(/^peer: must be one address/);
});

/** What is wrong with a profile, and where and how it is said. */
const issues: readonly (readonly [string, () => object, string, string])[] = [
  ['id', () => ({ nodes: [{ id: '', name: 'n' }] }), 'profile.nodes[0].id', 'invalid_node_id'],
  [
    'reserved',
    () => ({ nodes: [{ id: 'waf', name: 'n' }] }),
    'profile.nodes[0].id',
    'reserved_node_id',
  ],
  ['name', () => ({ nodes: [{ id: 'a' }] }), 'profile.nodes[0].name', 'invalid_name'],
  [
    'list',
    () => ({ nodes: [{ id: 'a', name: 'n' }] }),
    'profile.nodes[0].trust.ipListIds',
    'trust_required',
  ],
  [
    'unknown list',
    () => ({ nodes: [{ id: 'a', name: 'n', trust: { ipListIds: ['x'] } }] }),
    'profile.nodes[0].trust.ipListIds[0]',
    'unknown_ip_list',
  ],
  [
    'mode',
    () => ({ nodes: [{ id: 'a', name: 'n', xffMode: 'x' }] }),
    'profile.nodes[0].xffMode',
    'invalid_xff_mode',
  ],
  [
    'real ip',
    () => ({ nodes: [{ id: 'a', name: 'n', realIpHeader: 'x-mine' }] }),
    'profile.nodes[0].realIpHeader',
    'header_not_safelisted',
  ],
  ['no way', () => profileWith({ edges: [] }), 'profile.nodes[0]', 'unreachable_node'],
  [
    'edge',
    () => profileWith({ edges: [{ from: 'x', to: 'waf' }] }),
    'profile.edges[0].from',
    'unknown_node',
  ],
  [
    'backwards',
    () => profileWith({ edges: [{ from: 'lb', to: 'internet' }] }),
    'profile.edges[0].to',
    'unknown_node',
  ],
  [
    'self',
    () => profileWith({ edges: [{ from: 'lb', to: 'lb' }] }),
    'profile.edges[0]',
    'self_edge',
  ],
  [
    'twice',
    () =>
      profileWith({
        edges: [
          { from: 'lb', to: 'waf' },
          { from: 'lb', to: 'waf' },
        ],
      }),
    'profile.edges[1]',
    'duplicate_edge',
  ],
  [
    'rule id',
    () => profileWith({}, { id: '' }),
    'profile.extractionRules[0].id',
    'invalid_rule_id',
  ],
  [
    'parser',
    () => profileWith({}, { parser: 'x' }),
    'profile.extractionRules[0].parser',
    'invalid_parser',
  ],
  [
    'header',
    () => profileWith({}, { header: '' }),
    'profile.extractionRules[0].header',
    'header_required',
  ],
  [
    'strange header',
    () => profileWith({}, { header: 'x-mine' }),
    'profile.extractionRules[0].header',
    'header_not_safelisted',
  ],
  [
    'cookie',
    () => profileWith({}, { header: 'cookie' }),
    'profile.extractionRules[0].header',
    'header_forbidden',
  ],
  [
    'binding',
    () => profileWith({}, { nodeIds: [] }),
    'profile.extractionRules[0].nodeIds',
    'node_binding_required',
  ],
  [
    'bound to',
    () => profileWith({}, { nodeIds: ['x'] }),
    'profile.extractionRules[0].nodeIds[0]',
    'unknown_node',
  ],
  [
    'selector',
    () => profileWith({}, { selector: 'x' }),
    'profile.extractionRules[0].selector',
    'invalid_selector',
  ],
  [
    'position',
    () => profileWith({}, { selector: 'position' }),
    'profile.extractionRules[0].position',
    'invalid_position',
  ],
  [
    'from',
    () => profileWith({}, { selector: 'position', position: 1 }),
    'profile.extractionRules[0].positionFrom',
    'invalid_position_from',
  ],
  [
    'stray position',
    () => profileWith({}, { position: 1 }),
    'profile.extractionRules[0].position',
    'position_without_selector',
  ],
  [
    'stray side',
    () => profileWith({}, { positionFrom: 'left' }),
    'profile.extractionRules[0].positionFrom',
    'position_without_selector',
  ],
  [
    'without proof',
    () => profileWith({}, { allowUntrusted: true }),
    'profile.extractionRules[0].selector',
    'fixed_selector_required',
  ],
  [
    'peer with header',
    () => profileWith({}, { parser: 'remote_addr' }),
    'profile.extractionRules[0].header',
    'not_for_remote_addr',
  ],
];

test.each(issues)('refused: %s', async (_name, profile, field, code) => {
  const { body, status } = await waf.call('TrustService/SetTrustProfile', { profile: profile() });
  expect([status, body['code']]).toEqual([400, 'invalid_argument']);
  const details = body['details'] as { type: string; debug: { issues: object[] } }[];
  expect(details[0]?.type).toBe('waf.v1.TrustProfileValidation');
  expect(details[0]?.debug.issues).toContainEqual(expect.objectContaining({ field, code }));
});

test('force takes a header outside the safe list, audited', async () => {
  const profile = profileWith({}, { header: 'X-Mine' });
  await call('SetTrustProfile', { siteId, profile, force: true });
  const audit = await call('AuditService/QueryAudit', { resourceType: 'trust_profile' });
  const rows = audit['items'] as { metadata?: { force?: string } }[];
  expect(rows[0]?.metadata?.force).toBe('true');
  await call('ResetTrustProfile', { siteId });
});

test('warnings come from the engine, for sites that are there', async () => {
  const note = { peer: '192.0.2.1', header: 'x-real-ip', count: 3, firstSeenMs: 1_700_000_000_000 };
  spoofs.push({ ...note, siteId }, { ...note, siteId: 'gone' });
  const { recentWarnings } = await call('GetTrustStatus', {});
  expect(recentWarnings).toEqual([
    {
      siteId,
      peer: '192.0.2.1',
      header: 'x-real-ip',
      count: 3,
      firstSeenAt: '2023-11-14T22:13:20Z',
    },
  ]);
});

test('an analysis collects, suggests, and becomes a profile with a list of its own', async () => {
  const started = (await call('StartClientIPAnalysis', { siteId }))['analysis'] as { id: string };
  expect(started).toMatchObject({ siteId, state: 'collecting', targetSampleCount: 500 });
  expect(asked).toEqual([[siteId, 500, false]]);
  samples = Array.from({ length: 20 }, (_, at) => ({
    siteId,
    peer: `198.51.100.${1 + (at % 2)}`,
    headers: { 'cf-connecting-ip': `192.0.2.${at}`, 'x-forwarded-for': `192.0.2.${at}` },
    products: [],
  }));
  const analysisId = started.id;
  const seen = (await call('GetClientIPAnalysis', { analysisId }))['analysis'];
  expect(seen).toMatchObject({
    state: 'collecting',
    sampleCount: 20,
    distinctPeerCount: 2,
    distinctClientCount: 20,
    confidence: 'partial',
    suggestionKind: 'proxy',
    suggestionHeader: 'cf-connecting-ip',
  });
  expect(seen).toMatchObject({
    nodeTrustPreviews: [{ nodeId: 'proxy', entryCount: 2, sourceKind: 'observed_peers' }],
  });
  const stopped = (await call('StopClientIPAnalysis', { analysisId }))['analysis'];
  expect(stopped).toMatchObject({ state: 'stopped', sampleCount: 20 });
  // A second stop changes nothing, and so leaves no second row.
  await call('StopClientIPAnalysis', { analysisId });
  const rows = await waf.call('AuditService/QueryAudit', { resourceId: analysisId });
  expect(rows.body['items']).toMatchObject([
    { action: 'stop_analysis', resourceType: 'client_ip_analysis', metadata: { samples: '20' } },
    { action: 'start_analysis', resourceType: 'client_ip_analysis', metadata: { siteId } },
  ]);
  const site = 'CLIENT_IP_ANALYSIS_APPLY_SCOPE_SITE';
  const unsure = await waf.call('TrustService/ApplyClientIPAnalysis', { analysisId, scope: site });
  expect(unsure.body['code']).toBe('failed_precondition');
  const apply = { analysisId, scope: site, acknowledgeUnverified: true };
  const applied = await call('ApplyClientIPAnalysis', apply);
  expect(applied).toMatchObject({
    siteId,
    resolved: { nodes: [{ trust: { ranges: ['198.51.100.1', '198.51.100.2'] } }] },
  });
  const explained = await call('ExplainTrust', {
    siteId,
    peer: '198.51.100.2',
    headers: { 'CF-Connecting-IP': '203.0.113.1' },
  });
  expect(explained).toMatchObject({ ip: '203.0.113.1', verifiedNodeIds: ['proxy'] });
  const again = (await call('GetClientIPAnalysis', { analysisId }))['analysis'];
  expect(again).toMatchObject({ state: 'stopped', confidence: 'verified' });
  const mode = 'CLIENT_IP_ANALYSIS_RANGES_MODE_';
  const replaced = await call('ApplyClientIPAnalysis', {
    ...apply,
    nodeTrustDrafts: [{ nodeId: 'proxy', mode: `${mode}REPLACE`, ranges: ['198.51.100.0/25'] }],
  });
  expect(replaced).toMatchObject({
    resolved: { nodes: [{ trust: { ranges: ['198.51.100.0/25'] } }] },
  });
  const dropped = await call('ApplyClientIPAnalysis', {
    ...apply,
    nodeTrustDrafts: [{ nodeId: 'proxy', mode: `${mode}DROP` }],
  });
  expect(dropped['profile']).toEqual({ edges: [{ from: 'internet', to: 'waf' }] });
  const lists = (await call('IpListService/ListIpLists', { query: 'Cloudflare' }))['items'];
  expect(lists).toMatchObject([
    { name: 'Cloudflare addresses' },
    { name: 'Cloudflare addresses 2' },
  ]);
});
