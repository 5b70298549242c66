/** Tests what uploads leave in the store: parts, their bounds and owners, and the quota. */

import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { crc32c } from '../../../base/crc32c.ts';
import { evidenceStoreLimits } from '../../limits/observation-limits.ts';
import type { Kv } from '../../store/kv.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import { openEvidenceStore, type EvidenceStore } from './evidence-store.ts';
import type { NewEvidence } from './evidence-uploads.ts';

const piece = evidenceStoreLimits.bodyPieceBytes;
const bounds = {
  partialPerNodeMax: 3,
  partialBytesPerNodeMax: 8 * piece,
  partialMax: 5,
  partialBytesMax: 12 * piece,
};
let nowMs = 1_000;
const clock = { nowMs: () => nowMs, monotonicUs: () => 0 };
const bodyOf = (length: number, text = 'abcdefghijk'): Uint8Array => Buffer.alloc(length, text);

function open(kv: Kv = openMemoryKv(), quota = 1_000 * piece): EvidenceStore {
  return openEvidenceStore(kv, clock, quota, bounds);
}

function evidence(at: number, body: Uint8Array, agentId = 'a'): NewEvidence {
  const evidenceId = `ev-${String(at).padStart(14, '0')}-aa`;
  const digest = createHash('sha256').update(body).digest('hex');
  const metadata = { evidenceId, agentId, requestId: `r${at}`, available: true };
  const sums = { bodySize: body.length, bodyCrc32c: crc32c(body) };
  const answered = { answer: null, answerBody: new Uint8Array() };
  return { evidenceId, agentId, digest, metadata, headers: [], ...answered, ...sums };
}

function readAll(store: EvidenceStore, id: string): Buffer {
  const parts: Uint8Array[] = [];
  for (let at = 0; ;) {
    const part = store.readBody(id, at);
    if (part.length === 0) return Buffer.concat(parts);
    parts.push(part);
    at += part.length;
  }
}

test('the head of an answer is kept and goes with its evidence; it counts', async () => {
  const store = open();
  const answer = { status: 403, headers: [{ name: 'X-A', values: ['1'] }], truncated: false };
  const one = { ...evidence(5, new Uint8Array()), answer };
  await store.complete(one);
  expect(store.answer(one.evidenceId)).toEqual(answer);
  const used = store.use().storedBytes;
  await store.complete({ ...evidence(6, new Uint8Array()), answer: null });
  expect(store.use().storedBytes - used).toBeLessThan(used);
  await store.forget(10);
  expect([store.answer(one.evidenceId), store.use().storedBytes]).toEqual([null, 0]);
});

const isOpen = (bytes: number) => ({ kind: 'open', bytes });
const begun = async (store: EvidenceStore, one: NewEvidence) => {
  const state = await store.begin(one);
  return state.kind === 'open' ? state.bytes : state.kind;
};

test.each([piece, piece + 1, 2 * piece - 1, 3 * piece, 3 * piece + 77])(
  'a body whose pieces have %i bytes is read as it was sent',
  async (step) => {
    const store = open();
    const body = bodyOf(7 * piece + 13);
    const one = evidence(1, body);
    expect(await store.begin(one)).toEqual(isOpen(0));
    for (let at = 0; at < body.length; at += step) {
      const end = Math.min(body.length, at + step);
      expect(await store.append(one, at, body.slice(at, end))).toEqual(isOpen(end));
      expect(readAll(store, one.evidenceId)).toHaveLength(0);
    }
    expect(await store.complete(one)).toEqual({ kind: 'stored', rejected: false });
    expect(readAll(store, one.evidenceId).equals(body)).toBe(true);
    expect(store.use()).toMatchObject({ stagedBytes: 0 });
    await store.forget(10);
    expect(store.use()).toMatchObject({ storedBytes: 0, stagedBytes: 0 });
    expect(readAll(store, one.evidenceId)).toHaveLength(0);
  },
);

test('a store that opens anew knows how much it has', async () => {
  const kv = openMemoryKv();
  const body = bodyOf(3 * piece);
  const one = evidence(1, body);
  await open(kv).append(one, 0, body.slice(0, 2 * piece));
  const again = open(kv);
  expect(again.use().stagedBytes).toBe(2 * piece);
  expect(await again.begin(one)).toEqual(isOpen(2 * piece));
  await again.append(one, 2 * piece, body.slice(2 * piece));
  expect(await again.complete(one)).toMatchObject({ kind: 'stored' });
  expect(readAll(again, one.evidenceId).equals(body)).toBe(true);
  // What is kept is kept once, for its own node, with its own content.
  expect(await again.begin(one)).toMatchObject({ kind: 'stored' });
  const other = await again.put(evidence(1, body, 'b'), body);
  expect(other).toMatchObject({ kind: 'refused', reason: 'evidenceId: is of another node' });
  const changed = bodyOf(3 * piece, 'zzz');
  const again2 = await again.put(evidence(1, changed), changed);
  expect(again2).toMatchObject({ kind: 'refused' });
  expect(readAll(again, one.evidenceId).equals(body)).toBe(true);
});

test('a part is not written by another node, nor with another content', async () => {
  const store = open();
  const body = bodyOf(3 * piece);
  const one = evidence(1, body);
  await store.append(one, 0, body.slice(0, piece));
  const foreign = evidence(1, body, 'b');
  const changed = evidence(1, bodyOf(3 * piece, 'x'));
  const rest = body.slice(piece);
  for (const [from, reason] of [
    [foreign, 'evidenceId: is of another node'],
    [changed, 'evidenceId: was announced with other content'],
  ] as const) {
    const refused = { kind: 'refused', reason };
    expect(await store.begin(from)).toEqual(refused);
    expect(await store.append(from, piece, rest)).toEqual(refused);
    expect(await store.complete(from)).toEqual(refused);
    expect(await store.put(from, body)).toEqual(refused);
  }
  await store.append(one, piece, rest);
  expect(await store.complete(one)).toMatchObject({ kind: 'stored' });
  expect(readAll(store, one.evidenceId).equals(body)).toBe(true);
});

test.each([
  ['a gap', 2 * piece, bodyOf(piece), 'offset: leaves a gap'],
  ['what is there already', 0, bodyOf(piece), 'offset: leaves a gap'],
  ['too much', piece, bodyOf(3 * piece), 'data: is longer than bodySize'],
  ['too little', piece, bodyOf(10), 'data: is too short'],
] as const)('a piece with %s ends the upload and leaves nothing', async (_, at, data, reason) => {
  const store = open();
  const body = bodyOf(3 * piece);
  const one = evidence(1, body);
  await store.append(one, 0, body.slice(0, piece));
  expect(await store.append(one, at, data)).toEqual({ kind: 'refused', reason });
  expect(store.use()).toMatchObject({ storedBytes: 0, stagedBytes: 0 });
  expect(await store.append(one, piece, body.slice(piece))).toEqual({ kind: 'lost' });
  expect(await begun(store, one)).toBe(0);
});

test('a commit too early, or of a body that was damaged, leaves nothing', async () => {
  const store = open();
  const body = bodyOf(2 * piece);
  const one = evidence(1, body);
  expect(await store.complete(one)).toEqual({ kind: 'lost' });
  await store.append(one, 0, body.slice(0, piece));
  expect(await store.complete(one)).toMatchObject({ reason: 'commit: the body is not complete' });
  await store.append(one, 0, bodyOf(2 * piece, 'z'));
  expect(await store.complete(one)).toMatchObject({ reason: 'bodyCrc32c: differs' });
  expect(store.use()).toMatchObject({ storedBytes: 0, stagedBytes: 0 });
});

test('parts are bounded: of one node, and of all, whose greediest node loses its oldest', async () => {
  const store = open();
  const body = bodyOf(4 * piece);
  const all = { a: [1, 2, 3, 4], b: [5, 6, 7] };
  for (const [agentId, numbers] of Object.entries(all)) {
    for (const at of numbers) {
      nowMs++;
      await store.append(evidence(at, body, agentId), 0, body.slice(0, piece));
    }
  }
  const left = async (agentId: 'a' | 'b') =>
    Promise.all(all[agentId].map((at) => begun(store, evidence(at, body, agentId))));
  // Three of a node; of five in all the sixth takes one of the node that has most.
  expect(await left('a')).toEqual([0, 0, piece, piece]);
  expect(await left('b')).toEqual([piece, piece, piece]);
  expect(store.use().stagedBytes).toBe(5 * piece);
  await store.append(evidence(8, bodyOf(9 * piece), 'b'), 0, bodyOf(7 * piece));
  expect(await left('b')).toEqual([0, 0, piece]);
  expect(await left('a')).toEqual([0, 0, piece, piece]);
});

test('parts that nobody continues go, those that are asked for stay', async () => {
  const store = open();
  const body = bodyOf(2 * piece);
  const [old, asked] = [evidence(1, body), evidence(2, body)];
  nowMs = 1_000;
  for (const one of [old, asked]) await store.append(one, 0, body.slice(0, piece));
  nowMs = 5_000;
  expect(await begun(store, asked)).toBe(piece);
  await store.forgetPartial(4_000);
  expect(await begun(store, asked)).toBe(piece);
  expect(await begun(store, old)).toBe(0);
  expect(store.use().stagedBytes).toBe(piece);
});

test('parts count towards the quota; without room only that evidence is missing is kept', async () => {
  const store = open(openMemoryKv(), 4 * piece);
  const body = bodyOf(3 * piece);
  const [first, second] = [evidence(1, body), evidence(2, body)];
  expect(await store.append(first, 0, body.slice(0, 2 * piece))).toEqual(isOpen(2 * piece));
  expect(await store.append(second, 0, body.slice(0, piece))).toEqual(isOpen(piece));
  const full = await store.append(second, piece, body.slice(piece));
  expect(full).toEqual({ kind: 'stored', rejected: true });
  expect(store.metadata(second.evidenceId)).toMatchObject({
    available: false,
    unavailableReason: 'quota',
  });
  expect(await store.begin(second)).toEqual({ kind: 'stored', rejected: false });
  expect(store.use()).toMatchObject({ stagedBytes: 2 * piece, quotaRejected: 1 });
  await store.append(first, 2 * piece, body.slice(2 * piece));
  expect(await store.complete(first)).toEqual({ kind: 'stored', rejected: false });
  expect(store.use().storedBytes).toBeLessThanOrEqual(4 * piece);
});

test('nothing is reported before the disk has it, and after a failure only what it has', async () => {
  const inner = openMemoryKv();
  const waiting: ((fails: boolean) => void)[] = [];
  const kv: Kv = {
    ...inner,
    write: async (change) => {
      let gives: { readonly value: ReturnType<typeof change> } | null = null;
      const stage = inner.stage();
      gives = { value: change(stage.writer) };
      await new Promise<void>((resolve, reject) =>
        waiting.push((fails) => (fails ? reject(new Error('full')) : resolve())),
      );
      await stage.keep();
      return gives.value;
    },
  };
  const store = open(kv);
  const body = bodyOf(2 * piece);
  const one = evidence(1, body);
  let told = false;
  const first = store.append(one, 0, body.slice(0, piece)).then((state) => {
    told = true;
    return state;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(told).toBe(false);
  waiting.shift()!(false);
  expect(await first).toEqual(isOpen(piece));
  const failed = store.append(one, piece, body.slice(piece));
  waiting.shift()!(true);
  await expect(failed).rejects.toThrow('full');
  expect(store.use()).toMatchObject({ stagedBytes: piece, writeFailed: 1 });
  const asked = store.begin(one);
  waiting.shift()!(false);
  expect(await asked).toEqual(isOpen(piece));
});
