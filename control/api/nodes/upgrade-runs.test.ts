/**
 * Upgrade runs through the API, with nodes whose streams the test speaks: orders, waves, results,
 * downloads, canceling, and a controller that starts again in between.
 */

import { createHash } from 'node:crypto';
import { get } from 'node:https';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { controllerServerName } from '../../../base/node-identity.ts';
import { makeSignature, publicKeyOf } from '../../../base/minisign.ts';
import type { AgentCommand } from '../../../proto/gen/waf/v1/agent_stream_pb.ts';
import {
  StreamUpgradeRunResponseSchema,
  SystemService,
  UpgradeRunEventKind,
} from '../../../proto/gen/waf/v1/system_pb.ts';
import {
  enrollTestNode,
  helloOf,
  issueTestToken,
  nodeTransport,
  openTestStream,
  type TestNode,
  type TestStream,
} from '../../../test/support/test-node.ts';
import { noting, ResponseFacts } from '../../../test/support/response-facts.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

const [keyId, seed] = [Buffer.alloc(8, 7), Buffer.alloc(32, 9)];
const archive = gzipSync('a release');
const sha256 = createHash('sha256').update(archive).digest('hex');
const releaseId = 'release-2.0.0-linux-x64';
const nodes: TestNode[] = [];
const streams = new Map<string, TestStream>();
let waf: TestControl;
const facts = new ResponseFacts();
const { method } = SystemService;
const methods = [
  ...[method.applyBinaryRelease, method.rollbackBinaryRelease, method.listUpgradeRuns],
  ...[method.getUpgradeRun, method.streamUpgradeRun, method.cancelUpgradeRun],
];
/** Fields with one value, and why. */
const constants: Readonly<Record<string, string>> = {
  'CancelUpgradeRunResponse.run': 'asked once; the fields of runs vary',
  'RollbackBinaryReleaseResponse.run': 'asked once; the fields of runs vary',
};

beforeAll(async () => {
  const control = await startTestControl({ managementTls: 'own', demoOrigin: null });
  waf = noting(control, facts, methods);
  const token = await issueTestToken(waf, 10);
  for (const name of ['a', 'b', 'c']) nodes.push(await enrollTestNode(waf, token, name));
  const values = { 'release.trusted_keys': [publicKeyOf(keyId, seed).text] };
  await waf.call('SystemService/UpdateSystemSettings', { values });
  await importRelease('linux', 'x64');
  await importRelease('linux', 'arm64');
});
afterAll(async () => {
  for (const stream of streams.values()) stream.end();
  await waf.control.close();
});

function importRelease(platform: string, arch: string) {
  const digest = createHash('blake2b512').update(archive).digest();
  const comment = `waf-release version=2.0.0 channel=stable platform=${platform} arch=${arch}`;
  const signature = makeSignature(keyId, seed, digest, comment);
  const tarball = archive.toString('base64');
  return waf.call('SystemService/ImportBinaryRelease', { tarball, signature });
}

const until = (check: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 120_000, interval: 20 });

/** A connection of a node that says which version it runs. */
async function connect(node: TestNode, version: string): Promise<TestStream> {
  streams.get(node.id)?.end();
  const transport = nodeTransport(waf.control.managementPort, node, node);
  const stream = openTestStream(transport, helloOf(node, { version }));
  streams.set(node.id, stream);
  await until(() => expect(stream.heard[0]?.message.case).toBe('welcome'));
  return stream;
}

const commandsOf = (stream: TestStream | undefined): AgentCommand[] =>
  (stream?.heard ?? []).flatMap(({ message }) =>
    message.case === 'command' ? [message.value] : [],
  );

async function ordered(node: TestNode): Promise<AgentCommand> {
  await until(() => expect(commandsOf(streams.get(node.id))).toHaveLength(1));
  return commandsOf(streams.get(node.id))[0]!;
}

const answer = (node: TestNode, commandId: string, success: boolean, error = ''): void =>
  streams.get(node.id)?.say({ case: 'commandResult', value: { commandId, success, error } });

/** Resolves when control has taken what a node said until now: messages are taken in order. */
async function taken(node: TestNode): Promise<void> {
  const stream = streams.get(node.id);
  const header = { bootId: new Uint8Array(16), batchSeq: 1n };
  stream?.say({ case: 'observationBatch', value: { header, payload: new Uint8Array() } });
  await until(() =>
    expect(stream?.heard.some(({ message }) => message.case === 'batchAck')).toBe(true),
  );
}

async function begin(rpc: string, body: object): Promise<string> {
  const { body: answered, text } = await waf.call(`SystemService/${rpc}`, body);
  const run = answered['run'] as { id: string; status: string } | undefined;
  expect(run?.status, text).toBe('UPGRADE_RUN_STATUS_RUNNING');
  return run!.id;
}

async function runOf(id: string): Promise<Record<string, unknown>> {
  const { body } = await waf.call('SystemService/GetUpgradeRun', { id });
  return body['run'] as Record<string, unknown>;
}

const ends = (id: string, status: string): Promise<void> =>
  until(async () =>
    expect(await runOf(id)).toMatchObject({ status: `UPGRADE_RUN_STATUS_${status}` }),
  );

async function eventsOf(runId: string): Promise<{ kind: string; payload: object }[]> {
  const { createClient } = await import('@connectrpc/connect');
  const { createConnectTransport } = await import('@connectrpc/connect-node');
  const { connect: connectSocket } = await import('node:net');
  const transport = createConnectTransport({
    baseUrl: 'http://control',
    httpVersion: '2',
    nodeOptions: { createConnection: () => connectSocket(waf.socket) },
  });
  const found: { kind: string; payload: object }[] = [];
  const client = createClient(SystemService, transport);
  for await (const one of client.streamUpgradeRun({ runId })) {
    facts.noteMessage(StreamUpgradeRunResponseSchema, one);
    const { event } = one;
    const named = Object.entries(UpgradeRunEventKind).find(([, value]) => value === event?.kind);
    found.push({ kind: named?.[0] ?? '', payload: event?.payload ?? {} });
  }
  return found;
}

function download(node: TestNode, path: string, shown: boolean): Promise<[number, Buffer]> {
  const tls = shown ? { cert: node.cert, key: node.key } : {};
  const port = waf.control.managementPort;
  const where = { host: '127.0.0.1', port, path, servername: controllerServerName, ca: node.ca };
  return new Promise((resolve, reject) => {
    get({ ...where, ...tls, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => resolve([response.statusCode ?? 0, Buffer.concat(pieces)]));
    }).on('error', reject);
  });
}

const refusals: readonly (readonly [string, string, () => object, string, string])[] = [
  ['an unknown release', 'ApplyBinaryRelease', () => ({ releaseId: 'x' }), 'not_found', 'release'],
  [
    'an unknown node',
    'ApplyBinaryRelease',
    () => ({ releaseId, agentIds: ['x'] }),
    'not_found',
    'agent',
  ],
  [
    'the built-in node',
    'ApplyBinaryRelease',
    () => ({ releaseId, agentIds: ['local'] }),
    'invalid_argument',
    'agentIds: the built-in node',
  ],
  [
    'a node named twice',
    'ApplyBinaryRelease',
    () => ({ releaseId, agentIds: [nodes[0]!.id, nodes[0]!.id] }),
    'invalid_argument',
    'agentIds: must not name a node twice',
  ],
  [
    'a release for another machine',
    'ApplyBinaryRelease',
    () => ({ releaseId: 'release-2.0.0-linux-arm64', agentIds: [nodes[0]!.id] }),
    'invalid_argument',
    'agentIds: ',
  ],
  [
    'a release that no node is for',
    'ApplyBinaryRelease',
    () => ({ releaseId: 'release-2.0.0-linux-arm64' }),
    'failed_precondition',
    'no node is of its platform',
  ],
  [
    'a rollback where nothing was upgraded',
    'RollbackBinaryRelease',
    () => ({}),
    'failed_precondition',
    'no node was upgraded',
  ],
  ['an unknown run', 'GetUpgradeRun', () => ({ id: 'x' }), 'not_found', 'upgrade run'],
  ['an unknown run to cancel', 'CancelUpgradeRun', () => ({ runId: 'x' }), 'not_found', 'upgrade'],
];
test.each(refusals)('%s is refused', async (_, rpc, body, code, says) => {
  const { body: answered } = await waf.call(`SystemService/${rpc}`, body());
  expect(answered['code']).toBe(code);
  expect(answered['message']).toContain(says);
});

test('a run orders wave by wave, counts what nodes really run, and stops at a failure', async () => {
  const [a, b, c] = nodes as [TestNode, TestNode, TestNode];
  for (const node of nodes) await connect(node, '1.0.0');
  const run = await begin('ApplyBinaryRelease', { releaseId, agentIds: [a.id, b.id, c.id] });
  const command = await ordered(a);
  expect(command).toMatchObject({ id: run, agentId: a.id });
  expect(command.payload).toMatchObject({
    release_id: releaseId,
    version: '2.0.0',
    sha256,
    size_bytes: String(archive.length),
    download_path: `/bootstrap/binary?release=${releaseId}`,
  });
  expect(commandsOf(streams.get(b.id))).toEqual([]);

  // One run at a time, and its file stays.
  const second = await waf.call('SystemService/ApplyBinaryRelease', { releaseId });
  expect(second.body).toMatchObject({ code: 'failed_precondition' });
  const gone = await waf.call('SystemService/DeleteBinaryRelease', { id: releaseId });
  expect(gone.body).toMatchObject({ code: 'failed_precondition' });

  // The download is for enrolled nodes, and is the file that was imported.
  const path = command.payload?.['download_path'] as string;
  const [status, file] = await download(a, path, true);
  expect([status, file.equals(archive)]).toEqual([200, true]);
  expect((await download(a, path, false))[0]).toBe(403);
  expect((await download(a, '/bootstrap/binary?release=x', true))[0]).toBe(404);

  // Over a new connection the order comes again; the result counts with the version that it says.
  await connect(a, '2.0.0');
  await ordered(a);
  answer(a, run, true);
  await ordered(b);
  await ordered(c);
  answer(c, run, false, 'the file has another SHA-256');
  await taken(c);
  // It says that it succeeded, but runs what it ran.
  answer(b, run, true);
  await ends(run, 'FAILED');
  const events = await eventsOf(run);
  expect(events.map(({ kind }) => kind)).toEqual([
    'WAVE_STARTED',
    'NODE_UPDATED',
    'WAVE_COMPLETED',
    'WAVE_STARTED',
    'NODE_FAILED',
    'NODE_FAILED',
    'RUN_FAILED',
  ]);
  expect(events[4]?.payload).toMatchObject({ agentId: c.id, wave: 2 });
  expect(events[5]?.payload).toMatchObject({ error: 'the node runs 1.0.0 after the upgrade' });
});

test('applying again continues with the nodes that are left; canceling ends it', async () => {
  const [a, b, c] = nodes as [TestNode, TestNode, TestNode];
  await connect(b, '1.0.0');
  await connect(c, '1.0.0');
  const run = await begin('ApplyBinaryRelease', { releaseId });
  expect(commandsOf(streams.get(a.id)).some(({ id }) => id === run)).toBe(false);
  await until(() => {
    const orders = [b, c].flatMap((node) => commandsOf(streams.get(node.id)));
    expect(orders.map(({ id }) => id)).toEqual([run]);
  });
  const { body } = await waf.call('SystemService/CancelUpgradeRun', { runId: run });
  expect(body['run']).toMatchObject({ status: 'UPGRADE_RUN_STATUS_CANCELED' });
  const again = await waf.call('SystemService/CancelUpgradeRun', { runId: run });
  expect(again.body).toMatchObject({ code: 'failed_precondition' });
  expect((await eventsOf(run)).at(-1)).toMatchObject({ kind: 'RUN_CANCELED' });
  const { body: listed } = await waf.call('SystemService/ListUpgradeRuns', {});
  expect((listed['items'] as { id: string }[])[0]?.id).toBe(run);
  expect((listed['items'] as unknown[]).length).toBe(2);
});

test('a rollback goes to the nodes that a run upgraded', async () => {
  const [a] = nodes as [TestNode];
  await connect(a, '2.0.0');
  const run = await begin('RollbackBinaryRelease', {});
  expect(await runOf(run)).toMatchObject({ targetVersion: '1.0.0' });
  const command = await ordered(a);
  expect(command.payload).toEqual({ rollback: true });
  await connect(a, '1.0.0');
  answer(a, run, true);
  await ends(run, 'SUCCEEDED');
});

test('late results change nothing; a deleted node fails its run', async () => {
  const [a, b] = nodes as [TestNode, TestNode];
  const { body } = await waf.call('SystemService/ListUpgradeRuns', {});
  const ids = (body['items'] as { id: string }[]).map(({ id }) => id);
  const before = await Promise.all(ids.map(eventsOf));
  for (const id of ['x', ...ids]) answer(a, id, false, 'late');
  // A breach ends the stream when all that came before it is taken.
  streams.get(a.id)?.say(undefined);
  expect(await streams.get(a.id)?.ended).toContain('message');

  streams.get(b.id)?.end();
  const run = await begin('ApplyBinaryRelease', { releaseId, agentIds: [b.id] });
  await waf.call('AgentService/DeleteAgent', { id: b.id });
  await ends(run, 'FAILED');
  const failed = (await eventsOf(run)).find(({ kind }) => kind === 'NODE_FAILED');
  expect(failed?.payload).toMatchObject({ error: 'the node was deleted' });
  expect(await Promise.all(ids.map(eventsOf))).toEqual(before);
});

test('every field of these answers follows a fact', async () => {
  for (const page of [{ pageSize: 1 }, { page: 2, pageSize: 1 }]) {
    expect((await waf.call('SystemService/ListUpgradeRuns', { page })).status).toBe(200);
  }
  expect(facts.constant(methods)).toEqual(Object.keys(constants).sort());
});
