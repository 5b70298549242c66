/** Holds the count that threads share: exact, forgotten after its window, bounded. */

import { Worker } from 'node:worker_threads';
import path from 'node:path';
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { transpileTree } from '../../../test/http/transpile.ts';
import { loggingLimits } from '../../base/observation-limits.ts';
import { AREA, ExemplarQuota, shareQuota } from './exemplar-quota.ts';

const root = path.resolve(import.meta.dirname, '../../..');
let module: URL;
let folder: string;
beforeAll(async () => {
  ({ url: module, folder } = await transpileTree(root, 'engine/front/facts/exemplar-quota.ts'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a kind has its places until it ends, and then again', () => {
  const quota = new ExemplarQuota();
  const take = (key: string, nowMs: number): boolean => quota.take(AREA.FEW, key, 2, 60_000, nowMs);
  expect([take('a', 0), take('a', 0), take('a', 59_999)]).toEqual([true, true, false]);
  expect([take('b', 0), take('b', 1), take('b', 2)]).toEqual([true, true, false]);
  expect(take('a', 60_000 + 2 * loggingLimits.quotaStepMs)).toBe(true);
});

test('kinds without room get nothing, and take nothing from the other area', () => {
  const quota = new ExemplarQuota();
  const places = loggingLimits.quotaSets * loggingLimits.quotaWays;
  let given = 0;
  for (let at = 0; at < 2 * places; at++) {
    if (quota.take(AREA.MANY, `k${at}`, 1, 60_000, 0)) given++;
  }
  expect(given).toBeGreaterThan(places * 0.9);
  expect(given).toBeLessThanOrEqual(places);
  expect(quota.take(AREA.FEW, 'k', 1, 60_000, 0)).toBe(true);
});

test('threads that ask at the same time are given exactly what there is', async () => {
  const shared = shareQuota();
  const source = `
    import { parentPort, workerData } from 'node:worker_threads';
    const { AREA, ExemplarQuota } = await import(workerData.module);
    const quota = new ExemplarQuota(workerData.shared);
    let given = 0;
    for (let round = 0; round < 300; round++)
      for (let at = 0; at < 20; at++)
        if (quota.take(AREA.FEW, 'kind ' + round, 10, 60_000, 0)) given++;
    parentPort.postMessage(given);`;
  const counts = Array.from({ length: 4 }, async () => {
    const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
    const worker = new Worker(url, { workerData: { module: module.href, shared } });
    return new Promise<number>((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
    });
  });
  const given = await Promise.all(counts);
  expect(given.reduce((sum, one) => sum + one)).toBe(300 * 10);
});
