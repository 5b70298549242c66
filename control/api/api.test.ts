/** The proof that control serves: sites, policies, events, probes, all protocols. */

import { statSync } from 'node:fs';
import { Agent, get, type IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SiteService } from '../../proto/gen/waf/v1/site_pb.ts';
import { silentLogger } from '../../base/log.ts';
import type { RequestEvent } from '../../engine/contract/events.ts';
import { createControllerLink, type ControllerLink } from '../../engine/link/controller-link.ts';
import { serveEngineService } from '../../engine/link/engine-service.ts';
import { BundleKeeper } from '../../engine/bundle/bundle-keeper.ts';
import { toRuntimeConfig } from '../../engine/bundle/runtime-config.ts';
import type { RuntimeConfig } from '../../engine/contract/runtime.ts';
import { sampleEvent, sampleMatch } from '../../test/support/sample-event.ts';
import { eventually } from '../../test/support/eventually.ts';
import {
  startTestControl,
  type Answer,
  type TestControl,
} from '../../test/support/test-control.ts';

let waf: TestControl;
let link: ControllerLink;
let engine: { close(): Promise<void> };
const applied: RuntimeConfig[] = [];

beforeAll(async () => {
  waf = await startTestControl();
  engine = await serveEngineService({
    socketPath: join(waf.folder, 'engine.sock'),
    logger: silentLogger,
    handler: {
      compile: (policy) =>
        Promise.resolve({ ok: policy.files.size > 0, diagnostics: [], ruleCount: 1 }),
      evaluate: (_policy, input) =>
        Promise.resolve({
          record: blockedEvent(Buffer.from(input.head).toString()).transaction,
          diagnostics: [],
          refusal: '',
          refusalStatus: 0,
          guards: [],
          siteAnswer: null,
        }),
      evaluateBatch: () => Promise.reject(new Error('not here')),
      status: () => ({ revision: '0', sha256: '', version: 'test', uptimeMs: 1, libraries: {} }),
      explainTrust: () => {
        throw new Error('not asked here');
      },
      sampleClients: () => ({ samples: [], active: false }),
      probeUpstream: () => Promise.resolve([]),
      readFirstPage: () => Promise.resolve(null),
      spoofNotes: () => [],
    },
  });
  link = createControllerLink({
    socketPath: waf.socket,
    agentId: 'local',
    version: 'test',
    bundles: new BundleKeeper(join(waf.folder, 'bundle')),
    configHash: () => applied.at(-1)?.sha256 ?? '',
    rollOut: async (obtain, keep) => {
      applied.push(toRuntimeConfig(await obtain()));
      await keep();
    },
    logger: silentLogger,
  });
  link.connect();
});

afterAll(async () => {
  await link.close();
  await engine.close();
  await waf.control.close();
});

const call = (rpc: string, body: unknown): Promise<Answer> => waf.call(rpc, body);

function blockedEvent(target: string): RequestEvent {
  return sampleEvent({
    requestId: 'request-0001',
    siteId: 'site-demo',
    receivedAtMs: Date.now(),
    durationUs: 100,
    clientIp: '127.0.0.1',
    host: 'localhost',
    target,
    userAgent: 'test',
    status: 403,
    outcome: 'blocked',
    blocked: true,
    transaction: {
      verdict: { action: 'block', status: 403, ruleId: 949110, phase: 2 },
      matchedRules: [
        sampleMatch({ operator: 'detectSQLi', matched: [{ name: 'ARGS:q', value: "' or 1" }] }),
      ],
      inboundScore: 5,
      outboundScore: 0,
      detectionOnly: false,
      inspectionUs: 10,
    },
  });
}

test('sockets and secrets are private', () => {
  expect(statSync(waf.socket).mode & 0o777).toBe(0o600);
  expect(statSync(waf.control.passwordFile).mode & 0o777).toBe(0o600);
});

const network = { network: true };

test('the engine ends no connection of control between two calls', async () => {
  const socketPath = join(waf.folder, 'engine.sock');
  const agent = new Agent({ keepAlive: true });
  const fields = await new Promise<IncomingHttpHeaders>((resolve, reject) => {
    get({ socketPath, agent, path: '/nowhere' }, (response) => {
      response.resume().once('end', () => resolve(response.headers));
    }).once('error', reject);
  });
  agent.destroy();
  // Without a time after which an idle connection ends, as `Keep-Alive: timeout=5` says it.
  expect(fields).toMatchObject({ connection: 'keep-alive' });
  expect(fields).not.toHaveProperty('keep-alive');
});

test('the first administrator signs in, refreshes and signs out', async () => {
  const { password } = waf;
  const wrong = await waf.call(
    'AuthService/Login',
    { username: 'admin', password: 'wrong' },
    network,
  );
  expect(wrong).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
  const login = await waf.call('AuthService/Login', { username: 'admin', password }, network);
  expect(login.status).toBe(200);
  expect(login.cookie).toMatch(/^waf_refresh=.*HttpOnly; SameSite=Strict/);
  const token = String(login.body['accessToken']);
  const me = await waf.call('AuthService/GetUserInfo', {}, { token });
  expect(me.body['user']).toMatchObject({ username: 'admin', roles: ['Administrator'] });
  const cookie = login.cookie.split(';')[0] ?? '';
  const refreshed = await waf.call('AuthService/Refresh', {}, { cookie });
  expect(refreshed.status).toBe(200);
  // A replay ends the family: neither cookie is good any more, nor is the token.
  expect((await waf.call('AuthService/Refresh', {}, { cookie })).status).toBe(401);
  const next = refreshed.cookie.split(';')[0] ?? '';
  expect((await waf.call('AuthService/Refresh', {}, { cookie: next })).status).toBe(401);
  expect((await waf.call('AuthService/GetUserInfo', {}, { token })).status).toBe(401);
});

test('without a session the network gets nothing', async () => {
  const list = await waf.call('SiteService/ListSites', {}, network);
  expect(list).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
  const forged = await waf.call('SiteService/ListSites', {}, { token: 'a.b.c' });
  expect(forged.status).toBe(401);
});

test('a created site reaches the engine, and nobody asks for it', async () => {
  await eventually(() => applied.length > 0);
  const created = await call('SiteService/CreateSite', {
    site: {
      name: 'shop',
      primaryHost: 'Shop.Example.com',
      aliases: ['*.shop.example.com'],
      upstreams: [{ inline: { url: 'http://127.0.0.1:9000', weight: 1 } }],
      waf: { enabled: true },
    },
  });
  expect(created.status).toBe(200);
  const site = created.body['site'] as Record<string, unknown>;
  expect(site).toMatchObject({ primaryHost: 'shop.example.com', revision: '1' });
  const named = (one: RuntimeConfig): boolean => one.sites.some(({ name }) => name === 'shop');
  await eventually(() => applied.some(named));
  const policy = applied.at(-1)?.policies.find(({ name }) => name === 'Light');
  expect(policy?.seclangEntry).toContain('Include crs/rules/REQUEST-942.conf');
});

test('stale revisions, duplicates and bad fields are refused by name', async () => {
  const list = await call('SiteService/ListSites', { query: 'shop' });
  const site = (list.body['items'] as Record<string, string>[])[0] ?? {};
  expect(list.body['page']).toMatchObject({ page: 1, total: '1' });
  const update = { site: { id: site['id'], name: 'store' }, updateMask: 'name' };
  const stale = await call('SiteService/UpdateSite', { ...update, revision: '9' });
  expect(stale).toMatchObject({ status: 409, body: { code: 'aborted' } });
  const good = await call('SiteService/UpdateSite', { ...update, revision: '1' });
  expect(good.body['site']).toMatchObject({ name: 'store', revision: '2' });
  const badMask = { ...update, updateMask: 'color', revision: '2' };
  const masked = await call('SiteService/UpdateSite', badMask);
  expect(masked).toMatchObject({ status: 400, body: { code: 'invalid_argument' } });
  expect(String(masked.body['message'])).toMatch(/^updateMask:/);
  const double = { name: 'other', primaryHost: 'shop.example.com' };
  const taken = await call('SiteService/CreateSite', { site: double });
  expect(taken).toMatchObject({ status: 409, body: { code: 'already_exists' } });
  const url = { name: 'other', primaryHost: 'http://x/y' };
  const host = await call('SiteService/CreateSite', { site: url });
  expect(String(host.body['message'])).toMatch(/^site\.primaryHost: /);
  const unknown = await call('SiteService/CreateSite', { site: { color: 1 } });
  expect(unknown).toMatchObject({ status: 400, body: { code: 'invalid_argument' } });
  expect(String(unknown.body['message'])).toContain('color');
  const badEnum = { site: { status: 'RESOURCE_STATUS_MAYBE' } };
  const enumerated = await call('SiteService/CreateSite', badEnum);
  expect(enumerated.body['code']).toBe('invalid_argument');
});

test('a policy is copied, changed, rendered and tried', async () => {
  const made = await call('PolicyService/CreatePolicyFromTemplate', {
    templateId: 'template-strict',
    name: 'mine',
  });
  const policy = made.body['policy'] as Record<string, string>;
  expect(policy).toMatchObject({ name: 'mine', revision: '1' });
  const policyId = policy['id'];
  const layer = {
    policyId,
    revision: '1',
    layer: 'POLICY_LAYER_KIND_CRS_CORE',
    config: { blockingParanoiaLevel: 3 },
  };
  const changed = await call('PolicyService/UpdatePolicyLayer', layer);
  expect(changed.body['policy']).toMatchObject({
    revision: '2',
    crsCore: { blockingParanoiaLevel: 3 },
  });
  const wrong = { ...layer, revision: '2', config: { blockingParanoiaLevel: 7 } };
  const refused = await call('PolicyService/UpdatePolicyLayer', wrong);
  expect(String(refused.body['message'])).toMatch(/^config\.crsCore\.blockingParanoiaLevel: /);
  const preview = await call('PolicyService/PreviewSecLang', { policyId });
  expect(String(preview.body['seclang'])).toContain("setvar:'tx.blocking_paranoia_level=3'");
  const off = { policyId, revision: '2', engineState: 'ENGINE_STATE_OFF' };
  const switched = await call('PolicyService/SetEngineState', off);
  expect(switched.body['policy']).toMatchObject({ engineState: 'ENGINE_STATE_OFF' });
  const tried = await call('PolicyService/TestPolicy', {
    policyId,
    method: 'GET',
    url: '/?q=1',
    headers: { accept: '*/*' },
  });
  expect(tried.body).toMatchObject({
    blocked: true,
    status: 403,
    matchedRuleIds: [942100],
    totalInboundScore: 5,
  });
});

test('a blocked request is found by its request id', async () => {
  link.observe(blockedEvent('/?q=%27'));
  const query = { uniqueId: 'request-0001', outcome: 'SECURITY_EVENT_OUTCOME_ANY' };
  let items: Record<string, unknown>[] = [];
  await eventually(async () => {
    const { body } = await call('LogService/QuerySecurityEvents', query);
    items = (body['items'] ?? []) as Record<string, unknown>[];
    return items.length > 0;
  });
  expect(items[0]).toMatchObject({
    uniqueId: 'request-0001',
    agentId: 'local',
    blocked: true,
    status: 403,
    severity: 'critical',
    attackType: 'sqli',
    ruleIds: ['942100'],
  });
  const one = await call('LogService/GetSecurityEvent', { id: items[0]?.['id'] });
  expect(one.body['event']).toMatchObject({ path: '/', clientIp: '127.0.0.1' });
  const none = { ...query, ruleIds: ['1'] };
  const filtered = await call('LogService/QuerySecurityEvents', none);
  expect(filtered.body['items'] ?? []).toEqual([]);
});

test('gRPC and gRPC-Web are served beside Connect; an unknown method is not found', async () => {
  const baseUrl = `http://127.0.0.1:${waf.control.managementPort}`;
  for (const transport of [
    createGrpcTransport({ baseUrl }),
    createGrpcWebTransport({ baseUrl, httpVersion: '1.1' }),
  ]) {
    const client = createClient(SiteService, transport);
    await expect(client.listSites({})).rejects.toThrow(/unauthenticated/);
  }
  expect(await call('SystemService/NoSuchMethod', {})).toMatchObject({ status: 404 });
});

test('probes: liveness everywhere, readiness and metrics on the socket only', async () => {
  for (const way of [true, false]) {
    const answer = await waf.get('/healthz', way);
    expect(answer).toMatchObject({ status: 200, text: '{"status":"ok"}' });
  }
  await eventually(async () => (await waf.get('/readyz', false)).status === 200);
  expect((await waf.get('/metrics', false)).text).toContain('waf_config_revision');
  for (const path of ['/readyz', '/metrics']) expect((await waf.get(path, true)).status).toBe(404);
});
