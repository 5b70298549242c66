/** Tests of the fields that tell clients how they stand with rate limits. */

import { expect, test } from 'vitest';
import { rateFieldLines } from './rate-fields.ts';

const standing = {
  ...{ name: 'login', quota: 10, windowSeconds: 60, remaining: 3, resetSeconds: 42 },
};

test('are two lists of structured fields, one member a limit', () => {
  expect(rateFieldLines([])).toBe('');
  expect(rateFieldLines([standing, { ...standing, name: 'all', remaining: 0 }])).toBe(
    'RateLimit-Policy: "login";q=10;w=60, "all";q=10;w=60\r\n' +
      'RateLimit: "login";r=3;t=42, "all";r=0;t=42\r\n',
  );
});

test('names are strings of structured fields, whatever they hold', () => {
  const lines = rateFieldLines([{ ...standing, name: 'a"b\\c\r\nSet-Cookie: dü' }]);
  expect(lines).toContain(String.raw`"a\"b\\c__Set-Cookie: d_";q=10`);
  expect(lines.split('\r\n')).toHaveLength(3);
});
