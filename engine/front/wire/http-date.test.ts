/** Tests of the date that answers carry. */

import { expect, test } from 'vitest';
import { httpDate } from './http-date.ts';

test('a date is written for each second, and again for one that is past', () => {
  const noon = Date.UTC(2026, 10, 28, 12, 0, 0);
  expect(httpDate(noon + 999)).toBe('Sat, 28 Nov 2026 12:00:00 GMT');
  expect(httpDate(noon + 1000)).toBe('Sat, 28 Nov 2026 12:00:01 GMT');
  expect(httpDate(noon)).toBe('Sat, 28 Nov 2026 12:00:00 GMT');
});
