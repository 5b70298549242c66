/**
 * Streams of enrolled nodes over mutual TLS: who is admitted, what is granted, and a hostile node
 * with every message of the protocol. Each row of the tables is one sentence.
 */

import { createHash, verify } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { EvidenceUploadService } from '../../../proto/gen/waf/v1/evidence_upload_pb.ts';
import { controllerServerName } from '../../../base/node-identity.ts';
import { readServingGrant } from '../../../base/serving-grant.ts';
import { publicKeyFromRaw } from '../../../engine/bundle/keys.ts';
import {
  enrollTestNode,
  helloOf,
  issueTestToken,
  nodeTransport,
  openTestStream,
  type Said,
  type TestNode,
  type TestStream,
} from '../../../test/support/test-node.ts';
import { makeTestCertificate } from '../../../test/support/test-certificates.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

let waf: TestControl;
let token: string;
let good: TestNode;
let other: TestNode;
let count = 0;

beforeAll(async () => {
  waf = await startTestControl({ managementTls: 'own' });
  token = await issueTestToken(waf, 200);
  good = await enrollTestNode(waf, token, 'good');
  other = await enrollTestNode(waf, token, 'other');
});
afterAll(() => waf.control.close());

const port = (): number => waf.control.managementPort;
const freshNode = (): Promise<TestNode> => enrollTestNode(waf, token, `fresh-${++count}`);
const open = (node: TestNode, hello = helloOf(node), shown: object = node): TestStream =>
  openTestStream(nodeTransport(port(), node, shown), hello);
const until = (check: () => void | Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 120_000, interval: 20 });

async function nodeOf(id: string): Promise<Record<string, unknown>> {
  const { body } = await waf.call('AgentService/ListNodes', { query: id });
  return (body['items'] as Record<string, unknown>[])[0] ?? {};
}

describe('a data folder that was copied', () => {
  const runOf = (node: TestNode, runId: string): TestStream => open(node, helloOf(node, { runId }));
  const welcomed = (stream: TestStream): Promise<void> =>
    until(() => expect(stream.heard[0]?.message.case).toBe('welcome'));

  test('a second run is refused with a sentence, and the first continues', async () => {
    const node = await freshNode();
    const first = runOf(node, 'first');
    await welcomed(first);
    expect(await runOf(node, 'second').ended).toContain('its data folder was copied');
    expect((await nodeOf(node.id))['connectionStatus']).toBe('CONNECTED');
    const evidence = createClient(EvidenceUploadService, nodeTransport(port(), node, node));
    const { id: agentId, streamToken } = node;
    const hello = { case: 'hello', value: { agentId, streamToken, runId: 'second' } } as const;
    const uploading = async (): Promise<void> => {
      async function* says() {
        yield { message: hello };
      }
      for await (const _answer of evidence.upload(says())) continue;
    };
    await expect(uploading()).rejects.toThrow('its data folder was copied');
    first.end();
  });

  test('the same run takes its own place, and another one comes when the first has left', async () => {
    const node = await freshNode();
    const first = runOf(node, 'first');
    await welcomed(first);
    const again = runOf(node, 'first');
    await welcomed(again);
    again.end();
    await until(async () =>
      expect((await nodeOf(node.id))['connectionStatus']).not.toBe('CONNECTED'),
    );
    const second = runOf(node, 'second');
    await welcomed(second);
    second.end();
  });
});

describe('who is admitted', () => {
  const rows: readonly (readonly [string, () => TestStream | Promise<TestStream>, string])[] = [
    ['a node without a certificate', () => open(good, helloOf(good), {}), 'not enrolled'],
    [
      'a node with the certificate of another',
      () => open(good, helloOf(good), { cert: other.cert, key: other.key }),
      'not enrolled',
    ],
    [
      'a node that claims to be another',
      () => open(good, helloOf(good, { agentId: other.id })),
      'not enrolled',
    ],
    [
      'a node that claims to be the built-in one',
      () => open(good, helloOf(good, { agentId: 'local' })),
      'not enrolled',
    ],
    [
      'a node without a token',
      () => open(good, helloOf(good, { streamToken: '' })),
      'not enrolled',
    ],
    [
      'a node with the token of another',
      () => open(good, helloOf(good, { streamToken: other.streamToken })),
      'not enrolled',
    ],
    [
      'a certificate of another authority for the same name',
      async () => {
        const root = await makeTestCertificate({ subject: 'CN=root', authority: true });
        const own = await makeTestCertificate({ subject: `CN=${good.id}`, issuer: root });
        return open(good, helloOf(good), own);
      },
      'not enrolled',
    ],
    [
      'another observation protocol',
      () => open(good, helloOf(good, { observationProtocolVersion: 2 })),
      'observationProtocolVersion',
    ],
    [
      'another metric payload',
      () => open(good, helloOf(good, { capabilities: { version: 1, metricPayloadVersion: 8 } })),
      'capabilities',
    ],
    ['no capabilities', () => open(good, helloOf(good, { capabilities: {} })), 'capabilities'],
    ['another first message', () => open(good, { case: 'pingAck', value: {} }), 'hello'],
  ];
  test.each(rows)('%s is refused', async (_, start, says) => {
    const stream = await start();
    expect(await stream.ended).toContain(says);
    expect(stream.heard).toEqual([]);
  });

  test('a certificate that enrollment replaced counts no more', async () => {
    const node = await freshNode();
    await enrollTestNode(waf, token, `fresh-${count}`, node);
    expect(await open(node).ended).toContain('not enrolled');
  });

  test('none of it harmed the good node', async () => {
    const stream = open(good);
    await until(() => expect(stream.heard[0]?.message.case).toBe('welcome'));
    expect(await nodeOf(good.id)).toMatchObject({ connectionStatus: 'CONNECTED' });
    stream.end();
  });
});

describe('a hostile node', () => {
  const boot = new Uint8Array(16);
  const sha = 'a'.repeat(64);
  const batch = (header: object, payload = new Uint8Array()): Said => ({
    case: 'observationBatch',
    value: { header: { bootId: boot, ...header }, payload },
  });
  const breaches: readonly (readonly [string, (node: TestNode) => Said, string])[] = [
    ['says hello twice', (node) => helloOf(node), 'hello'],
    ['says nothing', () => undefined, 'message'],
    [
      'reports for another',
      () => ({ case: 'stateReport', value: { agentId: other.id } }),
      'stateReport',
    ],
    ['reports for nobody', () => ({ case: 'stateReport', value: {} }), 'stateReport'],
    [
      'pushes metrics of another',
      () => ({ case: 'metricsPush', value: { agentId: other.id } }),
      'metricsPush',
    ],
    [
      'applies without a revision',
      () => ({ case: 'applyResult', value: { success: true, artifactSha256: sha } }),
      'applyResult.targetRevision',
    ],
    [
      'applies a negative revision',
      () => ({ case: 'applyResult', value: { targetRevision: -1n, artifactSha256: sha } }),
      'applyResult.targetRevision',
    ],
    [
      'applies without an artifact',
      () => ({ case: 'applyResult', value: { targetRevision: 1n } }),
      'applyResult.artifactSha256',
    ],
    [
      'sends a batch without a header',
      () => ({ case: 'observationBatch', value: {} }),
      'observationBatch.header',
    ],
    ['sends a batch of no run', () => batch({ bootId: new Uint8Array() }), 'bootId'],
    ['sends a batch of an endless run', () => batch({ bootId: new Uint8Array(65) }), 'bootId'],
    ['sends a huge batch', () => batch({}, new Uint8Array(5 << 20)), 'payload'],
    ['tells of a gap of no run', () => ({ case: 'gapNotice', value: {} }), 'gapNotice.bootId'],
    [
      'tells of a gap that ends before it begins',
      () => ({ case: 'gapNotice', value: { bootId: boot, firstItemSeq: 5n, lastItemSeq: 1n } }),
      'gapNotice.lastItemSeq',
    ],
  ];
  test.each(breaches)('that %s is cut off, and shown to be in error', async (_, message, says) => {
    const node = await freshNode();
    const stream = open(node);
    await until(() => expect(stream.heard.length).toBeGreaterThan(0));
    stream.say(message(node));
    expect(await stream.ended).toContain(says);
    const shown = await nodeOf(node.id);
    expect(String(shown['applyError'])).toContain(says);
  });

  const answered: readonly (readonly [string, Said, (stream: TestStream) => void])[] = [
    [
      'a batch of an unknown stream',
      batch({ streamKind: 99, batchSeq: 1n }),
      ({ heard }) => expect(lastAck(heard)).toMatchObject({ status: 5 }),
    ],
    [
      'a damaged batch',
      batch({ streamKind: 2, batchSeq: 1n, payloadSchemaVersion: 1, crc32c: 1 }),
      ({ heard }) => expect(lastAck(heard)).toMatchObject({ status: 4, errorCode: 6 }),
    ],
    [
      'a batch of another version',
      batch({ streamKind: 1, batchSeq: 1n, payloadSchemaVersion: 8 }),
      ({ heard }) => expect(lastAck(heard)).toMatchObject({ status: 4, errorCode: 7 }),
    ],
    [
      'a grant that was never sent, confirmed',
      { case: 'servingGrantAck', value: { revision: 1n, grantSha256: sha } },
      () => undefined,
    ],
    [
      'an answer to no challenge',
      { case: 'challengeResponse', value: { token: 'x', served: true } },
      () => undefined,
    ],
    [
      'the result of no command',
      { case: 'commandResult', value: { commandId: 'none', success: true } },
      () => undefined,
    ],
    ['an answer to no ping', { case: 'pingAck', value: { nonce: 'x' } }, () => undefined],
  ];
  test.each(answered)('%s changes nothing', async (_, message, check) => {
    const node = await freshNode();
    const stream = open(node);
    await until(() => expect(stream.heard.length).toBeGreaterThan(0));
    stream.say(message);
    await until(() => check(stream));
    const state = await waf.call('AgentService/GetNodeServingState', { nodeId: node.id });
    expect(state.body['acknowledged']).toBeUndefined();
    stream.end();
  });

  const lastAck = (heard: TestStream['heard']): object => {
    const found = heard.findLast(({ message }) => message.case === 'batchAck')?.message.value;
    if (found === undefined) throw new Error('no acknowledgement yet');
    return found;
  };

  test('bytes that are no message end its stream alone', async () => {
    const node = await freshNode();
    const stays = open(good);
    await until(() => expect(stays.heard.length).toBeGreaterThan(0));
    const noise = Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 131) & 0xff));
    const status = await post(node, '/waf.v1.AgentStreamService/Connect', noise);
    expect(status).toBeGreaterThan(0);
    expect(await nodeOf(good.id)).toMatchObject({ connectionStatus: 'CONNECTED' });
    stays.end();
  });
});

describe('grants and configurations', () => {
  test('a node is granted what it is sent, and confirms that very grant', async () => {
    const node = await freshNode();
    const stream = open(node);
    const grants = (): (readonly [Uint8Array, Uint8Array])[] =>
      stream.heard.flatMap(({ message }) =>
        message.case === 'servingGrant' ? [[message.value.grant, message.value.signature]] : [],
      );
    await until(() => expect(grants()).toHaveLength(1));
    const [[bytes, signature]] = grants() as [[Uint8Array, Uint8Array]];
    expect(verify(null, bytes, publicKeyFromRaw(node.signingKey), signature)).toBe(true);
    const grant = readServingGrant(bytes);
    const update = stream.heard.find(({ message }) => message.case === 'configUpdate')?.message;
    expect(grant).toMatchObject({ nodeId: node.id, siteIds: ['site-demo'] });
    expect(update?.value).toMatchObject({ bundleSha256: grant?.artifactSha256 });

    const state = () => waf.call('AgentService/GetNodeServingState', { nodeId: node.id });
    expect((await state()).body).toMatchObject({ assigned: true, remote: true });
    expect((await state()).body['acknowledged']).toBeUndefined();
    const grantSha256 = createHash('sha256').update(bytes).digest('hex');
    stream.say({ case: 'servingGrantAck', value: { revision: 99n, grantSha256 } });
    const revision = BigInt(grant!.revision);
    stream.say({ case: 'servingGrantAck', value: { revision, grantSha256 } });
    await until(async () => expect((await state()).body).toMatchObject({ acknowledged: true }));
    expect((await state()).body).toMatchObject({ grantSha256, artifactSha256: expect.anything() });
    stream.end();
  });

  test('a failed configuration is an error, delivered again to that node alone', async () => {
    const [node, bystander] = [await freshNode(), await freshNode()];
    const [stream, still] = [open(node), open(bystander)];
    const updates = ({ heard }: TestStream) =>
      heard.flatMap(({ message }) => (message.case === 'configUpdate' ? [message.value] : []));
    await until(() =>
      expect([updates(stream), updates(still)].map((u) => u.length)).toEqual([1, 1]),
    );
    const { revision: targetRevision, bundleSha256: artifactSha256 } = updates(stream)[0]!;
    const failed = { targetRevision, artifactSha256, success: false, error: 'disk: it is full' };
    stream.say({ case: 'applyResult', value: failed });
    await until(async () =>
      expect(await nodeOf(node.id)).toMatchObject({
        connectionStatus: 'DEGRADED',
        applyResult: 'failure',
        applyError: 'disk: it is full',
        attemptConfigHash: artifactSha256,
      }),
    );
    const again = await waf.call('AgentService/RetryNodeConfig', { nodeId: node.id });
    expect(again.body).toMatchObject({ result: { changed: true } });
    await until(() => expect(updates(stream)).toHaveLength(2));
    expect(updates(still)).toHaveLength(1);
    stream.say({ case: 'applyResult', value: { ...failed, success: true, error: '' } });
    await until(async () =>
      expect(await nodeOf(node.id)).toMatchObject({
        connectionStatus: 'CONNECTED',
        applyResult: 'success',
        proxyStatus: 'HEALTHY',
      }),
    );
    const enough = await waf.call('AgentService/RetryNodeConfig', { nodeId: node.id });
    expect((enough.body['result'] as { changed?: boolean }).changed).toBeUndefined();
    stream.end();
    still.end();
    await until(async () =>
      expect(await nodeOf(node.id)).toMatchObject({ connectionStatus: 'OFFLINE' }),
    );
  });
});

async function post(node: TestNode, path: string, body: Buffer): Promise<number> {
  const { connect } = await import('node:http2');
  const { ca, cert, key } = node;
  const session = connect(`https://127.0.0.1:${port()}`, {
    ca,
    cert,
    key,
    servername: controllerServerName,
  });
  try {
    return await new Promise<number>((resolve) => {
      const stream = session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/connect+proto',
      });
      stream.on('response', (head) => resolve(head[':status'] ?? 0));
      stream.on('error', () => resolve(1));
      stream.on('close', () => resolve(1));
      stream.end(body);
    });
  } finally {
    session.destroy();
  }
}
