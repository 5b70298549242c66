/** Tests that evidence with small bodies travels in messages of records, and which are refused. */

import { connect as connectSocket } from 'node:net';
import { create } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { crc32c } from '../../../base/crc32c.ts';
import { EvidenceWriter } from '../../../base/evidence-layout.ts';
import { silentLogger } from '../../../base/log.ts';
import type { EvidenceRecord } from '../../../engine/contract/evidence.ts';
import { EvidenceUploads } from '../../../engine/link/evidence-uploads.ts';
import {
  EvidenceAckStatus,
  EvidenceUploadService,
  UploadRequestSchema,
  type UploadRequest,
} from '../../../proto/gen/waf/v1/evidence_upload_pb.ts';
import { startBreakingRelay } from '../../../test/support/breaking-relay.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

const { DURABLE, FATAL } = EvidenceAckStatus;
const records = 700;
let waf: TestControl;
beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
});
afterAll(() => waf.control.close());

const overSocket = (path: string) =>
  createConnectTransport({
    baseUrl: 'http://control',
    httpVersion: '2',
    nodeOptions: { createConnection: () => connectSocket(path) },
  });

const now = Date.now();

function record(at: number, body = `body ${at}`): EvidenceRecord {
  const headers = Buffer.from('Host: shop.test\r\nX-Filled: '.padEnd(600, 'x'));
  return {
    id: `ev-${String(now).padStart(14, '0')}-${at.toString(16).padStart(8, '0')}`,
    ...{ requestId: `request-${at}`, siteId: 'site-1', clientIp: '192.0.2.7' },
    ...{ httpVersion: 'HTTP/1.1', receivedAtMs: now, completedAtMs: now + 5 },
    ...{ reason: 'access', method: 'POST', host: 'shop.test', target: '/', lack: '' },
    ...{ headerBytes: headers.length, headers, bodyBytes: body.length, body: Buffer.from(body) },
    answer: { status: 200, headers: new Uint8Array(), truncated: false },
  };
}

test('many records arrive, each once, over a stream that breaks among them', async () => {
  const relay = await startBreakingRelay(waf.socket, [150_000]);
  const transport = () => overSocket(relay.path);
  const uploads = new EvidenceUploads({ agentId: 'local', transport, logger: silentLogger });
  const large = record(records, 'b'.repeat(100_000));
  const all = [...Array.from({ length: records }, (_, at) => record(at)), large];
  for (let at = 0; at < all.length; at += 50) uploads.add(all.slice(at, at + 50), 0);
  await eventually(() => uploads.stats().waiting === 0);
  expect(uploads.stats()).toEqual({ waiting: 0, bytes: 0, dropped: 0 });
  expect(relay.connections()).toBe(2);
  for (const { id, requestId, body } of all) {
    const asked = { evidenceId: id };
    const found = await waf.call('LogService/GetRequestEvidenceMetadata', asked);
    const told = { requestId, bodyCapturedBytes: String(body.length), available: true };
    expect(found.body).toMatchObject({ evidence: told });
  }
  await uploads.close();
  relay.close();
});

/** A stream whose messages are its own to choose. */
async function say(...messages: UploadRequest['message'][]) {
  const client = createClient(EvidenceUploadService, overSocket(waf.socket));
  const hello = { case: 'hello', value: { agentId: 'local', streamToken: '' } };
  const sent = [hello, ...messages].map((message) =>
    create(UploadRequestSchema, { message } as never),
  );
  const answers = [];
  for await (const answer of client.upload(iterated(sent))) answers.push(answer);
  expect(answers.shift()).toMatchObject({ welcome: { recordsLayout: 1 } });
  return answers.map(({ recordsAck }) => recordsAck);
}

async function* iterated<T>(list: readonly T[]): AsyncGenerator<T> {
  yield* list;
}

function message(number: bigint, data: Uint8Array<ArrayBuffer>, sum = crc32c(data)) {
  return { case: 'records', value: { number, data, crc32c: sum } } as never;
}

function bytesOf(...list: EvidenceRecord[]): Uint8Array<ArrayBuffer> {
  const writer = new EvidenceWriter();
  for (const one of list) writer.add(one);
  return writer.take();
}

test('messages that cannot be read are refused whole, records that cannot be kept apart', async () => {
  const one = bytesOf(record(9_001));
  const odd = bytesOf(
    { ...record(9_002), id: 'ev-../../x' },
    { ...record(9_003), requestId: 'r'.repeat(2_000) },
    { ...record(9_004), receivedAtMs: 2 ** 52 },
    record(9_005, 'b'.repeat(65_537)),
    record(9_006),
  );
  const answers = await say(
    message(1n, one, (crc32c(one) ^ 1) >>> 0),
    message(2n, one.slice(0, -1)),
    message(3n, new Uint8Array(2 * 1024 * 1024)),
    message(4n, odd),
    message(5n, one),
  );
  expect(answers).toMatchObject([
    { number: 1n, status: FATAL, error: 'crc32c: differs' },
    { number: 2n, status: FATAL, error: 'data: holds no record of this layout' },
    { number: 3n, status: FATAL, error: 'data: is too large' },
    { number: 4n, status: DURABLE, refused: 4 },
    { number: 5n, status: DURABLE, refused: 0 },
  ]);
});
