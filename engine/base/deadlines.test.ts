/** Proves that deadlines pass in the running time of a thread, not while it stands still. */

import { afterEach, expect, test } from 'vitest';
import { Deadlines, type DeadlineHolder } from './deadlines.ts';

const intervalMs = 100_000;
let made: Deadlines | null = null;
afterEach(() => made?.close());

function timeline(): { pass: (ms: number) => void; fired: () => number } {
  let us = 5_000_000;
  const deadlines = new Deadlines({ nowMs: () => us / 1000, monotonicUs: () => us }, intervalMs);
  made = deadlines;
  let fired = 0;
  const holder: DeadlineHolder = {
    deadlineMs: deadlines.nowMs + 3 * intervalMs,
    deadlinePlace: -1,
    onDeadline: () => void fired++,
  };
  deadlines.add(holder);
  return {
    pass: (ms) => {
      us += ms * 1000;
      deadlines.sweep();
    },
    fired: () => fired,
  };
}

test('a deadline passes once, at its time', () => {
  const { pass, fired } = timeline();
  pass(intervalMs);
  pass(intervalMs * 1.9);
  expect(fired()).toBe(0);
  pass(intervalMs * 0.2);
  expect(fired()).toBe(1);
  pass(intervalMs);
  expect(fired()).toBe(1);
});

test('a thread that stood still for long gives what waits its time again', () => {
  const { pass, fired } = timeline();
  pass(intervalMs * 50);
  expect(fired()).toBe(0);
  pass(intervalMs * 1.1);
  expect(fired()).toBe(1);
});
