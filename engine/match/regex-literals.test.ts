/** Tests that what a pattern is said to need stands in all that it matches. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { crsPatterns, valueNear } from './crs-patterns.test-support.ts';
import { printForScan } from './regex-analysis.ts';
import { partByLiterals, requiredLiterals } from './regex-literals.ts';
import { compileExact } from './regex.ts';
import { readRegexTree } from './regex-tree.ts';
import type { RegexNode } from './regex-tree.ts';

const flags = { caseless: false, dotall: true };
const treeOf = (pattern: string): RegexNode => readRegexTree(pattern, flags)!.root;

test.each([
  ['busybox', ['busybox']],
  ['(?i)BusyBox', ['busybox']],
  ['x?(?:one|two)y*', ['one', 'two', 'xone', 'xtwo']],
  ['e(?:nv|val)[ ,]', ['env ', 'env,', 'eval ', 'eval,']],
  ['time(?:[ &]z*|out)', ['time ', 'time&', 'timeout']],
  ['[;{]', [';', '{']],
  ['(?:ab){2}.', ['abab']],
  ['^abc$', ['abc']],
  ['.(?:abc|def)+', ['abc', 'def']],
])('%s needs %j', (pattern, literals) => {
  expect(requiredLiterals(treeOf(pattern))?.toSorted()).toEqual(literals);
});

test.each(['^', '.*', '(?:abc)?', 'abc|.', '[a-z]+', 'ab|abc', '(?:abc|)x'])(
  '%s needs nothing that is rare',
  (pattern) => {
    expect(requiredLiterals(treeOf(pattern))).toBeNull();
  },
);

test('a choice is parted by what its options need', () => {
  const parts = partByLiterals(treeOf('(?:^|;|time )x[a-z]+'));
  expect(printForScan(parts.guarded!)).toBe(printForScan(treeOf('(?:;|time )x[a-z]+')));
  expect(printForScan(parts.rest!)).toBe('(?:^)x[a-z]+');
  expect(parts.literals.toSorted()).toEqual([';', 'time ']);
  const none = partByLiterals(treeOf('x[a-z]+'));
  expect(none).toMatchObject({ guarded: null, literals: [] });
});

/** Commands as the rules that search for them begin: what parts them, and a few of them. */
const commands = [
  '(?:^|;|&&?|time(?:[ ,&].*|out)|(?:env|watch)[ &].*) *(?:c(?:at|url)|wget|id)(?:[ ,]|$)',
  ...crsPatterns().filter((pattern) => pattern.length < 2000),
];

test('a value that a part matches matches the pattern, and the other way around', () => {
  let guarded = 0;
  const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);
  for (const pattern of commands) {
    const tree = readRegexTree(pattern, flags);
    if (tree === null || !tree.exact) continue;
    const parts = partByLiterals(tree.root);
    if (parts.guarded === null) continue;
    guarded++;
    const whole = compileExact(pattern, flags);
    const [some, rest] = [parts.guarded, parts.rest].map((part) => {
      const text = part && printForScan(part);
      return text === null ? null : compileExact(text, flags);
    });
    const property = fc.property(valueNear(pattern), (value) => {
      const lower = value.toLowerCase();
      const needed = parts.literals.some((literal) => lower.includes(literal));
      if (some?.test(value)) expect(needed).toBe(true);
      expect(Boolean(some?.test(value)) || Boolean(rest?.test(value))).toBe(whole.test(value));
    });
    fc.assert(property, { seed, numRuns: 60 });
    for (const one of [whole, some, rest]) one?.close();
  }
  expect(guarded).toBeGreaterThan(0);
});
