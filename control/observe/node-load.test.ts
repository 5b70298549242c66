/** Proves that a node's load is kept as means by step, in both resolutions, and forgotten. */

import { expect, test } from 'vitest';
import { observationLimits } from '../limits/observation-limits.ts';
import { openMemoryKv } from '../store/memory-kv.ts';
import { openNodeLoadStore, type NodeLoadStore } from './node-load.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;
const startMs = 1_760_000_000_000 - (1_760_000_000_000 % hourMs);

function tell(store: NodeLoadStore, atMs: number, cpuPercent: number): Promise<void> {
  return store.add('local', atMs, { numbers: { cpuPercent }, last: { state: `at ${cpuPercent}` } });
}

test('readings of a step are added up; the last one says what is no number', async () => {
  const store = openNodeLoadStore(openMemoryKv());
  await tell(store, startMs, 10);
  await tell(store, startMs + 15_000, 30);
  await tell(store, startMs + 3 * minuteMs, 50);
  const minutes = store.list('local', startMs, startMs + hourMs, minuteMs);
  expect(minutes).toEqual([
    { atMs: startMs + 15_000, samples: 2, sums: { cpuPercent: 40 }, last: { state: 'at 30' } },
    { atMs: startMs + 180_000, samples: 1, sums: { cpuPercent: 50 }, last: { state: 'at 50' } },
  ]);
  const longer = store.list('local', startMs, startMs + hourMs, 5 * minuteMs);
  expect(longer).toMatchObject([{ samples: 3, sums: { cpuPercent: 90 } }]);
  expect(store.list('local', startMs, startMs + hourMs, hourMs)).toEqual(longer);
  expect(store.list('loca', 0, startMs + hourMs, minuteMs)).toEqual([]);
});

test('minutes go before hours, hours after their time', async () => {
  const store = openNodeLoadStore(openMemoryKv());
  await tell(store, startMs, 10);
  await tell(store, startMs + observationLimits.loadMinutesKeptMs + hourMs, 20);
  const endMs = startMs + 365 * 24 * hourMs;
  expect(store.list('local', 0, endMs, minuteMs)).toHaveLength(1);
  expect(store.list('local', 0, endMs, hourMs)).toHaveLength(2);
  await tell(store, startMs + observationLimits.loadHoursKeptMs + 2 * hourMs, 30);
  expect(store.list('local', 0, endMs, hourMs)).toMatchObject([
    { sums: { cpuPercent: 20 } },
    { sums: { cpuPercent: 30 } },
  ]);
});
