/**
 * Proves that the fields of what the services of nodes answer follow facts: in one run over the
 * rows on nodes and two connected nodes, each had at least two values.
 */

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { connect as connectSocket } from 'node:net';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ownCapabilities } from '../../../base/protocol-versions.ts';
import { AgentGroupService } from '../../../proto/gen/waf/v1/agent_group_pb.ts';
import {
  AgentService,
  StreamAgentEventsResponseSchema,
} from '../../../proto/gen/waf/v1/agent_pb.ts';
import { noting, ResponseFacts } from '../../../test/support/response-facts.ts';
import { expectRow, readRuleRows, RuleTable } from '../../../test/support/rule-table.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import {
  enrollTestNode,
  helloOf,
  issueTestToken,
  nodeTransport,
  openTestStream,
  type TestNode,
  type TestStream,
} from '../../../test/support/test-node.ts';

const methods = [AgentService, AgentGroupService].flatMap((service) => service.methods);
const facts = new ResponseFacts();
let waf: TestControl;

beforeAll(async () => {
  waf = noting(await startTestControl({ managementTls: 'own' }), facts, methods);
});
afterAll(() => waf.control.close());

const until = (check: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 120_000, interval: 50 });
const ask = async (rpc: string, body: object): Promise<Record<string, unknown>> => {
  const answer = await waf.call(rpc, body);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
};

const noEngine = 'the built-in node has no engine here; summaries are made by the same function';
const oneTenant = 'there is one tenant';
const exact = 'nodes with another one are refused';
const ofDeployment = 'of the deployment, the same for all of its nodes';
/** Fields with one value, and why. */
const constants: Readonly<Record<string, string>> = {
  'Agent.deletedAt': 'a node that was deleted is not shown',
  'Agent.tenantId': oneTenant,
  'AgentCapabilities.artifactFormat': exact,
  'AgentCapabilities.metricPayloadVersion': exact,
  'AgentCapabilities.version': exact,
  'AgentGroup.tenantId': oneTenant,
  'ConfigBundle.agentId': 'the question names no node: that of the built-in one',
  'ConfigBundle.appliedAt': noEngine,
  'ConfigBundle.applyError': noEngine,
  'ConfigBundle.applyResult': noEngine,
  'ConfigBundle.deliveredAt': noEngine,
  'ConfigBundle.tenantId': oneTenant,
  'ConfigBundleSummary.tenantId': oneTenant,
  'CreateNodeInstallationResponse.platform': 'that of this program, which nodes download',
  'CreateNodeInstallationResponse.proxyHttpAddr': 'where every new node listens',
  'CreateNodeInstallationResponse.proxyHttpsAddr': 'where every new node listens',
  'EnrollResponse.bundleSigningPublicKey': ofDeployment,
  'EnrollResponse.caCertPem': ofDeployment,
  'GetNodeCapabilitiesResponse.foundationSupported': 'no program supports it',
};

test('every field of the services of nodes follows a fact', async () => {
  const table = new RuleTable();
  for (const row of readRuleRows(new URL('node-rules.jsonl', import.meta.url))) {
    await expectRow(table, waf, row);
  }
  const token = await issueTestToken(waf, 10);
  const nodes = [
    await enrollTestNode(waf, token, 'left'),
    await enrollTestNode(waf, token, 'right'),
  ];
  const streams = nodes.map((node, at) => connected(node, at));
  const events = watchEvents();
  for (const [at, stream] of streams.entries()) await speak(nodes[at]!, stream, at);
  await readNodes(nodes);
  for (const { id } of nodes) await ask('AgentService/RetryNodeConfig', { nodeId: id });
  await useGroups(nodes);
  streams[0]!.end();
  await until(async () => {
    const { items } = await ask('AgentService/ListNodes', { query: nodes[0]!.id });
    expect(items).toMatchObject([{ connectionStatus: 'OFFLINE' }]);
  });
  await enrollAnother(token);
  await publishAgain();
  await readNodes(nodes);
  await ask('AgentService/DeleteAgent', { id: nodes[1]!.id });
  await streams[1]!.ended;
  await events.end();
  expect(facts.constant(methods)).toEqual(Object.keys(constants).sort());
}, 300_000);

function connected(node: TestNode, at: number): TestStream {
  const others = { controlFormat: 'c', bodyModes: ['d'], schemaIrs: ['e'], resolverVersion: 8 };
  const other = { ...ownCapabilities, ...others };
  const capabilities = at === 0 ? ownCapabilities : other;
  const transport = nodeTransport(waf.control.managementPort, node, node);
  return openTestStream(transport, helloOf(node, { version: `1.${at}.0`, capabilities }));
}

/** Says what a node says, with other figures for each. */
async function speak(node: TestNode, stream: TestStream, at: number): Promise<void> {
  const updates = () =>
    stream.heard.flatMap(({ message }) => (message.case === 'configUpdate' ? [message.value] : []));
  const grants = () =>
    stream.heard.flatMap(({ message }) => (message.case === 'servingGrant' ? [message.value] : []));
  await until(() => expect([updates().length, grants().length]).toEqual([1, 1]));
  const { revision: targetRevision, bundleSha256: artifactSha256 } = updates()[0]!;
  stream.say({ case: 'metricsPush', value: { agentId: node.id, metrics: metricsOf(at) } });
  const failed = {
    targetRevision,
    artifactSha256,
    success: at === 1,
    error: at === 1 ? '' : 'full',
  };
  stream.say({ case: 'applyResult', value: failed });
  if (at === 1) {
    const grantSha256 = createHash('sha256').update(grants()[0]!.grant).digest('hex');
    stream.say({ case: 'servingGrantAck', value: { revision: 1n, grantSha256 } });
  }
  await until(async () => {
    const { items } = await ask('AgentService/ListNodes', { query: node.id });
    expect(items).toMatchObject([{ applyResult: at === 1 ? 'success' : 'failure', metrics: {} }]);
  });
}

function metricsOf(at: number) {
  const count = BigInt(at + 1);
  return {
    ...{ cpuPercent: 10 + at, memoryPercent: 20 + at, activeConnections: count },
    ...{ requestsPerSecond: count, blockedPerSecond: count, bandwidthInBps: count },
    ...{ bandwidthOutBps: count, memoryTotalBytes: count * 100n, memoryUsedBytes: count },
    ...{ goroutines: at + 3, wafAgentCpuPercent: 1 + at, wafEngineDemandPercent: 2 + at },
    ...{ wafPhaseP99Millis: count, wafOverloadState: at === 0 ? 'NORMAL' : 'SHEDDING' },
    ...{ wafOverloadAction: at === 0 ? 'NONE' : 'FAIL_OPEN', wafProbePercent: 50 + at },
    observationHealth: {
      ...{ state: at === 0 ? 'HEALTHY' : 'DEGRADED', pendingBatches: count, pendingBytes: count },
      ...{ evictedBatches: count, gapNotices: count, lastAckAgeMillis: count },
      ...{ quarantinedStreams: at === 0 ? [] : ['METRIC'], coverageIncomplete: at === 1 },
    },
  };
}

/** Every question about nodes, for the local one and those that are connected. */
async function readNodes(nodes: readonly TestNode[]): Promise<void> {
  await ask('AgentService/ListNodes', {});
  await ask('AgentService/ListNodes', { localOnly: true });
  await ask('AgentService/ListAgents', { page: { pageSize: 1 } });
  for (const nodeId of ['local', ...nodes.map(({ id }) => id)]) {
    for (const rpc of ['GetNodeCapabilities', 'GetNodeServingState', 'ListNodeMetricSamples']) {
      await ask(`AgentService/${rpc}`, { nodeId });
    }
    const { items = [] } = await ask('AgentService/ListConfigBundles', { nodeId });
    for (const { id } of items as { id: string }[])
      await ask('AgentService/GetConfigBundle', { id });
  }
  for (const { id } of nodes) {
    await ask('AgentService/GetAgent', { id });
  }
}

async function useGroups(nodes: readonly TestNode[]): Promise<void> {
  for (const [at, { id }] of nodes.entries()) {
    const selector = at === 0 ? { matchAgentIds: [id] } : { matchTags: ['edge'] };
    const made = await ask('AgentGroupService/CreateAgentGroup', {
      group: { name: `g${at}`, selector },
    });
    const group = made['group'] as { id: string; name: string };
    await ask('AgentGroupService/GetAgentGroup', { id: group.id });
    await ask('AgentGroupService/ResolveAgentGroup', { id: group.id });
    await ask('AgentGroupService/UpdateAgentGroup', { group: { ...group, name: `h${at}` } });
    await ask('AgentGroupService/ListAgentGroups', {});
    await ask('AgentGroupService/ListAgentGroups', { page: { pageSize: 1 } });
    await ask('AgentGroupService/DeleteAgentGroup', { id: group.id });
  }
}

/** A node on another system, which enrolls over the network. */
async function enrollAnother(enrollmentToken: string): Promise<void> {
  const system = { hostname: 'mac', os: 'darwin', arch: 'arm64', version: '2.0.0' };
  const asked = { enrollmentToken, fingerprint: 'third', ...system };
  const body = JSON.stringify(asked);
  const { managementPort: port } = waf.control;
  const answer = await overTls(port, '/waf.v1.AgentService/Enroll', body);
  expect(answer).toBe(200);
}

/** Another configuration than the first one. */
async function publishAgain(): Promise<void> {
  const { items } = await ask('AgentService/ListConfigBundles', {});
  const before = (items as object[]).length;
  const upstreams = [{ inline: { url: 'http://127.0.0.1:1', weight: 1 } }];
  const site = { name: 'second', primaryHost: 'second.example', upstreams };
  await ask('SiteService/CreateSite', { site: { ...site, status: 'RESOURCE_STATUS_ACTIVE' } });
  await until(async () => {
    const now = await ask('AgentService/ListConfigBundles', { page: { page: 1, pageSize: 5 } });
    expect((now['items'] as object[]).length).toBeGreaterThan(before);
  });
  await ask('AgentService/ListConfigBundles', { page: { page: 2, pageSize: 1 } });
  await askWhilePublishing();
}

/** Changes something and asks at once, until an answer comes before the publication. */
async function askWhilePublishing(): Promise<void> {
  let made = 0;
  await until(async () => {
    made++;
    const upstreams = [{ inline: { url: 'http://127.0.0.1:1', weight: 1 } }];
    const site = { name: `more${made}`, primaryHost: `more${made}.example`, upstreams };
    await ask('SiteService/CreateSite', { site: { ...site, status: 'RESOURCE_STATUS_ACTIVE' } });
    const state = await ask('AgentService/GetNodeServingState', { nodeId: 'local' });
    expect(state['publishing']).toBe(true);
  });
}

/** Posts JSON over the network, whatever the certificate; resolves to the status. */
async function overTls(port: number, path: string, body: string): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const options = { host: '127.0.0.1', port, path, method: 'POST', headers };
  const call = request({ ...options, rejectUnauthorized: false, agent: false });
  call.end(body);
  const [response] = (await once(call, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'end');
  return response.statusCode ?? 0;
}

/** Listens to events of nodes until `end`, and notes them. */
function watchEvents(): { end(): Promise<void> } {
  const transport = createConnectTransport({
    baseUrl: 'http://localhost',
    httpVersion: '2',
    nodeOptions: { createConnection: () => connectSocket(waf.socket) },
  });
  const abort = new AbortController();
  const run = async (): Promise<void> => {
    try {
      const client = createClient(AgentService, transport);
      for await (const one of client.streamAgentEvents({}, { signal: abort.signal })) {
        facts.noteMessage(StreamAgentEventsResponseSchema, one);
      }
    } catch (error) {
      if (!abort.signal.aborted) throw error;
    }
  };
  const running = run();
  return {
    end: () => {
      abort.abort();
      return running;
    },
  };
}
