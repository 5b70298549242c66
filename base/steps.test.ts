/** Tests of work in steps: at once, and in slices that let others run. */

import { expect, test } from 'vitest';
import { runAtOnce, runInSlices, type Steps } from './steps.ts';

function* count(upTo: number, seen: number[]): Steps<string> {
  for (let i = 0; i < upTo; i++) {
    seen.push(i);
    yield;
  }
  return 'done';
}

test('runs all steps at once', () => {
  const seen: number[] = [];
  expect(runAtOnce(count(3, seen))).toBe('done');
  expect(seen).toEqual([0, 1, 2]);
});

test('lets others run between slices', async () => {
  const seen: number[] = [];
  const running = runInSlices(count(3, seen), 0);
  expect(seen).toEqual([0]);
  const between: number[] = [];
  setImmediate(() => between.push(seen.length));
  expect(await running).toBe('done');
  expect(between[0]).toBeLessThan(3);
  expect(seen).toEqual([0, 1, 2]);
});

test('what a step throws comes out', async () => {
  function* fails(): Steps<void> {
    yield;
    throw new Error('no');
  }
  expect(() => runAtOnce(fails())).toThrow('no');
  await expect(runInSlices(fails(), 0)).rejects.toThrow('no');
});
