/** Tests the order of targets within a round, and how long connections rest for a rate. */

import { expect, test } from 'vitest';
import { inTurn, pauseFor } from './rounds.ts';

test('pauses and answers of all connections together give the rate', () => {
  expect(pauseFor(10_000, 64, 400)).toBeCloseTo(6);
  expect(pauseFor(1000, 64, 0)).toBeCloseTo(64);
  expect(pauseFor(1_000_000, 16, 400)).toBe(0);
});

test('targets take turns, or all begin before one ends', async () => {
  const order = async (together: boolean): Promise<string[]> => {
    const steps: string[] = [];
    await inTurn(['a', 'b'], { together }, async (name) => {
      steps.push(`${name} begins`);
      await Promise.resolve();
      steps.push(`${name} ends`);
    });
    return steps;
  };
  expect(await order(false)).toEqual(['a begins', 'a ends', 'b begins', 'b ends']);
  expect(await order(true)).toEqual(['a begins', 'b begins', 'a ends', 'b ends']);
});
