/** Countries are shown and understood by name. */

import { expect, test } from 'vitest';
import { countryCode, countryName } from './countries.ts';

test.each([
  ['DE', 'en', 'Germany (DE)'],
  ['DE', 'zh-CN', '德国 (DE)'],
  ['T1', 'en', 'T1'],
  ['', 'en', ''],
])('the country %s is called in %s: %s', (code, tag, expected) => {
  expect(countryName(code, tag)).toBe(expected);
});

test.each([
  ['Germany', 'DE'],
  ['germany', 'DE'],
  ['德国', 'DE'],
  ['de', 'DE'],
  ['France', 'FRANCE'],
  ['XX', 'XX'],
])('%s means the code %s', (text, expected) => {
  expect(countryCode(text, ['AD', 'DE', 'XX', 'T1'], ['en', 'zh-CN'])).toBe(expected);
});
