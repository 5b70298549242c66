/** Tests of the choice of a content coding. */

import { expect, test } from 'vitest';
import { acceptedCoding } from './accepted-coding.ts';

test.each([
  ['', ''],
  ['gzip', 'gzip'],
  ['br', 'br'],
  ['gzip, br', 'br'],
  ['GZip;Q=0.5', 'gzip'],
  ['gzip; q=0.001', 'gzip'],
  ['gzip;q=0', ''],
  ['gzip;q=0.000', ''],
  ['gzip;q=1.001', ''],
  ['gzip;q=-1', ''],
  ['gzip;q=', ''],
  ['gzip;q=0.5;x=1', ''],
  ['gzip;level=9', ''],
  ['gzip, gzip;q=0', ''],
  ['*', 'br'],
  ['*;q=0', ''],
  ['*;q=0, gzip', 'gzip'],
  ['br;q=0, *', 'gzip'],
  ['identity', ''],
  ['identity, gzip', 'gzip'],
  ['identity, gzip;q=0.9', ''],
  ['identity;q=0, gzip;q=0.1', 'gzip'],
  ['gzip2, xgzip, brr', ''],
  [', ,gzip,', 'gzip'],
  ['gzip br', ''],
])('%s: %s', (asked, coding) => {
  expect(acceptedCoding(asked)).toBe(coding);
  // Again, from memory.
  expect(acceptedCoding(asked)).toBe(coding);
});
