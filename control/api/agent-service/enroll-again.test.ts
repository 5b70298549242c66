/** A node that enrolls again: with the key of its identity alone, and the first identity ends. */

import { generateKeyPairSync } from 'node:crypto';
import { createClient } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { PartService } from '../../../proto/gen/waf/runtime/v1/parts_pb.ts';
import {
  enrollTestNode,
  helloOf,
  issueTestToken,
  nodeTransport,
  openTestStream,
  proofOfKey,
  type TestNode,
  type TestStream,
} from '../../../test/support/test-node.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

let waf: TestControl;
let port = 0;

beforeAll(async () => {
  waf = await startTestControl({ managementTls: 'own' });
  port = waf.control.managementPort;
});
afterAll(() => waf.control.close());

const facts = { hostname: 'edge', os: 'linux', arch: 'x64', version: 'test' };
const enroll = async (body: object): Promise<Record<string, unknown>> =>
  (await waf.call('AgentService/Enroll', { ...facts, ...body })).body;
const otherKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string;
const transportOf = (node: TestNode) =>
  nodeTransport(port, node, { cert: node.cert, key: node.key });
const open = (node: TestNode): TestStream => openTestStream(transportOf(node), helloOf(node));
const welcomed = (stream: TestStream): Promise<void> =>
  vi.waitFor(() => expect(stream.heard[0]?.message.case).toBe('welcome'), { timeout: 120_000 });
const registered = async (token: string): Promise<unknown> =>
  (await waf.call('AgentService/GetNodeInstallStatus', { tokenId: token.split('.')[0] })).body[
    'registeredNodes'
  ];

test('a token and a fingerprint alone take no identity over, whichever token it is', async () => {
  const [used, roomy] = [await issueTestToken(waf, 1), await issueTestToken(waf, 5)];
  const node = await enrollTestNode(waf, used, 'known');
  const stream = open(node);
  await welcomed(stream);
  const refused = { code: 'permission_denied', message: expect.stringContaining('fingerprint:') };
  for (const enrollmentToken of [used, roomy]) {
    const asked = { enrollmentToken, fingerprint: 'known' };
    expect(await enroll(asked)).toMatchObject(refused);
    const proof = proofOfKey(otherKey(), 'known', enrollmentToken);
    expect(await enroll({ ...asked, ...proof })).toMatchObject(refused);
    const certificatePem = Buffer.from(node.cert).toString('base64');
    expect(await enroll({ ...asked, ...proof, certificatePem })).toMatchObject(refused);
  }
  // The key without its proof, or with the proof of another token or fingerprint.
  const { publicKey } = proofOfKey(node.key, 'known', used);
  for (const { proof } of [
    { proof: '' },
    proofOfKey(node.key, 'known', roomy),
    proofOfKey(node.key, 'another', used),
  ]) {
    const answer = await enroll({ enrollmentToken: used, fingerprint: 'known', publicKey, proof });
    expect(answer).toMatchObject({ code: 'invalid_argument' });
  }
  expect(await registered(used)).toBe(1);
  expect(await registered(roomy)).toBeUndefined();
  // The first identity is untouched.
  expect(stream.heard.some(({ message }) => message.case === 'goAway')).toBe(false);
  stream.end();
  const later = open(node);
  await welcomed(later);
  later.end();
});

test('with its key a node comes again, counts once, and its first identity ends', async () => {
  const token = await issueTestToken(waf, 1);
  const first = await enrollTestNode(waf, token, 'again');
  const stream = open(first);
  await welcomed(stream);
  const connection = transportOf(first);
  const second = await enrollTestNode(waf, token, 'again', first);
  expect(second.id).toBe(first.id);
  expect(second.streamToken).not.toBe(first.streamToken);
  expect(await registered(token)).toBe(1);
  // Its stream is closed; its token and its certificate count no more, on any connection.
  await stream.ended;
  expect(await open(first).ended).toContain('not enrolled');
  const mixed = openTestStream(transportOf(second), helloOf(first));
  expect(await mixed.ended).toContain('not enrolled');
  const parts = createClient(PartService, connection).fetchParts({ sha256: [] });
  await expect(async () => {
    for await (const part of parts) void part;
  }).rejects.toThrow(/not enrolled/);
  const present = open(second);
  await welcomed(present);
  present.end();
});

test('a key of the node itself never comes back; a lost answer is asked for again with it', async () => {
  const token = await issueTestToken(waf, 1);
  const key = otherKey();
  const asked = {
    enrollmentToken: token,
    fingerprint: 'own-key',
    ...proofOfKey(key, 'own-key', token),
  };
  const [lost, again] = [await enroll(asked), await enroll(asked)];
  for (const answer of [lost, again]) expect(answer['workloadKeyPem']).toBeUndefined();
  expect(again['agent']).toMatchObject({ id: (lost['agent'] as { id: string }).id });
  const { publicKey } = proofOfKey(otherKey(), 'own-key', token);
  const wrong = await enroll({ ...asked, publicKey });
  expect(wrong).toMatchObject({ code: 'invalid_argument' });
  expect(String(wrong['message'])).toMatch(/^proof:/);
});

test('of two that come again at once one is the identity; the other has to try again', async () => {
  const token = await issueTestToken(waf, 1);
  const node = await enrollTestNode(waf, token, 'twice');
  const asked = { enrollmentToken: token, fingerprint: 'twice' };
  const proof = proofOfKey(node.key, 'twice', token);
  const answers = await Promise.all([1, 2, 3].map(() => enroll({ ...asked, ...proof })));
  const done = answers.filter((answer) => answer['streamToken'] !== undefined);
  expect(done.length).toBeGreaterThan(0);
  for (const answer of answers) {
    if (answer['streamToken'] === undefined) expect(answer['code']).toBe('aborted');
  }
  expect(await registered(token)).toBe(1);
});
