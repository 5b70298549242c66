/** Evidence that comes as records is kept once, for its node, within the quota, and goes whole. */

import { expect, test } from 'vitest';
import {
  EvidenceWriter,
  readEvidence,
  type PackedEvidence,
  type ReadEvidence,
} from '../../../base/evidence-layout.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import { openEvidenceStore, type EvidenceStore } from './evidence-store.ts';

const clock = { nowMs: () => 1_000, monotonicUs: () => 0 };
const owner = { agentId: 'a', tenantId: 't' };
const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'latin1'));

function evidence(at: number, more: Partial<PackedEvidence> = {}): PackedEvidence {
  const headers = bytesOf('Host: a\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n');
  return {
    ...{ id: `ev-${String(at).padStart(14, '0')}-aa`, requestId: `r${at}`, siteId: 's' },
    ...{ receivedAtMs: at, completedAtMs: at + 5, clientIp: '192.0.2.7', httpVersion: 'HTTP/1.1' },
    ...{ reason: 'security', method: 'POST', host: 'a', target: '/x', lack: '' },
    ...{ headerBytes: headers.length, headers, bodyBytes: 4, body: bytesOf('body') },
    answer: { status: 403, headers: bytesOf('X-A: 1\r\nX-A: 2\r\n'), truncated: false },
    answerBody: { bytes: bytesOf('<no>'), lack: 'cut' },
    ...more,
  };
}

function records(...list: PackedEvidence[]): ReadEvidence[] {
  const writer = new EvidenceWriter();
  return list.map((record) => {
    writer.add(record);
    return readEvidence(writer.take())!;
  });
}

const open = (kv = openMemoryKv(), quota = 100_000): EvidenceStore =>
  openEvidenceStore(kv, clock, quota);

test('all of a record is read from the store that kept it, and goes with it', async () => {
  const kv = openMemoryKv();
  const one = evidence(5);
  expect(await open(kv).putRecords(owner, records(one, evidence(6)))).toEqual({
    refused: 0,
    rejected: 0,
  });
  const store = open(kv);
  expect(store.metadata(one.id)).toEqual({
    ...{ evidenceId: one.id, requestId: 'r5', siteId: 's', agentId: 'a', tenantId: 't' },
    ...{ available: true, reason: 'security', method: 'POST', host: 'a', requestTarget: '/x' },
    ...{ headerOriginalBytes: '54', headerCapturedBytes: '54', contentLength: '4' },
    ...{ bodyOriginalBytes: '4', bodyCapturedBytes: '4', contentType: 'text/plain' },
    ...{ clientIp: '192.0.2.7', httpVersion: 'HTTP/1.1' },
    ...{ startedAt: '1970-01-01T00:00:00.005Z', completedAt: '1970-01-01T00:00:00.010Z' },
  });
  expect(store.headers(one.id)[1]).toEqual({ name: 'Content-Type', values: ['text/plain'] });
  const headers = [{ name: 'X-A', values: ['1', '2'] }];
  const answer = { status: 403, headers, truncated: false, bodyLack: 'cut' };
  expect(store.answer(one.id)).toEqual(answer);
  expect(Buffer.from(store.answerBody(one.id)).toString()).toBe('<no>');
  expect(Buffer.from(store.readBody(one.id, 1)).toString()).toBe('ody');
  expect(store.readBody(one.id, 4)).toHaveLength(0);
  expect([...store.ofRequest('r5')].map(({ evidenceId }) => evidenceId)).toEqual([one.id]);
  expect([...store.between(0, 10)].map(({ requestId }) => requestId)).toEqual(['r6', 'r5']);
  await store.forget(6);
  expect([store.metadata(one.id), [...store.ofRequest('r5')]]).toEqual([null, []]);
  await store.forget(10);
  expect(store.use().storedBytes).toBe(0);
});

test('a record is kept once, and neither another node nor other content takes its place', async () => {
  const store = open();
  await store.putRecords(owner, records(evidence(5)));
  const used = store.use().storedBytes;
  expect(await store.putRecords(owner, records(evidence(5)))).toMatchObject({ refused: 0 });
  const other = { agentId: 'b', tenantId: 't' };
  expect(await store.putRecords(other, records(evidence(5)))).toMatchObject({ refused: 1 });
  const changed = records(evidence(5, { target: '/y' }));
  expect(await store.putRecords(owner, changed)).toMatchObject({ refused: 1 });
  expect(store.use().storedBytes).toBe(used);
  expect(store.metadata(evidence(5).id)).toMatchObject({ agentId: 'a', requestTarget: '/x' });
});

test('a record takes the place of an upload that its own node began', async () => {
  const store = open();
  const one = evidence(5);
  const claim = { evidenceId: one.id, agentId: 'a', digest: 'd', metadata: {}, headers: [] };
  const sums = { bodySize: 200_000, bodyCrc32c: 0, answer: null, answerBody: new Uint8Array() };
  await store.append({ ...claim, ...sums }, 0, new Uint8Array(65_536));
  const other = { agentId: 'b', tenantId: 't' };
  expect(await store.putRecords(other, records(one))).toMatchObject({ refused: 1 });
  expect(await store.putRecords(owner, records(one))).toMatchObject({ refused: 0 });
  expect(store.use().stagedBytes).toBe(0);
  expect(Buffer.from(store.readBody(one.id, 0)).toString()).toBe('body');
});

test('without room only that a record is missing is kept, and at last nothing', async () => {
  const store = open(openMemoryKv(), 1_500);
  const list = Array.from({ length: 20 }, (_, at) => evidence(at + 1));
  const { rejected } = await store.putRecords(owner, records(...list));
  const kept = [...store.between(0, 100)].toReversed();
  const whole = kept.filter(({ available }) => available === true);
  expect(kept.length - whole.length).toBeGreaterThan(0);
  expect(rejected).toBe(list.length - whole.length);
  expect(kept.length).toBeLessThan(list.length);
  const last = kept.at(-1)!;
  expect(last).toMatchObject({ unavailableReason: 'quota', headerTruncated: true });
  expect(store.answer(last.evidenceId!)).toBeNull();
  expect(store.use()).toMatchObject({ quotaRejected: rejected });
  // What is kept without content stays so, however often its record comes.
  const again = list.find(({ id }) => id === last.evidenceId)!;
  expect(await store.putRecords(owner, records(again))).toEqual({ refused: 0, rejected: 0 });
});
