/** Proves which codes name a country. */
import { expect, test } from 'vitest';
import { countryNameOf } from './country-names.ts';

test.each([
  ['DE', 'Germany'],
  ['JP', 'Japan'],
  ['QQ', undefined],
  ['de', undefined],
  ['DEU', undefined],
  ['', undefined],
])('%j is %j', (code, name) => expect(countryNameOf(code)).toBe(name));
