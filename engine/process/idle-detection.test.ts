/** Tests that idle work runs once after a busy period, and never without or during one. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { onIdle } from './idle-detection.ts';

let worked = 0;
let rests = 0;
beforeEach(() => {
  vi.useFakeTimers();
  worked = 0;
  rests = 0;
  const options = { workedMs: () => worked, everyMs: 1_000, idleShare: 0.1, worthMs: 500 };
  onIdle(options, () => rests++);
});
afterEach(() => void vi.useRealTimers());

/** One interval in which `ms` were worked. */
function interval(ms: number): void {
  worked += ms;
  vi.advanceTimersByTime(1_000);
}

test('once after work, however long it stays idle', () => {
  interval(800);
  expect(rests).toBe(0);
  interval(20);
  expect(rests).toBe(1);
  for (let i = 0; i < 10; i++) interval(0);
  expect(rests).toBe(1);
  interval(800);
  interval(0);
  expect(rests).toBe(2);
});

test('little work adds up', () => {
  for (let i = 0; i < 12; i++) interval(50);
  expect(rests).toBe(1);
});
