/** Covers how names and patterns find files of a set. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFileSet, matchesGlob } from './file-set.ts';

const set = createFileSet(
  ['crs/setup.conf', 'crs/rules/b.conf', 'crs/rules/a.conf', 'crs/rules/words.data', '/etc/x'].map(
    (path) => ({ path, text: `# ${path}` }),
  ),
);

describe('a file set', () => {
  const table: [string, string, string[]][] = [
    ['rules/*.conf', 'crs/setup.conf', ['crs/rules/b.conf', 'crs/rules/a.conf']],
    ['crs/rules/a.conf', 'other.conf', ['crs/rules/a.conf']],
    ['../setup.conf', 'crs/rules/a.conf', ['crs/setup.conf']],
    ['./a.conf', 'crs/rules/b.conf', ['crs/rules/a.conf']],
    ['/etc/x', 'crs/setup.conf', ['/etc/x']],
    ['/etc/[w-y]', 'crs/setup.conf', ['/etc/x']],
    ['*.conf', 'other.conf', []],
    ['../../../../etc/x', 'crs/setup.conf', []],
    ['none', 'crs/setup.conf', []],
  ];
  it.each(table)('%s in %s', (pattern, from, expected) => {
    expect(set.readFiles(pattern, from).map((file) => file.path)).toEqual(expected);
  });

  it('reads data files from the folder of the rule', () => {
    expect(set.readDataFile('words.data', 'crs/rules/a.conf')).toBe('# crs/rules/words.data');
    expect(set.readDataFile('words.data', 'crs/setup.conf')).toBeNull();
    expect(set.readDataFile('*.data', 'crs/rules/a.conf')).toBeNull();
  });
});

describe('matchesGlob', () => {
  const table: [string, string, boolean][] = [
    ['a.conf', '*.conf', true],
    ['a.conf', '?.conf', true],
    ['ab.conf', '?.conf', false],
    ['a/b.conf', '*.conf', false],
    ['a/b.conf', '*/*.conf', true],
    ['a1', 'a[0-9]', true],
    ['ax', 'a[!0-9]', true],
    ['a', 'a[', false],
    ['a[', 'a[', true],
    ['', '*', true],
    ['abcabd', '*ab[d]', true],
  ];
  it.each(table)('%s with %s: %s', (path, pattern, expected) => {
    expect(matchesGlob(path, pattern)).toBe(expected);
  });

  it('agrees with a regular expression', () => {
    const text = fc.stringMatching(/^[ab]{0,8}$/);
    const pattern = fc.stringMatching(/^[ab*?]{0,6}$/);
    fc.assert(
      fc.property(text, pattern, (path, glob) => {
        const source = glob.replaceAll('*', '.*').replaceAll('?', '.');
        expect(matchesGlob(path, glob)).toBe(new RegExp(`^${source}$`).test(path));
      }),
      { numRuns: 2000 },
    );
  });
});
