/** Evidence from a node to the reader: kept once, read by range, audited, of one tenant. */

import { connect as connectSocket } from 'node:net';
import { createClient } from '@connectrpc/connect';
import { createConnectTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLogger } from '../../../base/log.ts';
import type { EvidenceRecord } from '../../../engine/contract/evidence.ts';
import { EvidenceUploads } from '../../../engine/link/evidence-uploads.ts';
import { LogService } from '../../../proto/gen/waf/v1/log_pb.ts';
import { evidenceKeyLimits } from '../../limits/observation-limits.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';

let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
});
afterAll(() => waf.control.close());

const transport = () =>
  createConnectTransport({
    baseUrl: 'http://control',
    httpVersion: '2',
    nodeOptions: { createConnection: () => connectSocket(waf.socket) },
  });
const uploads = () => new EvidenceUploads({ agentId: 'local', transport, logger: silentLogger });

const body = Buffer.alloc(700_001, 'abcdefghij');
const headerText =
  'Host: shop.test\r\nCookie: s=secret\r\nX-A: 1\r\nx-a: 2\r\nContent-Length: 700001';

function record(change: Partial<EvidenceRecord> = {}): EvidenceRecord {
  const now = Date.now();
  return {
    id: `ev-${String(now).padStart(14, '0')}-aa${Math.floor(Math.random() * 2 ** 40).toString(16)}`,
    requestId: 'request-1',
    siteId: 'site-1',
    clientIp: '192.0.2.7',
    httpVersion: 'HTTP/1.1',
    receivedAtMs: now,
    completedAtMs: now + 5,
    reason: 'security',
    method: 'POST',
    host: 'shop.test',
    target: '/login?user=\xc3\xa4&password=plain',
    headerBytes: headerText.length,
    headers: new Uint8Array(Buffer.from(headerText)),
    bodyBytes: body.length,
    body: new Uint8Array(body),
    answer: { status: 200, headers: new Uint8Array(), truncated: false },
    lack: '',
    ...change,
  };
}

test('evidence is kept once, and read with its headers and any range of its body', async () => {
  const one = record();
  const sender = uploads();
  sender.add([one, one], 0);
  await eventually(() => sender.stats().waiting === 0);
  const found = await waf.call('LogService/GetRequestEvidenceMetadata', { requestId: 'request-1' });
  expect(found.body['evidence']).toMatchObject({
    evidenceId: one.id,
    available: true,
    requestTarget: '/login?user=ä&password=plain',
    bodyCapturedBytes: '700001',
    contentLength: '700001',
    agentId: 'local',
    reason: 'security',
    expiresAt: new Date(one.receivedAtMs + 3 * 86_400_000).toISOString(),
  });
  const headers = await waf.call('LogService/GetRequestEvidenceHeaders', { evidenceId: one.id });
  expect(headers.body['headers']).toEqual([
    { name: 'Host', values: ['shop.test'] },
    { name: 'Cookie', values: ['s=secret'] },
    { name: 'X-A', values: ['1', '2'] },
    { name: 'Content-Length', values: ['700001'] },
  ]);
  const logs = createClient(LogService, transport());
  const read = async (offset: number, limit: number) => {
    const pieces: Uint8Array[] = [];
    let eof = false;
    const range = { evidenceId: one.id, offset: BigInt(offset), limit: BigInt(limit) };
    for await (const piece of logs.streamRequestEvidenceBody(range)) {
      expect(piece.offset).toBe(BigInt(offset + Buffer.concat(pieces).length));
      pieces.push(piece.data);
      ({ eof } = piece);
    }
    return { bytes: Buffer.concat(pieces), eof };
  };
  expect(await read(0, 0)).toEqual({ bytes: body, eof: true });
  expect(await read(65_530, 20)).toEqual({ bytes: body.subarray(65_530, 65_550), eof: false });
  expect(await read(700_000, 9)).toEqual({ bytes: body.subarray(700_000), eof: true });
  expect(await read(700_001, 0)).toEqual({ bytes: Buffer.alloc(0), eof: true });
  await expect(read(700_002, 0)).rejects.toThrow('offset: must not lie past');
  await sender.close();
});

test('every reading leaves an audit row, and unknown evidence is not found', async () => {
  const one = record({ requestId: 'request-2', body: new Uint8Array(), bodyBytes: 0 });
  const sender = uploads();
  sender.add([one], 0);
  await eventually(() => sender.stats().waiting === 0);
  const before = await audited(one.id);
  await waf.call('LogService/GetRequestEvidenceMetadata', { evidenceId: one.id });
  await waf.call('LogService/GetRequestEvidenceHeaders', { evidenceId: one.id });
  const logs = createClient(LogService, transport());
  for await (const _ of logs.downloadRequestEvidenceBody({ evidenceId: one.id })) continue;
  expect([before, await audited(one.id)]).toEqual([0, 3]);
  for (const evidenceId of ['', 'ev-1', 'ev-00000000000001-aa']) {
    const answer = await waf.call('LogService/GetRequestEvidenceHeaders', { evidenceId });
    expect(answer.body).toMatchObject({ code: 'not_found' });
  }
  const wrong = { evidenceId: one.id, requestId: 'request-1' };
  const answer = await waf.call('LogService/GetRequestEvidenceMetadata', wrong);
  expect(answer.body).toMatchObject({ code: 'not_found' });
  await sender.close();
});

test('a new key is taken at once; what the one before encrypted stays readable', async () => {
  const rpc = (method: string) => `waf.evidence.v1.EvidenceKeyService/${method}`;
  const one = record({ requestId: 'request-3' });
  const sender = uploads();
  sender.add([one], 0);
  await eventually(() => sender.stats().waiting === 0);
  const keys = async () => {
    const { body: found } = await waf.call(rpc('ListEvidenceKeys'), {});
    return found['items'] as Readonly<Record<string, unknown>>[];
  };
  const [before] = await keys();
  expect(Object.keys(before!).sort()).toEqual(['createdAt', 'current', 'id']);
  const asked = { currentKeyId: before!['id'] };
  const made = (await waf.call(rpc('RotateEvidenceKey'), asked)).body['key'] as { id: string };
  const [current, earlier, ...more] = await keys();
  expect(more).toEqual([]);
  expect(current).toEqual(made);
  expect(current).toMatchObject({ current: true });
  expect(earlier).toMatchObject({ id: before!['id'] });
  const keptMs = Date.parse(String(earlier!['keptUntil'])) - Date.now();
  expect(keptMs).toBeGreaterThan(366 * 86_400_000);
  const again = await waf.call(rpc('RotateEvidenceKey'), asked);
  expect(again.body).toMatchObject({ code: 'aborted' });
  expect(again.text).toContain('currentKeyId:');
  const headers = await waf.call('LogService/GetRequestEvidenceHeaders', { evidenceId: one.id });
  expect(JSON.stringify(headers.body)).toContain('s=secret');
  const newer = record({ requestId: 'request-4' });
  sender.add([newer], 0);
  await eventually(() => sender.stats().waiting === 0);
  const found = await waf.call('LogService/GetRequestEvidenceHeaders', { evidenceId: newer.id });
  expect(JSON.stringify(found.body)).toContain('s=secret');
  expect(await audited(made.id, 'rotate')).toBe(1);
  await sender.close();
});

test('keys are rotated by hand until as many earlier ones are kept as fit', async () => {
  const rpc = 'waf.evidence.v1.EvidenceKeyService/RotateEvidenceKey';
  let made = 1;
  for (; made <= evidenceKeyLimits.byHandMax; made++) {
    const answer = await waf.call(rpc, {});
    if (answer.status !== 200) break;
  }
  const refused = await waf.call(rpc, {});
  expect(refused.body).toMatchObject({ code: 'resource_exhausted' });
  expect(refused.text).toContain(`${evidenceKeyLimits.byHandMax} earlier keys are kept`);
  expect(made).toBe(evidenceKeyLimits.byHandMax);
});

test('evidence past its days is gone, and what had no room is marked', async () => {
  const old = record({ receivedAtMs: Date.now() - 4 * 86_400_000, requestId: 'old' });
  const bare = record({ requestId: 'bare', headers: new Uint8Array(), body: new Uint8Array() });
  const sender = uploads();
  sender.add([old, { ...bare, lack: 'queue_full' }], 0);
  await eventually(() => sender.stats().waiting === 0);
  const gone = await waf.call('LogService/GetRequestEvidenceMetadata', { evidenceId: old.id });
  expect(gone.body).toMatchObject({ code: 'not_found' });
  const missing = await waf.call('LogService/GetRequestEvidenceMetadata', { requestId: 'bare' });
  expect(missing.body['evidence']).toMatchObject({
    unavailableReason: 'queue_full',
    headerTruncated: true,
    bodyTruncated: true,
  });
  await sender.close();
});

test('what waits for control is bounded: content goes first, then the evidence', async () => {
  const sender = new EvidenceUploads({
    agentId: 'local',
    transport: () => {
      throw new Error('control is away');
    },
    logger: silentLogger,
  });
  sender.bound(16 * 1024);
  const small = { headers: new Uint8Array(10_000), body: new Uint8Array() };
  sender.add(
    Array.from({ length: 40 }, () => record(small)),
    3,
  );
  const { waiting, bytes, dropped } = sender.stats();
  expect(waiting).toBeGreaterThan(5);
  expect(bytes).toBeLessThanOrEqual(18 * 1024);
  expect(dropped).toBe(40 - waiting + 3);
  await sender.close();
});

test('a node that is not ours, and a damaged body, are refused', async () => {
  const { EvidenceUploadService } = await import('../../../proto/gen/waf/v1/evidence_upload_pb.ts');
  const client = createClient(EvidenceUploadService, transport());
  async function* stranger() {
    yield { message: { case: 'hello' as const, value: { agentId: 'node-7' } } };
  }
  const refused = async () => {
    for await (const _ of client.upload(stranger())) continue;
  };
  await expect(refused()).rejects.toThrow('not enrolled');
  const id = `ev-${String(Date.now()).padStart(14, '0')}-bb`;
  async function* damaged() {
    yield { message: { case: 'hello' as const, value: { agentId: 'local' } } };
    const manifest = { metadata: { evidenceId: id }, bodySize: 3n, bodyCrc32c: 1 };
    yield { message: { case: 'manifest' as const, value: manifest } };
    const chunk = { evidenceId: id, data: new Uint8Array(3), crc32c: 2 };
    yield { message: { case: 'chunk' as const, value: chunk } };
    yield { message: { case: 'commit' as const, value: { evidenceId: id, totalBytes: 3n } } };
  }
  const errors: string[] = [];
  for await (const { durableAck } of client.upload(damaged())) {
    if (durableAck !== undefined) errors.push(durableAck.error);
  }
  // The manifest is accepted; the first piece ends the upload.
  expect(errors).toEqual(['', 'crc32c: differs']);
});

async function audited(evidenceId: string, action = 'read'): Promise<number> {
  const rows = await waf.call('AuditService/QueryAudit', { page: { pageSize: 200 } });
  const items = rows.body['items'] as { resourceId?: string; action?: string }[];
  return items.filter((row) => row.resourceId === evidenceId && row.action === action).length;
}
