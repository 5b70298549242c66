/** Proves that memory is given back, in the main thread and in a worker. */
import { once } from 'node:events';
import { join } from 'node:path';
import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { eventually } from '../test/support/eventually.ts';
import { collectGarbage } from '../base/garbage.ts';
import { easeHeap, trimHeap } from './memory.ts';

const usedBytes = (): number => getHeapStatistics().used_heap_size;

test('a heap full of garbage shrinks by itself once it is eased', async () => {
  let garbage: object[] | null = Array.from({ length: 400_000 }, (_, index) => ({ index }));
  expect(garbage).toHaveLength(400_000);
  const full = usedBytes();
  garbage = null;
  expect(easeHeap()).toBe(true);
  expect(await eventually(() => usedBytes() < full - 8_000_000)).toBe(true);
});

test('a worker eases its own heap', async () => {
  const script = `
    const { workerData, parentPort } = require('node:worker_threads');
    const addon = require(workerData);
    parentPort.postMessage([addon.easeHeap(), typeof addon.trimHeap()]);`;
  const workerData = join(process.cwd(), 'build', 'Release', 'waf_native.node');
  const worker = new Worker(script, { eval: true, workerData });
  expect(await once(worker, 'message')).toEqual([[true, 'boolean']]);
});

test('holes in native memory go back to the system', async () => {
  const blocks: (Uint8Array | null)[] = [];
  for (let made = 0; made < 6_000; made++) blocks.push(new Uint8Array(16_384).fill(1));
  const full = process.memoryUsage.rss();
  // Each that stays keeps its surroundings from going back by themselves.
  for (let index = 0; index < blocks.length; index++) if (index % 100 > 0) blocks[index] = null;
  collectGarbage();
  // V8 frees what it collected in a thread of its own, so the holes come one after the other.
  const gone = await eventually(() => trimHeap() && process.memoryUsage.rss() < full - 60_000_000);
  expect(gone).toBe(true);
  expect(blocks.filter((block) => block !== null)).toHaveLength(60);
});
