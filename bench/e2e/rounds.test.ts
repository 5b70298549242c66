/** Tests how long connections rest for a rate. */

import { expect, test } from 'vitest';
import { pauseFor } from './rounds.ts';

test('pauses and answers of all connections together give the rate', () => {
  expect(pauseFor(10_000, 64, 400)).toBeCloseTo(6);
  expect(pauseFor(1000, 64, 0)).toBeCloseTo(64);
  expect(pauseFor(1_000_000, 16, 400)).toBe(0);
});
