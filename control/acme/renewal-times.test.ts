/** When certificates are renewed and orders tried again. */

import { expect, test } from 'vitest';
import { renewAtMs, retryDelayMs } from './renewal-times.ts';

const day = 86_400_000;
const life = { notBeforeMs: 0, notAfterMs: 90 * day };

test('without a word of the authority: two thirds of the life, spread', () => {
  expect(renewAtMs(life, null, 0.5)).toBe(60 * day);
  expect(renewAtMs(life, null, 0)).toBeCloseTo(55.5 * day, -1);
  expect(renewAtMs(life, null, 1)).toBeCloseTo(64.5 * day, -1);
});

test('the authority suggests a window: a moment of it', () => {
  const window = { startMs: 10 * day, endMs: 12 * day };
  expect(renewAtMs(life, window, 0)).toBe(10 * day);
  expect(renewAtMs(life, window, 0.25)).toBe(10.5 * day);
});

test('pauses double from a minute to a day, and are never less than asked for', () => {
  const minutes = [1, 2, 3, 11, 12, 40].map((attempts) => retryDelayMs(attempts, 0, 0) / 60_000);
  expect(minutes).toEqual([1, 2, 4, 1024, 1440, 1440]);
  expect(retryDelayMs(1, 0, 1)).toBe(75_000);
  expect(retryDelayMs(1, 3_600_000, 0)).toBe(3_600_000);
});
