/** Tests that calls during the delay share one run, and that a later call starts another. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { coalesce } from './coalesce.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('calls during the delay share one run; a later call starts another', () => {
  let runs = 0;
  const soon = coalesce(() => runs++, 100);
  soon();
  vi.advanceTimersByTime(60);
  soon();
  expect(runs).toBe(0);
  vi.advanceTimersByTime(40);
  expect(runs).toBe(1);
  vi.advanceTimersByTime(500);
  expect(runs).toBe(1);
  soon();
  vi.advanceTimersByTime(100);
  expect(runs).toBe(2);
});
