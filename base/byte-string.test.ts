/** Trimming of byte strings: what is cut, and that its cost is linear. */

import { expect, test } from 'vitest';
import { trimBlankEnds } from './byte-string.ts';

test.each([
  ['', ''],
  [' \t', ''],
  ['a', 'a'],
  ['\t a b \t', 'a b'],
  ['\xa0a\n ', '\xa0a\n'],
])('%j becomes %j', (text, expected) => {
  expect(trimBlankEnds(text)).toBe(expected);
});

test('many blanks inside a text cost no more than its length', () => {
  // An expression for the end would take more steps than a test may last.
  const text = `a${' '.repeat(4_000_000)}b`;
  expect(trimBlankEnds(`  ${text}\t`)).toBe(text);
});
