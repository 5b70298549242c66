/** How the log store is judged: growth, remaining time, states, pressure that does not flicker. */

import { expect, test } from 'vitest';
import { openMemoryKv } from '../store/memory-kv.ts';
import type { EvidenceUse } from './evidence/evidence-store.ts';
import { addSample, isUnderPressure, storageHealth, type DiskSpace } from './storage-health.ts';
import { startStorageMonitor } from './storage-monitor.ts';

const gb = 2 ** 30;
const hourMs = 3_600_000;
const evidence: EvidenceUse = {
  ...{ storedBytes: 5, stagedBytes: 4, quotaBytes: 100, quotaRejected: 2, writeFailed: 1 },
};
const disk: DiskSpace = { totalBytes: 100 * gb, availableBytes: 50 * gb };

function health(hours: number, grown: number, space: DiskSpace | null = disk) {
  const nowMs = 1000 * hourMs;
  const samples = [
    { atMs: nowMs - hours * hourMs, bytes: 10 * gb },
    { atMs: nowMs, bytes: 10 * gb + grown },
  ];
  return storageHealth({ samples, disk: space, evidence, pendingBytes: 3, nowMs });
}

test('growth over the window gives the time that is left', () => {
  expect(health(12, gb)).toMatchObject({
    status: 'LOG_STORAGE_HEALTH_STATUS_HEALTHY',
    managedBytes: String(11 * gb),
    growthBytesPerDay: 2 * gb,
    estimateState: 'LOG_STORAGE_ESTIMATE_STATE_READY',
    estimatedRemainingSeconds: String(25 * 86_400),
    observationWindowSeconds: String(12 * 3600),
    ...{ evidenceStoredBytes: '5', evidenceStagedBytes: '4', evidenceQuotaBytes: '100' },
    ...{ quotaRejected: '2', writeFailed: '1', pendingBytes: '3' },
  });
});

test('an estimate is valid only after a while, and only of what grows', () => {
  const states = [
    health(0.1, gb),
    health(1, gb),
    health(12, 0),
    health(12, -gb),
    health(12, gb, null),
  ];
  expect(states.map(({ estimateState }) => estimateState?.slice(27))).toEqual([
    ...['COLLECTING', 'PRELIMINARY', 'NOT_GROWING', 'NOT_GROWING', 'UNAVAILABLE'],
  ]);
  expect(states.map(({ growthBytesPerDay }) => growthBytesPerDay).slice(2, 4)).toEqual([0, 0]);
  expect(states.map((one) => one.estimatedRemainingSeconds !== '0')).toEqual([
    ...[false, true, false, false, false],
  ]);
});

test('events that lie elsewhere, or cannot be kept, are no matter of this disk', () => {
  const samples = [
    { atMs: 0, bytes: 0 },
    { atMs: 12 * hourMs, bytes: gb },
  ];
  const reading = { samples, disk, evidence, pendingBytes: 0, nowMs: 12 * hourMs };
  expect(storageHealth({ ...reading, elsewhere: true })).toMatchObject({
    status: 'LOG_STORAGE_HEALTH_STATUS_HEALTHY',
    managedBytes: String(gb),
    estimateState: 'LOG_STORAGE_ESTIMATE_STATE_UNAVAILABLE',
  });
  expect(storageHealth({ ...reading, failing: true }).status).toBe(
    'LOG_STORAGE_HEALTH_STATUS_CRITICAL',
  );
});

test('the status follows the room that is left, and how long it lasts', () => {
  const of = (availableBytes: number, grown = 0) =>
    health(12, grown, { ...disk, availableBytes }).status?.slice(26);
  expect([of(50 * gb), of(7 * gb), of(gb / 2), of(20 * gb, 10 * gb)]).toEqual([
    ...['HEALTHY', 'WARNING', 'CRITICAL', 'WARNING'],
  ]);
  expect(health(12, 0, null).status).toBe('LOG_STORAGE_HEALTH_STATUS_UNKNOWN');
});

test('pressure ends with more room than it began with, and stays while nothing is known', () => {
  const space = (availableBytes: number): DiskSpace => ({ ...disk, availableBytes });
  expect(isUnderPressure(space(1.2 * gb), false)).toBe(false);
  expect(isUnderPressure(space(1.2 * gb), true)).toBe(true);
  expect(isUnderPressure(space(1.6 * gb), true)).toBe(false);
  expect([isUnderPressure(null, true), isUnderPressure(null, false)]).toEqual([true, false]);
});

test('samples cover a day at most, and ten minutes each', () => {
  let samples: ReturnType<typeof addSample> = [];
  for (let minute = 0; minute < 3 * 1440; minute++) {
    samples = addSample(samples, { atMs: minute * 60_000, bytes: minute });
  }
  expect(samples.length).toBeGreaterThan(140);
  expect(samples.length).toBeLessThan(150);
  expect(samples.at(-1)!.bytes).toBe(3 * 1440 - 1);
});

test('the monitor reports pressure once, again where it was not kept, and when it ends', async () => {
  let space: DiskSpace = { ...disk };
  const reported: boolean[] = [];
  let fails = true;
  const monitor = startStorageMonitor({
    kv: openMemoryKv(),
    clock: { nowMs: () => 1000 * hourMs, monotonicUs: () => 0 },
    eventBytes: () => 7,
    evidence: () => evidence,
    disk: () => Promise.resolve(space),
    onPressure: (active) => {
      reported.push(active);
      const failing = fails;
      fails = false;
      return failing ? Promise.reject(new Error('full')) : Promise.resolve();
    },
    underPressure: false,
  });
  await monitor.measure();
  expect(reported).toEqual([]);
  space = { ...disk, availableBytes: 1 };
  for (let at = 0; at < 3; at++) await monitor.measure();
  space = { ...disk };
  for (let at = 0; at < 2; at++) await monitor.measure();
  expect(reported).toEqual([true, true, false]);
  expect(monitor.health(9)).toMatchObject({ managedBytes: '12', pendingBytes: '9' });
  await monitor.close();
});
