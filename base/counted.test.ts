/** Counts agree with their nouns. */

import { expect, test } from 'vitest';
import { counted } from './counted.ts';

test.each([
  [counted(0, 'request'), '0 requests'],
  [counted(1, 'request'), '1 request'],
  [counted(1n, 'request'), '1 request'],
  [counted(2n, 'request'), '2 requests'],
  [counted(1, 'policy', 'policies'), '1 policy'],
  [counted(3, 'policy', 'policies'), '3 policies'],
])('%s is %s', (shown, wanted) => {
  expect(shown).toBe(wanted);
});
