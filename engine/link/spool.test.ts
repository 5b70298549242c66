/** The proof of the spool: order, repeats, bounds, gaps, and what a restart finds. */

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import {
  ObservationGapReason,
  ObservationStreamKind,
} from '../../proto/gen/waf/v1/agent_stream_pb.ts';
import { linkLimits } from '../base/observation-limits.ts';
import { silentLogger } from '../../base/log.ts';
import type { SpoolStore } from '../contract/spool.ts';
import { openSpoolFiles } from '../state/spool-files.ts';
import { memorySpoolStore, Spool } from './spool.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const itemBytes = 100;

function spoolOver(store: SpoolStore, bytesMax = 1 << 20): Spool<string> {
  return new Spool({
    kind: ObservationStreamKind.SECURITY_FACT,
    schemaVersion: 1,
    encode: (items) => Buffer.from(items.map((item) => item.padEnd(itemBytes)).join('')),
    timeOf: () => 1_700_000_000_000,
    store,
    bytesMax,
    batchItemsMax: 10,
    weightOf: (item) => item.length,
  });
}

/** Adds items `from` to `to` in closed batches of ten. */
function fill(spool: Spool<string>, count: number): void {
  for (let at = 0; at < count; at++) spool.add(String(at));
}

const seqs = (spool: Spool<string>): bigint[] =>
  spool.drainUnsent().map((batch) => batch.header!.batchSeq);

test('numbers batches and items, and repeats what was not acknowledged', () => {
  const spool = spoolOver(memorySpoolStore());
  spool.add('a');
  spool.add('b');
  const [first] = spool.drainUnsent();
  spool.add('c');
  const [second] = spool.drainUnsent();
  expect([first?.header?.batchSeq, second?.header?.batchSeq]).toEqual([1n, 2n]);
  expect([second?.header?.firstItemSeq, second?.header?.lastItemSeq]).toEqual([3n, 3n]);
  expect(spool.drainUnsent()).toEqual([]);
  spool.acknowledge(spool.bootId, 1n);
  expect(spool.held).toBe(1);
  spool.resend();
  const again = spool.drainUnsent();
  expect(again.map((batch) => batch.header?.batchSeq)).toEqual([2n]);
  expect(again[0]?.payload).toEqual(second?.payload);
});

test('a batch ends by its items or by what they weigh', () => {
  const spool = spoolOver(memorySpoolStore());
  const half = 'x'.repeat(linkLimits.batchBytesMax / 2);
  expect([spool.add(half), spool.add(half), spool.add('a')]).toEqual([false, true, false]);
  expect(spool.drainUnsent().map(({ header }) => header?.itemCount)).toEqual([2, 1]);
});

test('a full spool gives up its oldest batches, counts them and notes one gap', () => {
  const spool = spoolOver(memorySpoolStore(), 5_000);
  fill(spool, 100);
  expect(spool.bytes).toBeLessThanOrEqual(5_000);
  expect(spool.held + spool.evicted).toBe(100);
  expect(spool.evicted).toBeGreaterThan(0);
  const gaps = spool.drainGaps();
  expect(gaps).toHaveLength(1);
  expect(gaps[0]).toMatchObject({
    firstBatchSeq: 1n,
    lastBatchSeq: BigInt(spool.evicted / 10),
    firstItemSeq: 1n,
    lastItemSeq: BigInt(spool.evicted),
    reason: ObservationGapReason.SPOOL_EVICTED,
  });
  expect(seqs(spool)[0]).toBe(BigInt(spool.evicted / 10) + 1n);
});

test('a restart finds on disk what was not acknowledged, under its old names', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'waf-spool-'));
  folders.push(folder);
  const files = openSpoolFiles(folder, silentLogger);
  const before = spoolOver(files.store('facts'), 5_000);
  fill(before, 100);
  before.acknowledge(before.bootId, BigInt(before.evicted / 10) + 1n);
  const held = before.held;
  await files.close();

  const again = openSpoolFiles(folder, silentLogger);
  const after = spoolOver(again.store('facts'), 5_000);
  expect(after.held).toBe(held);
  expect(spoolOver(again.store('counters')).held).toBe(0);
  const [batch] = after.drainUnsent();
  expect(Buffer.from(batch!.header!.bootId)).toEqual(Buffer.from(before.bootId));
  expect(batch!.header!.batchSeq).toBe(BigInt(before.evicted / 10) + 2n);
  const [gap] = after.drainGaps();
  expect(gap).toMatchObject({ firstBatchSeq: 1n, lastBatchSeq: BigInt(before.evicted / 10) });
  after.acknowledgeGap(gap!.bootId, gap!.firstBatchSeq);
  after.acknowledge(before.bootId, 100n);
  after.add('new');
  const [own] = after.drainUnsent();
  expect(own?.header).toMatchObject({ batchSeq: 1n, firstItemSeq: 1n });
  await again.close();

  const third = openSpoolFiles(folder, silentLogger);
  const last = spoolOver(third.store('facts'));
  expect([last.held, last.drainGaps()]).toEqual([1, []]);
  await third.close();
});

test('a run takes nothing away from what earlier runs left on disk', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'waf-spool-'));
  folders.push(folder);
  const boots: string[] = [];
  for (let run = 0; run < 3; run++) {
    const files = openSpoolFiles(folder, silentLogger);
    const spool = spoolOver(files.store('facts'));
    boots.push(...[1, 2].map((seq) => `${Buffer.from(spool.bootId).toString('hex')} ${seq}`));
    fill(spool, 20);
    await files.close();
  }
  const files = openSpoolFiles(folder, silentLogger);
  const found = spoolOver(files.store('facts')).drainUnsent();
  const names = found.map(({ header }) => {
    return `${Buffer.from(header!.bootId).toString('hex')} ${header!.batchSeq}`;
  });
  expect(names).toEqual(boots);
  await files.close();
});

test('a file that is no store is set aside, and spooling begins anew', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'waf-spool-'));
  folders.push(folder);
  writeFileSync(join(folder, 'data.mdb'), 'not a store'.repeat(1000));
  const files = openSpoolFiles(folder, silentLogger);
  const spool = spoolOver(files.store('facts'));
  fill(spool, 10);
  expect([spool.held, existsSync(join(folder, 'data.mdb.damaged'))]).toEqual([10, true]);
  await files.close();
});

test('a batch damaged on disk is left out at the start and is a gap later', () => {
  const store = memorySpoolStore();
  const spool = spoolOver(store);
  fill(spool, 20);
  store.change([[1, Buffer.from('damaged')]], []);
  expect(seqs(spool)).toEqual([2n]);
  expect(spool.drainGaps()[0]).toMatchObject({
    firstBatchSeq: 1n,
    reason: ObservationGapReason.SPOOL_CORRUPT,
  });
  store.change([[3, Buffer.from('damaged')]], []);
  expect(spoolOver(store).held).toBe(10);
});

test('what the disk refuses waits in memory, bounded, and is written once it takes it', () => {
  const inner = memorySpoolStore();
  let full = true;
  const store: SpoolStore = {
    ...inner,
    change: (puts, removes) => !full && inner.change(puts, removes),
  };
  const spool = spoolOver(store, linkLimits.spoolMemoryBytesMax * 2);
  const batchBytes = 10 * itemBytes;
  fill(spool, 30);
  expect(seqs(spool)).toEqual([1n, 2n, 3n]);
  expect(spoolOver(inner).held).toBe(0);
  full = false;
  fill(spool, 100);
  expect(spoolOver(inner).held).toBe(130);
  full = true;
  fill(spool, Math.ceil(linkLimits.spoolMemoryBytesMax / batchBytes) * 10);
  expect(spool.evicted).toBeGreaterThan(0);
  expect(spool.bytes).toBeLessThan(linkLimits.spoolMemoryBytesMax + 20 * batchBytes);
});
