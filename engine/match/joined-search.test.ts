/** Proves that a search in joined values leaves out no value that matches by itself. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crsPatterns, valueNear } from './crs-patterns.test-support.ts';
import { compileJoined } from './joined-search.ts';
import { compileExact } from './regex.ts';

const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);

/** The values that may match. */
function possibleOf(pattern: string, values: readonly string[]): string[] {
  const possible = new Uint8Array(values.length).fill(7);
  compileExact(pattern).joined?.()?.sift(values, possible);
  expect([...possible].every((flag) => flag <= 1)).toBe(true);
  return values.filter((_, at) => possible[at] === 1);
}

const plain = Array.from({ length: 200 }, (_, at) => `value${at}`);

test.each([
  ['a word', 'ab+c', 'xabbc'],
  ['the start', '^a+b', 'abc'],
  ['the start, the other way', '\\Aab', 'abc'],
  ['the end', 'ab$', 'xab'],
  ['the end, the other way', 'ab\\z', 'xab'],
  ['the boundary of a word', '\\bab\\b', 'ab'],
  ['a newline', 'a\\nb', 'a\nb'],
  ['bytes from 0x80', '[\\x80-\\xff]{2}', '\xe9\xff'],
  ['a value that is empty', '^$', ''],
])('finds %s and little else', (_name, pattern, value) => {
  for (const at of [0, 1, 63, 64, 127, 199]) {
    const found = possibleOf(pattern, plain.with(at, value));
    expect(found).toContain(value);
    expect(found.length).toBeLessThan(8);
  }
});

test('nothing is left where nothing matches', () => {
  expect(possibleOf('a+b', plain)).toEqual([]);
});

test('a match over several values makes its beginning possible', () => {
  expect(possibleOf('e17\\nv', plain)).not.toEqual([]);
  expect(possibleOf('e19\\nx', plain)).toEqual([]);
});

test('values too long to be joined may match', () => {
  const long = 'x'.repeat(20_000);
  const values = [...plain, long, ...plain];
  expect(possibleOf('a+b', values)).toEqual([long]);
});

test('the fillers of a batch before are not read', () => {
  expect(
    possibleOf('a+b', [...Array.from({ length: 64 }, () => 'abab'), 'x', 'y', 'z']),
  ).toHaveLength(64);
});

test('a pattern that RE2 does not take has no joined search', () => {
  expect(compileJoined('(')).toBeNull();
  expect(compileExact('(?=a)b').joined?.() ?? null).toBeNull();
});

test(`leaves out no value that a pattern of CRS matches (FUZZ_SEED=${seed})`, () => {
  let matched = 0;
  let leftOut = 0;
  for (const pattern of crsPatterns()) {
    const regex = compileExact(pattern);
    const search = regex.joined?.();
    if (!search) continue;
    const values = fc.sample(valueNear(pattern), { seed, numRuns: 150 });
    const possible = new Uint8Array(values.length);
    search.sift(values, possible);
    values.forEach((value, at) => {
      const matches = regex.test(value);
      if (matches) matched++;
      if (possible[at] === 0) leftOut++;
      if (matches && possible[at] === 0) throw new Error(`${pattern} ${JSON.stringify(value)}`);
    });
    regex.close();
  }
  expect(matched).toBeGreaterThan(1_000);
  expect(leftOut).toBeGreaterThan(1_000);
  console.log(`${matched} values matched, ${leftOut} were left out`);
});
