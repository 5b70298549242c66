/**
 * Tests that uploads continue where they broke, over connections that break and a control that
 * starts anew, and that no node reaches into the uploads of another.
 */

import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLogger } from '../../../base/log.ts';
import { crc32c } from '../../../base/crc32c.ts';
import { evidenceLimits } from '../../../engine/base/observation-limits.ts';
import type { EvidenceRecord } from '../../../engine/contract/evidence.ts';
import {
  chunkMessage,
  commitMessage,
  manifestMessage,
  type UploadMessage,
} from '../../../engine/link/evidence-message.ts';
import { EvidenceUploads } from '../../../engine/link/evidence-uploads.ts';
import { Outbox } from '../../../base/outbox.ts';
import {
  EvidenceAckStatus,
  EvidenceUploadService,
  UploadRequestSchema,
  type EvidenceDurableAck,
  type UploadRequest,
} from '../../../proto/gen/waf/v1/evidence_upload_pb.ts';
import { LogService } from '../../../proto/gen/waf/v1/log_pb.ts';
import { startBreakingRelay } from '../../../test/support/breaking-relay.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import {
  enrollTestNode,
  issueTestToken,
  nodeTransport,
  type TestNode,
} from '../../../test/support/test-node.ts';
import { evidenceStoreLimits } from '../../limits/observation-limits.ts';

const { CONTINUE, DURABLE, FATAL } = EvidenceAckStatus;
let waf: TestControl;
let a: TestNode;
let b: TestNode;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null, managementTls: 'own' });
  const token = await issueTestToken(waf, 2);
  a = await enrollTestNode(waf, token, 'a');
  b = await enrollTestNode(waf, token, 'b');
});
afterAll(() => waf.control.close());

/** Bytes that differ everywhere, so that a piece at the wrong place shows. */
function bodyOf(length: number, first = 7): Uint8Array {
  const body = new Uint8Array(length);
  let state = first;
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    body[at] = state >>> 24;
  }
  return body;
}

let made = 0;

function record(body: Uint8Array, id?: string): EvidenceRecord {
  const now = Date.now();
  const hex = (++made).toString(16).padStart(4, '0');
  const headers = Buffer.from('Host: shop.test\r\nContent-Type: text/plain');
  return {
    id: id ?? `ev-${String(now).padStart(14, '0')}-${hex}`,
    ...{ requestId: `request-${made}`, siteId: 'site-1', clientIp: '192.0.2.7' },
    ...{ httpVersion: 'HTTP/1.1', receivedAtMs: now, completedAtMs: now + 5 },
    ...{ reason: 'security', method: 'POST', host: 'shop.test', target: '/', lack: '' },
    ...{ headerBytes: headers.length, headers, bodyBytes: body.length, body },
    answer: { status: 200, headers: new Uint8Array(), truncated: false },
  };
}

const overSocket = (path: string) =>
  createConnectTransport({
    baseUrl: 'http://control',
    httpVersion: '2',
    nodeOptions: { createConnection: () => connectSocket(path) },
  });

async function storedBody(socket: string, evidenceId: string): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const asked = { evidenceId, offset: 0n, limit: 0n };
  const client = createClient(LogService, overSocket(socket));
  for await (const { data } of client.downloadRequestEvidenceBody(asked)) parts.push(data);
  return Buffer.concat(parts);
}

const chunk = evidenceLimits.chunkBytesMax;

test.each([
  ['once, near the begin', 3_000_000, [chunk / 2]],
  ['once, in the middle', 3_000_000, [1_500_000]],
  ['once, near the end', 3_000_000, [2_990_000]],
  ['at each of four places', 6_000_000, [1_300_000, 1_250_000, 1_400_000, 1_350_000]],
])('an upload that breaks %s is continued, not begun again', async (_, length, breaks) => {
  const body = bodyOf(length);
  const relay = await startBreakingRelay(waf.socket, breaks);
  const transport = () => overSocket(relay.path);
  const uploads = new EvidenceUploads({ agentId: 'local', transport, logger: silentLogger });
  const one = record(body);
  uploads.add([one], 0);
  await eventually(() => uploads.stats().waiting === 0);
  expect((await storedBody(waf.socket, one.id)).equals(body)).toBe(true);
  expect(relay.connections()).toBe(breaks.length + 1);
  expect(relay.sent()).toBeLessThan(2 * length);
  await uploads.close();
  relay.close();
});

test('an upload is continued by a control that started anew', async () => {
  const before = await startTestControl({ demoOrigin: null });
  const body = bodyOf(4_000_000, 9);
  const one = record(body);
  const path = join(before.folder, 'link.sock');
  const relay = await startBreakingRelay(path, []);
  const first = await startBreakingRelay(before.socket, [2_000_000]);
  let to = first.path;
  const transport = () => overSocket(to);
  const uploads = new EvidenceUploads({ agentId: 'local', transport, logger: silentLogger });
  uploads.add([one], 0);
  await eventually(() => {
    const broke = first.sent() >= 2_000_000;
    if (broke) to = path;
    return broke;
  });
  await before.control.close();
  const again = { dataFolder: before.folder, adminSocket: path };
  const after = await startTestControl({ demoOrigin: null, ...again });
  to = relay.path;
  await eventually(() => uploads.stats().waiting === 0);
  expect((await storedBody(path, one.id)).equals(body)).toBe(true);
  expect(first.sent() + relay.sent()).toBeLessThan(2 * body.length);
  expect(relay.sent()).toBeLessThan(body.length);
  await uploads.close();
  await after.control.close();
  for (const one of [first, relay]) one.close();
});

/** A stream of a node whose messages are its own to choose. */
function openUpload(node: TestNode) {
  const outbox = new Outbox<UploadRequest>();
  const acks: EvidenceDurableAck[] = [];
  const say = (message: UploadRequest['message'] | UploadMessage): void =>
    outbox.push(create(UploadRequestSchema, { message } as never));
  const hello = { agentId: node.id, streamToken: node.streamToken };
  say({ case: 'hello', value: hello } as never);
  const transport = nodeTransport(waf.control.managementPort, node, node);
  const read = async (): Promise<string> => {
    try {
      const client = createClient(EvidenceUploadService, transport);
      for await (const { durableAck } of client.upload(outbox)) {
        if (durableAck !== undefined) acks.push(durableAck);
      }
      return '';
    } catch (error) {
      return (error as Error).message;
    }
  };
  const ended = read();
  const answer = (at: number) => eventually(() => acks[at] ?? null);
  return { say, acks, answer, ended, close: () => outbox.close() };
}

test('another node, another content and a gap are refused, and harm nothing', async () => {
  const body = bodyOf(3 * chunk);
  const one = record(body);
  const sum = crc32c(body);
  const begun = openUpload(a);
  begun.say(manifestMessage(one, a.id, sum));
  begun.say(chunkMessage(one, 0));
  expect(await begun.answer(0)).toMatchObject({ status: CONTINUE, durableThroughOffset: 0n });
  const kept = { status: CONTINUE, durableThroughOffset: BigInt(chunk) };
  expect(await begun.answer(1)).toMatchObject(kept);

  const hostile = openUpload(b);
  hostile.say(manifestMessage(one, b.id, sum));
  hostile.say(chunkMessage(one, chunk));
  hostile.say(commitMessage(one, sum));
  const foreign = { status: FATAL, error: 'evidenceId: is of another node' };
  expect(await hostile.answer(0)).toMatchObject(foreign);
  hostile.close();
  expect(await hostile.ended).toBe('');
  for (const { status } of hostile.acks) expect(status).not.toBe(DURABLE);

  // Its own node announces another body under the id: what is kept stays as it is.
  const changed = record(bodyOf(3 * chunk, 8), one.id);
  const other = openUpload(a);
  other.say(manifestMessage(changed, a.id, crc32c(changed.body)));
  const refused = { status: FATAL, error: 'evidenceId: was announced with other content' };
  expect(await other.answer(0)).toMatchObject(refused);
  expect(await begun.ended).toMatch('another stream of this node took its place');

  other.say(manifestMessage(one, a.id, sum));
  expect(await other.answer(1)).toMatchObject(kept);
  for (const at of [chunk, 2 * chunk]) other.say(chunkMessage(one, at));
  other.say(commitMessage(one, sum));
  const whole = { status: DURABLE, durableThroughOffset: BigInt(body.length), error: '' };
  await eventually(() => other.acks.some(({ status }) => status === DURABLE));
  expect(other.acks.at(-1)).toMatchObject(whole);
  expect((await storedBody(waf.socket, one.id)).equals(body)).toBe(true);

  // The answer to a manifest says what is kept already.
  const count = other.acks.length;
  other.say(manifestMessage(one, a.id, sum));
  expect(await other.answer(count)).toMatchObject(whole);
  other.close();
  expect(await other.ended).toBe('');
});

test('evidence without a body has one answer, and belongs to its node as any other', async () => {
  const one = record(bodyOf(0));
  const own = openUpload(a);
  own.say(manifestMessage(one, a.id, 0));
  own.say(commitMessage(one, 0));
  own.close();
  expect(await own.ended).toBe('');
  expect(own.acks).toMatchObject([{ evidenceId: one.id, status: DURABLE, error: '' }]);

  const hostile = openUpload(b);
  hostile.say(manifestMessage(one, b.id, 0));
  hostile.say(commitMessage(one, 0));
  hostile.close();
  expect(await hostile.ended).toBe('');
  const foreign = { status: FATAL, error: 'evidenceId: is of another node' };
  expect(hostile.acks).toMatchObject([foreign]);
});

test('a revoked node loses its upload at once, though it says nothing', async () => {
  const token = await issueTestToken(waf, 1);
  const node = await enrollTestNode(waf, token, 'gone');
  const stream = openUpload(node);
  stream.say(manifestMessage(record(bodyOf(10)), node.id, 0));
  await stream.answer(0);
  await waf.call('AgentService/DeleteAgent', { id: node.id });
  expect(await stream.ended).toMatch(/^\[unavailable\] stream: /);
});

test('uploads that nobody commits are bounded, in one stream and on the disk', async () => {
  const { openUploadsMax, partialPerNodeMax, bodyPieceBytes } = evidenceStoreLimits;
  const stream = openUpload(b);
  const body = bodyOf(2 * bodyPieceBytes);
  const begin = (): void => {
    const one = record(body);
    stream.say(manifestMessage(one, b.id, crc32c(body)));
    const data = body.slice(0, bodyPieceBytes);
    const value = { evidenceId: one.id, offset: 0n, data, crc32c: crc32c(data) };
    stream.say({ case: 'chunk', value });
  };
  for (let at = 0; at < openUploadsMax; at++) begin();
  await stream.answer(2 * openUploadsMax - 1);
  stream.say(manifestMessage(record(body), b.id, crc32c(body)));
  expect(await stream.ended).toMatch(/^\[resource_exhausted\] manifest: too many uploads/);
  const again = openUpload(b);
  for (let at = 0; at < 3; at++) {
    const one = record(body);
    again.say(manifestMessage(one, b.id, crc32c(body)));
    const data = body.slice(0, bodyPieceBytes);
    again.say({
      case: 'chunk',
      value: { evidenceId: one.id, offset: 0n, data, crc32c: crc32c(data) },
    });
  }
  await again.answer(5);
  const found = await waf.call('LogService/GetGlobalLogPolicy', {});
  const { evidenceStagedBytes } = found.body['storageHealth'] as Record<string, string>;
  // One of another test may be there as well.
  expect(Number(evidenceStagedBytes)).toBeGreaterThan(0);
  expect(Number(evidenceStagedBytes)).toBeLessThanOrEqual((partialPerNodeMax + 1) * bodyPieceBytes);
  again.close();
  await again.ended;
});
