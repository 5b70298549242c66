/** Proves that work put off is done once for all calls that came meanwhile, and again later. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { later } from './coalesce.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('calls while it waits are one run; a call behind it is another', () => {
  let runs = 0;
  const soon = later(() => runs++, 100);
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
