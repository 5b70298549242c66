/** Countries are shown and understood by name. */

import { expect, test } from 'vitest';
import { countryCode, countryName, enteredCountry } from './countries.ts';

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

test.each([
  ['France', 'FR'],
  ['法国', 'FR'],
  ['Germany', 'DE'],
  ['Russia', 'RU'],
  ['de', 'DE'],
  ['', ''],
  ['8', '8'],
])('%s means %s among all codes', (text, expected) => {
  expect(enteredCountry(text, 'zh-CN')).toBe(expected);
});
