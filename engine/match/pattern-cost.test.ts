/** Tests that slow patterns are distinguished from those of CRS. */
import { expect, test } from 'vitest';
import { crsPatterns } from './crs-patterns.test-support.ts';
import { costlyValues, findSlowSearch, type SlowSearch } from './pattern-cost.ts';
import { compileExact } from './regex.ts';

function slowSearch(pattern: string): SlowSearch | null {
  const regex = compileExact(pattern);
  try {
    return findSlowSearch(pattern, regex);
  } finally {
    regex.close();
  }
}

test.each([
  ['counts that RE2 has no room for', '(a|b{900}|c{900})', false],
  ['counts that PCRE2 tries in every order', '(?:a?){500}a{500}', true],
  ['nested repetition with a look-ahead', '(?!x)(a+)+$', true],
  ['alternatives that begin alike, with a back reference', '^(?:(a|aa)+)\\1\\1z', true],
  ['repeated words', '(?=.)^(?:(?:foo|foofoo|bar)+)*$', true],
])('%s', (_, pattern, stopped) => {
  expect(slowSearch(pattern)).toMatchObject({ stopped, value: expect.any(String) });
});

test('no pattern of CRS is slow', () => {
  const patterns = crsPatterns();
  // Debian's CRS 3.3 alone has 242.
  expect(patterns.length).toBeGreaterThan(200);
  expect(patterns.filter((pattern) => slowSearch(pattern) !== null)).toEqual([]);
});

test('values are bounded in length and number, whatever the pattern', () => {
  const long = Array.from({ length: 5000 }, (_, at) => `w${at}${String.fromCharCode(at % 256)}`);
  for (const pattern of ['', 'a', long.join('')]) {
    const values = costlyValues(pattern);
    expect(values.length).toBeLessThanOrEqual(96);
    expect(new Set(values.map(({ length }) => length))).toEqual(new Set([4096]));
  }
});
