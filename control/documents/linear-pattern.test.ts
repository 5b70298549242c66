/** Patterns mean in RE2 what they mean in ECMA-262, on generated texts; what RE2 lacks is named. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Re2 } from '../../native-bindings/re2/re2.ts';
import { linearPattern } from './linear-pattern.ts';

const translatable = [
  '^[a-z]+$',
  'a.c',
  '\\s',
  '\\S',
  '[\\s]',
  '[^\\s]',
  '[\\S]',
  '^\\w{2,4}$',
  '\\W',
  '[\\W]',
  '[^\\W]',
  '\\d+',
  '\\D',
  '[\\D]',
  '^$',
  '[a\\-z]',
  '[-a]',
  '[a-]',
  '\\u00e9',
  '\\ud83d\\ude00',
  '\\u{1F600}',
  '\\cC',
  '\\x41',
  '\\p{L}',
  '\\P{L}',
  '\\p{Letter}',
  '[\\p{Lu}a]',
  '(?<year>\\d{4})',
  '(a|b)*c',
  'a{2}',
  'a{2,}',
  'a{0,3}?',
  '\\b\\w',

  '[\\b]',
  '\\0',
  '\\/',
  '\\.',
  '[[:alpha:]]',
  '[&&]',
  '[^a]',
  '[]a',
  '^a|b$',
  '\\n$',
  'x*?y',
  '[\\]]',
  '[\\\\]',
  '[.*]',
  ' ',
];
const letters = [
  'a',
  'b',
  'c',
  'x',
  'y',
  'z',
  'A',
  '-',
  '_',
  '.',
  '/',
  ' ',
  '\n',
  '\r',
  '\u2028',
  '\u00a0',
  '\ufeff',
  '\t',
  '\b',
  '\0',
  '\x03',
  'é',
  '😀',
  '0',
  '1',
  '9',
  '[',
  ']',
  ':',
  '\\',
  '&',
  '*',
];

describe('patterns', () => {
  test.each(translatable)('%j means the same', (pattern) => {
    const found = linearPattern(pattern);
    expect(found).toHaveProperty('source');
    const linear = new Re2((found as { source: string }).source, 'text');
    let reference: RegExp;
    try {
      reference = new RegExp(pattern, 'u');
    } catch {
      // Escapes that the `u` flag does not allow.
      reference = new RegExp(pattern);
    }
    const text = fc.array(fc.constantFrom(...letters), { maxLength: 6 }).map((all) => all.join(''));
    fc.assert(
      fc.property(text, (value) => {
        expect([value, linear.test(value)]).toEqual([value, reference.test(value)]);
      }),
      { numRuns: 400 },
    );
  });

  test.each([
    ['(?=a)', 'looks around'],
    ['(?!a)', 'looks around'],
    ['(?<=a)b', 'looks around'],
    ['(a)\\1', 'refers back'],
    ['(?<n>a)\\k<n>', 'refers back'],
    ['\\a', 'escape'],
    ['[a', 'without an end'],
    ['(', 'RE2'],
    ['a{5000}', 'RE2'],
    ['\\ud800', 'half'],
    ['\\B', 'inside a word'],
    ['x'.repeat(3000), 'characters'],
    ['\\u12', 'digits'],
    ['\\p{Foo}', 'RE2'],
  ])('%j has no translation', (pattern, problem) => {
    expect(linearPattern(pattern)).toEqual({ problem: expect.stringContaining(problem) });
  });
});
