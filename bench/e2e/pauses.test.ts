/** Tests that pauses of a thread are found, and what is said of them. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { collectGarbage } from '../../base/garbage.ts';
import { watchPauses } from './pause-probe.ts';
import { describePauses, readPauses } from './pauses.ts';

test('a line says the longest pause and how many were long', () => {
  const minor = { kind: 'minor', fromMs: 0, ms: 4 } as const;
  const pauses = [
    { atMs: 1, ms: 3, ranMs: 3, collections: [] },
    { atMs: 1, ms: 6, ranMs: 5, collections: [minor, { ...minor, kind: 'major' as const, ms: 1 }] },
    { atMs: 1, ms: 12, ranMs: 11, collections: [minor] },
    { atMs: 1, ms: 12, ranMs: 1, collections: [] },
  ];
  expect(describePauses(pauses)).toBe(
    'longest 12.0 ms; 3 above 5 ms, 2 above 10 ms; above 5 ms: 1 minor, 1 work, 1 waiting',
  );
  expect(describePauses([])).toBe('none of 2 ms; 0 above 5 ms, 0 above 10 ms');
});

test('nothing noted is not the same as no pause', () => {
  expect(readPauses('/nowhere', 0)).toBeNull();
});

test('the probe names the collection that stopped a thread', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pauses-'));
  const stop = watchPauses(join(folder, 'thread.json'), 10);
  const kept = Array.from({ length: 300_000 }, (_, at) => ({ at }));
  await vi.waitFor(
    () => {
      collectGarbage();
      const all = readPauses(folder, 0)!.flatMap(({ collections }) => collections);
      expect(all.some(({ kind, ms }) => kind === 'major' && ms > 0)).toBe(true);
    },
    { timeout: 120_000, interval: 50 },
  );
  expect(kept).toHaveLength(300_000);
  stop();
  rmSync(folder, { recursive: true });
});

test('the probe notes a thread that worked for 300 ms without a turn', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pauses-'));
  const stop = watchPauses(join(folder, 'thread.json'), 10);
  await sleep(20);
  const end = process.cpuUsage().user + 300_000;
  while (process.cpuUsage().user < end);
  await vi.waitFor(
    () => {
      const longest = Math.max(0, ...readPauses(folder, 0)!.map(({ ms }) => ms));
      expect(longest).toBeGreaterThan(20);
    },
    { timeout: 120_000, interval: 50 },
  );
  stop();
  rmSync(folder, { recursive: true });
});
