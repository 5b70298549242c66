/** Proves that what control says of itself is asked, made or measured, and never a constant. */

import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectTestLink } from '../../test/support/test-link.ts';
import { eventually } from '../../test/support/eventually.ts';
import { freePort } from '../../test/support/free-port.ts';
import { sampleEvent } from '../../test/support/sample-event.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import { AppError } from '../../base/errors.ts';
import { silentLogger } from '../../base/log.ts';
import { ownCapabilities } from '../../base/protocol-versions.ts';
import type { VerifiedBundle } from '../../engine/bundle/signed-bundle.ts';
import type { HealthReport } from '../../engine/contract/health.ts';
import { notOverloaded } from '../../engine/contract/overload.ts';
import type { ControllerLink } from '../../engine/link/controller-link.ts';
import {
  AgentHelloSchema,
  AgentStreamService,
  ConnectRequestSchema,
  type AgentHello,
} from '../../proto/gen/waf/v1/agent_stream_pb.ts';
import { startControl } from '../start.ts';
import { readiness } from './metrics/probes.ts';

let waf: TestControl;
let link: ControllerLink | null = null;
const applied: VerifiedBundle[] = [];
let refuse = false;
let health: HealthReport = { revision: '0', sha256: '', addresses: [] };

let overload = notOverloaded;

function connect(): ControllerLink {
  return connectTestLink(
    waf.socket,
    applied,
    async (obtain, keep) => {
      const verified = await obtain();
      if (refuse) throw new AppError('no_room', 'no room', { source: 'storage' });
      applied.push(verified);
      await keep();
    },
    { health: () => health, overload: () => overload },
  );
}

beforeAll(async () => {
  waf = await startTestControl();
});

afterAll(async () => {
  await link?.close();
  await waf.control.close();
});

const system = async (method: string, body: object = {}): Promise<Record<string, unknown>> =>
  (await waf.call(`SystemService/${method}`, body)).body;

interface Check {
  readonly component: string;
  readonly status: string;
  readonly message?: string;
}

const checkOf = async (component: string): Promise<Check | undefined> => {
  const { checks } = (await system('Health')) as { checks: Check[] };
  return checks.find((one) => one.component === component);
};

const responses = (title: string) => ({
  values: {
    'security.responses.config': {
      scenarios: { waf_block: { statusCode: 403, title, message: 'm' } },
    },
  },
});

test('a setting is pending without a node, then applied, or failed with its error', async () => {
  expect(await system('GetSystemSettings')).toMatchObject({ application: 'not_required' });
  const first = await system('UpdateSystemSettings', responses('one'));
  expect(first).toMatchObject({ application: 'pending' });
  expect(first['applyError']).toContain('no node is connected');
  link = connect();
  await eventually(async () => (await system('GetSystemSettings'))['application'] === 'applied');
  expect((await system('GetSystemSettings'))['applyError'] ?? '').toBe('');
  const second = await system('UpdateSystemSettings', responses('two'));
  expect(second).toMatchObject({ application: 'applied' });
  expect(applied.at(-1)?.bundle.responsesJson).toContain('two');
  refuse = true;
  const third = await system('UpdateSystemSettings', responses('three'));
  expect(third).toMatchObject({ application: 'failed', applyError: 'no_room: no room' });
  expect(await system('GetSystemSettings')).toMatchObject({ application: 'failed' });
  expect(await checkOf('configuration')).toMatchObject({ status: 'unhealthy' });
  refuse = false;
  const fourth = await system('UpdateSystemSettings', responses('four'));
  expect(fourth).toMatchObject({ application: 'applied' });
  const own = await system('UpdateSystemSettings', {
    values: { 'auth.access_token_seconds': 900 },
  });
  expect(own).toMatchObject({ application: 'applied' });
  await eventually(async () => (await checkOf('configuration'))?.status === 'healthy');
});

test('readiness asks the store', async () => {
  await eventually(async () => (await waf.get('/readyz', false)).status === 200);
  const { body } = await waf.get('/readyz', false);
  expect(body).toMatchObject({ status: 'ready', store: true, serving: true });
  const sha256 = 'a';
  const sound = {
    store: { auditHead: () => null, auditRow: () => undefined },
    events: { count: () => 0 },
    publisher: { current: () => ({ signed: { sha256 } }) },
    nodes: { get: () => ({ connected: true, configHash: sha256 }) },
  };
  const ask = (change: object) => readiness({ ...sound, ...change } as never);
  expect(ask({}).status).toBe(200);
  const fail = (): never => {
    throw new Error('MDB_CORRUPTED');
  };
  const head = { id: '1', hash: 'x' };
  const wrong = [
    { store: { auditHead: fail, auditRow: () => undefined } },
    { store: { auditHead: () => head, auditRow: () => undefined } },
    { store: { auditHead: () => head, auditRow: () => ({ hash: 'y' }) } },
    { events: { count: fail } },
  ];
  for (const change of wrong) {
    const answer = ask(change);
    expect(answer.status).toBe(503);
    expect(JSON.parse(answer.body)).toMatchObject({ status: 'not_ready', store: false });
  }
});

const freshnessOf = async (): Promise<Readonly<Record<string, unknown>>> =>
  (await system('GetDashboardOverview'))['freshness'] as Record<string, unknown>;

test('a node that sheds inspection shows in health, freshness and metrics', async () => {
  await eventually(async () => (await checkOf('overload'))?.status === 'healthy');
  const calm = await freshnessOf();
  expect(calm).toMatchObject({ wafOverloadState: 'normal', wafOverloadAction: 'none' });
  expect(calm).toMatchObject({ wafProbePercent: 100, wafOverloadNodeId: 'local' });
  expect(calm['wafOverloadActiveNodes'] ?? 0).toBe(0);
  overload = { state: 'shedding', action: 'fail_policy', probePercent: 25, cause: 'event_loop' };
  link?.reportLoad();
  await eventually(async () => (await checkOf('overload'))?.status === 'unhealthy');
  expect((await checkOf('overload'))?.message).toBe(
    'node local is overloaded: 25 percent of requests are inspected, ' +
      'the others follow the fail policy of their site',
  );
  const freshness = await freshnessOf();
  expect(freshness).toMatchObject({
    ...{ wafOverloadState: 'shedding', wafOverloadAction: 'fail_policy', wafProbePercent: 25 },
    ...{ wafOverloadNodeId: 'local', wafOverloadNodeName: 'local', wafOverloadActiveNodes: 1 },
  });
  const since = Date.parse(String(freshness['wafOverloadLastTransitionAt']));
  expect(since).toBeGreaterThanOrEqual(Date.parse(String(calm['wafOverloadLastTransitionAt'])));
  const { text } = await waf.get('/metrics', false);
  expect(text).toContain('waf_overload_inspected_ratio{node_id="local"} 0.25');
  expect(text).toContain('waf_overload_state{node_id="local",state="shedding"} 1');
  expect(text).toContain('waf_overload_state{node_id="local",state="normal"} 0');
  overload = { ...overload, probePercent: 50 };
  link?.reportLoad();
  await eventually(async () => (await checkOf('overload'))?.message?.includes(' 50 ') === true);
  // The state is the same, and so is its beginning.
  const later = await freshnessOf();
  expect(later['wafOverloadLastTransitionAt']).toBe(freshness['wafOverloadLastTransitionAt']);
  overload = notOverloaded;
  link?.reportLoad();
  await eventually(async () => (await checkOf('overload'))?.status === 'healthy');
});

test('a SIEM target that cannot be reached degrades health and is named; traffic is well', async () => {
  const set = (values: object) => system('UpdateSystemSettings', { values });
  expect(await system('Health')).toMatchObject({ status: 'healthy' });
  const closed = await freePort();
  await set({ 'outgoing.allowed_networks': ['127.0.0.0/8'] });
  const target = { id: 'archive', format: 'audit', transport: 'tcp', framing: 'newline' };
  await set({ 'siem.targets': [{ ...target, host: '127.0.0.1', port: closed }] });
  await eventually(async () => {
    // A message asks for a connection to the target, which is refused.
    link?.observe(sampleEvent({ status: 400, outcome: 'refused', refusal: 'bare_lf' }));
    return (await checkOf('siem'))?.status === 'degraded';
  });
  expect((await checkOf('siem'))?.message).toContain('archive: ');
  expect(await system('Health')).toMatchObject({ status: 'degraded' });
  await set({ 'siem.targets': [] });
  expect(await checkOf('siem')).toBeUndefined();
  expect(await system('Health')).toMatchObject({ status: 'healthy' });
});

test('an origin that a node reports as failing shows in health, by name and reason', async () => {
  expect(await checkOf('origins')).toMatchObject({ status: 'healthy' });
  const { upstream } = (
    await waf.call('UpstreamService/CreateUpstream', {
      upstream: { name: 'app', endpoints: [{ url: 'http://10.9.9.9:81', weight: 1 }] },
    })
  ).body as { upstream: { id: string } };
  const { sha256 = '' } = applied.at(-1) ?? {};
  const dead = { name: '10.9.9.9:81', url: 'http://10.9.9.9:81', status: 'unhealthy' } as const;
  const facts = { ...dead, probedAtMs: 0, changedAtMs: 1, error: 'it refuses (3 failures)' };
  const demo = { ...facts, upstreamId: 'site-site-demo', url: 'http://127.0.0.1:1' };
  const addresses = [{ ...facts, upstreamId: upstream.id }, demo];
  health = { revision: '3', sha256, addresses };
  link?.reportHealth();
  await eventually(async () => (await checkOf('origins'))?.status === 'unhealthy');
  expect((await checkOf('origins'))?.message).toBe(
    'http://10.9.9.9:81 of pool app: it refuses (3 failures); ' +
      'http://127.0.0.1:1 of site demo: it refuses (3 failures)',
  );
  expect(await system('Health')).toMatchObject({ status: 'unhealthy' });
  const { items } = (await waf.call('UpstreamService/ListUpstreamHealth', {})).body as {
    items: object[];
  };
  expect(items).toContainEqual(
    expect.objectContaining({
      status: 'unhealthy',
      lastError: 'it refuses (3 failures)',
      configGeneration: '3',
      artifactSha256: sha256,
    }),
  );
});

test('lanes carry the names of the contract', async () => {
  const { text } = await waf.get('/metrics', false);
  const fields = [...text.matchAll(/waf_observation_lane_value\{lane="metric",field="(\w+)"\}/g)];
  expect(fields.map(([, name]) => name)).toEqual([
    'attempted',
    'admitted',
    'written',
    'dropped',
    'retried',
  ]);
});

test('retries and manual work on nodes leave audit rows', async () => {
  await waf.call('AgentService/RetryNodeConfig', { nodeId: 'local' });
  const { items } = (await waf.call('AuditService/QueryAudit', { action: 'retry_config' }))
    .body as { items: object[] };
  expect(items).toMatchObject([{ resourceType: 'node', resourceId: 'local' }]);
});

test('a build names itself and what it runs with', async () => {
  const { build } = (await system('Version')) as {
    build: { version: string; libraries: Record<string, string> };
  };
  expect(build.version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(build.libraries['node']).toBe(process.versions.node);
  expect(build.libraries['lmdb']).toMatch(/^\d+\.\d+\.\d+$/);
});

type Hello = Exclude<MessageInitShape<typeof AgentHelloSchema>, AgentHello>;

/** What control answers to a hello: the case of its first message, or why it refuses. */
async function sayHello(change: Hello): Promise<string> {
  const transport = createConnectTransport({
    baseUrl: 'http://control',
    httpVersion: '2',
    nodeOptions: { createConnection: () => connectSocket(waf.socket) },
  });
  const hello = create(AgentHelloSchema, {
    agentId: 'local',
    observationProtocolVersion: 1,
    capabilities: ownCapabilities,
    ...change,
  });
  const stop = new AbortController();
  const requests = async function* () {
    yield create(ConnectRequestSchema, { message: { case: 'hello', value: hello } });
    await new Promise((resolve) => stop.signal.addEventListener('abort', resolve));
  };
  try {
    const client = createClient(AgentStreamService, transport);
    for await (const { message } of client.connect(requests(), { signal: stop.signal })) {
      return message.case === 'welcome' ? `welcome ${message.value.serverId}` : 'other';
    }
    return 'nothing';
  } catch (error) {
    return error instanceof Error ? error.message : '';
  } finally {
    stop.abort();
  }
}

test('a node with other versions than ours is refused, whichever differs', async () => {
  const { controllerId } = await system('Health');
  expect(await sayHello({})).toBe(`welcome ${String(controllerId)}`);
  const wrong: readonly (readonly [Hello, string])[] = [
    [{ observationProtocolVersion: 2 }, 'observationProtocolVersion: must be 1'],
    [{ capabilities: undefined as never }, 'hello.capabilities.version: must be 1'],
    [
      { capabilities: { ...ownCapabilities, metricPayloadVersion: 8 } },
      'hello.capabilities.metricPayloadVersion: must be 9',
    ],
    [
      { capabilities: { ...ownCapabilities, artifactFormat: 'waf.runtime.v2' } },
      'hello.capabilities.artifactFormat: must be waf.runtime.v1',
    ],
  ];
  for (const [change, text] of wrong) expect(await sayHello(change)).toContain(text);
});

test('the names of an installation are made once, differ from others, and stay', async () => {
  const other = await startTestControl();
  const namesOf = ({ controllerId, deploymentId }: Record<string, unknown>) =>
    [controllerId, deploymentId].map(String);
  const before = namesOf((await other.call('SystemService/Health', {})).body);
  for (const name of before) expect(name).toMatch(/^(?:controller|deployment)-[0-9a-f-]{36}$/);
  expect(before).not.toEqual(namesOf(await system('Health')));
  await other.control.close();
  const again = await startControl({
    dataFolder: other.folder,
    management: { host: '127.0.0.1', port: 0 },
    managementTls: 'off',
    adminSocket: other.socket,
    engineSocket: join(other.folder, 'engine.sock'),
    demoOrigin: null,
    logger: silentLogger,
  });
  expect(namesOf((await other.call('SystemService/Health', {})).body)).toEqual(before);
  await again.close();
});
