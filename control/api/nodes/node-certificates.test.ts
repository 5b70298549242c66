/** What a node proves itself with: it ends with the node, and is renewed by the node. */

import { generateKeyPairSync, sign } from 'node:crypto';
import { get } from 'node:https';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { NodeService } from '../../../proto/gen/waf/runtime/v1/nodes_pb.ts';
import { PartService } from '../../../proto/gen/waf/runtime/v1/parts_pb.ts';
import { EvidenceUploadService } from '../../../proto/gen/waf/v1/evidence_upload_pb.ts';
import { controllerServerName, renewalText } from '../../../base/node-identity.ts';
import {
  enrollTestNode,
  helloOf,
  issueTestToken,
  nodeTransport,
  openTestStream,
  type TestNode,
  type TestStream,
} from '../../../test/support/test-node.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

let waf: TestControl;
let token: string;
let count = 0;

beforeAll(async () => {
  waf = await startTestControl({ managementTls: 'own' });
  token = await issueTestToken(waf, 200);
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

describe('a node goes', () => {
  test('deleting ends its stream at once, and nothing that it has counts any more', async () => {
    const node = await freshNode();
    const stream = open(node);
    await until(() => expect(stream.heard.length).toBeGreaterThan(0));
    await waf.call('AgentService/DeleteAgent', { id: node.id });
    expect(await stream.ended).toContain('deleted');
    expect(stream.heard.at(-1)?.message.case).toBe('goAway');
    expect(await open(node).ended).toContain('not enrolled');
    const transport = nodeTransport(port(), node, node);
    const parts = createClient(PartService, transport).fetchParts({ sha256: [] });
    await expect(drain(parts)).rejects.toThrow('not enrolled');
    const { id: agentId, streamToken } = node;
    const evidence = (async function* () {
      const hello = { case: 'hello', value: { agentId, streamToken } } as const;
      yield await Promise.resolve({ message: hello });
    })();
    const upload = createClient(EvidenceUploadService, transport).upload(evidence);
    await expect(drain(upload)).rejects.toThrow('not enrolled');
    const renewal = createClient(NodeService, transport).renewIdentity({ agentId, streamToken });
    await expect(renewal).rejects.toThrow('not enrolled');
    expect(await fetchStatus(node, '/bootstrap/binary')).toBe(403);
  });

  test('a second stream takes the place of the first', async () => {
    const node = await freshNode();
    const first = open(node);
    await until(() => expect(first.heard.length).toBeGreaterThan(0));
    const second = open(node);
    expect(await first.ended).toContain('another stream');
    await until(() => expect(second.heard[0]?.message.case).toBe('welcome'));
    expect(await nodeOf(node.id)).toMatchObject({ connectionStatus: 'CONNECTED' });
    second.end();
  });
});

describe('certificates', () => {
  test('a node renews with a key of its own; the one before counts once more', async () => {
    const node = await freshNode();
    const { id: agentId, streamToken } = node;
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const asked = {
      agentId,
      streamToken,
      publicKey: publicKey.export({ type: 'spki', format: 'der' }),
      proof: sign('sha256', renewalText(agentId), privateKey),
    };
    const client = createClient(NodeService, nodeTransport(port(), node, node));
    await expect(client.renewIdentity({ ...asked, proof: new Uint8Array(64) })).rejects.toThrow();
    await expect(client.renewIdentity({ ...asked, streamToken: '' })).rejects.toThrow();
    const { workloadCertPem } = await client.renewIdentity(asked);
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const renewed = { ...node, cert: Buffer.from(workloadCertPem).toString(), key };
    for (const one of [renewed, node]) {
      const stream = open(one);
      await until(() => expect(stream.heard[0]?.message.case).toBe('welcome'));
      stream.end();
    }
  });

  test('a node renews now and then only; answers that are lost leave it its certificate', async () => {
    const node = await freshNode();
    const client = createClient(NodeService, nodeTransport(port(), node, node));
    const renew = () => client.renewIdentity(renewalOf(node));
    await renew();
    await expect(renew()).rejects.toThrow('a node renews once in 10 minutes');
    const now = vi.spyOn(Date, 'now');
    try {
      for (let lost = 1; lost <= 3; lost++) {
        const atMs = performance.timeOrigin + performance.now() + lost * 11 * 60_000;
        now.mockReturnValue(Math.round(atMs));
        await renew();
      }
    } finally {
      now.mockRestore();
    }
    const stream = open(node);
    await until(() => expect(stream.heard[0]?.message.case).toBe('welcome'));
    stream.end();
  });

  test('people are shown no certificate of nodes, and need none', async () => {
    expect(await fetchStatus({ ca: '' }, '/healthz', { rejectUnauthorized: false })).toBe(200);
    expect(await fetchStatus({ ca: '' }, '/bootstrap/binary', { rejectUnauthorized: false })).toBe(
      403,
    );
  });
});

/** A renewal with a fresh key. */
function renewalOf({ id: agentId, streamToken }: TestNode) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    agentId,
    streamToken,
    publicKey: publicKey.export({ type: 'spki', format: 'der' }),
    proof: sign('sha256', renewalText(agentId), privateKey),
  };
}

async function drain(messages: AsyncIterable<unknown>): Promise<void> {
  for await (const message of messages) expect(message).toBeDefined();
}

function fetchStatus(node: Partial<TestNode>, path: string, more: object = {}): Promise<number> {
  const shown = { ca: node.ca, cert: node.cert, key: node.key, servername: controllerServerName };
  const at = { host: '127.0.0.1', port: port(), path, agent: false, ...shown, ...more };
  return new Promise((resolve, reject) => {
    get(at, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).on('error', reject);
  });
}
