/** Proves that faults are found at the place that a message names. */

import { expect, test } from 'vitest';
import { placeIn, rangeAt } from './text-place.ts';

test.each([
  ['line 3, column 14: unknown-variable', { line: 3, column: 14 }],
  ['line 7: rule id 5 is taken', { line: 7, column: 1 }],
  ['source:2:9: is not valid YAML', { line: 2, column: 9 }],
  ['custom-rules/10000.conf:1:12 duplicate-id', { line: 1, column: 12 }],
  ['is required', null],
  ['must be below 10:30', null],
])('%s', (message, place) => {
  expect(placeIn(message)).toEqual(place);
});

test.each([
  [{ line: 1, column: 1 }, 'first'],
  [{ line: 2, column: 3 }, 'cond'],
  [{ line: 3, column: 1 }, 'third'],
  [{ line: 3, column: 99 }, ''],
  [{ line: 9, column: 1 }, 'third'],
])('%o is before "%s"', (place, rest) => {
  const text = 'first\nsecond\nthird';
  expect(text.slice(...rangeAt(text, place))).toBe(rest);
});
