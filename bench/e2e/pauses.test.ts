/** Tests that pauses of a thread are found, and what is said of them. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { watchPauses } from './pause-probe.ts';
import { describePauses, readPauses } from './pauses.ts';

test('a line says the longest pause and how many were long', () => {
  const pauses = [3, 6, 12].map((ms) => ({ atMs: 1, ms }));
  expect(describePauses(pauses)).toBe('longest 12.0 ms; 2 above 5 ms, 1 above 10 ms');
  expect(describePauses([])).toBe('none of 2 ms; 0 above 5 ms, 0 above 10 ms');
});

test('nothing noted is not the same as no pause', () => {
  expect(readPauses('/nowhere', 0)).toBeNull();
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
    { timeout: 20_000, interval: 50 },
  );
  stop();
  rmSync(folder, { recursive: true });
});
