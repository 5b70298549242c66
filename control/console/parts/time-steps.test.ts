/** Tests the steps and the scale of charts over time. */

import { expect, test } from 'vitest';
import { roundTop, stepsOf } from './time-steps.ts';

const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 0, 5, 10, 7);

test.each([
  ['an hour', 1, 1],
  ['an hour and some seconds', 1.01, 1],
  ['a day', 24, 30],
  ['a week', 168, 240],
  ['a month', 720, 720],
  ['a year', 8760, 8640],
])('%s has at most 62 bars of whole lengths', (_name, hours, minutes) => {
  const { stepMs, steps } = stepsOf([], startMs, startMs + hours * hourMs);
  expect(stepMs).toBe(minutes * 60_000);
  expect(steps.length).toBeLessThanOrEqual(62);
  expect(steps[0]!.atMs).toBeLessThanOrEqual(startMs);
  expect(steps.at(-1)!.atMs + stepMs).toBeGreaterThanOrEqual(startMs + hours * hourMs);
});

test('amounts of one step add up, the sum of all steps is that of the amounts', () => {
  const amounts = Array.from({ length: 100 }, (_, index) => ({
    ...{ atMs: startMs + index * 1000, total: 3, blocked: 1 },
  }));
  const { steps, top } = stepsOf(amounts, startMs, startMs + hourMs);
  expect(steps.filter(({ total }) => total > 0).map(({ total }) => total)).toEqual([180, 120]);
  expect(steps.reduce((sum, { blocked }) => sum + blocked, 0)).toBe(100);
  expect(top).toBe(200);
});

test('amounts outside of the span are no bars, longer ones widen the step', () => {
  const outside = [startMs - 2 * hourMs, startMs + 2 * hourMs];
  const amounts = outside.map((atMs) => ({ atMs, total: 9, blocked: 9 }));
  expect(stepsOf(amounts, startMs, startMs + hourMs).top).toBe(1);
  expect(stepsOf([], startMs, startMs + hourMs, 7 * 60_000).stepMs).toBe(10 * 60_000);
});

test.each([
  [0, 1],
  [1, 1],
  [2, 2],
  [3, 4],
  [9, 10],
  [10, 10],
  [11, 20],
  [99, 100],
  [613, 800],
])('a scale for %i ends at %i', (most, top) => {
  expect(roundTop(most)).toBe(top);
});
