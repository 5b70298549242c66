/** Tests that the reading of patterns never denies a match that is possible. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  canMatchWithin,
  finiteLanguage,
  minWidth,
  printRegex,
  readRegex,
  restrictTo,
  spellEndAnchors,
} from './regex-syntax.ts';

const setOf = (bytes: string): Uint8Array => {
  const set = new Uint8Array(256);
  for (const c of bytes) set[c.charCodeAt(0)] = 1;
  return set;
};
const word = setOf('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_');

describe('canMatchWithin', () => {
  it.each([
    ['select', true],
    ['(?i)union\\s+select', false],
    ['<script', false],
    ['a<?b', true],
    ['a|<b', true],
    ['[<>]{2}', false],
    ['[^a-z]', true],
    ['\\W', false],
    ['^$', true],
    ['\\bfoo\\b', true],
    ['(?=<)a', true],
    ['(?:a|b)(?:<|>)', false],
    ['(?:<x)*a', true],
    ['\\x3cb', false],
    ['[[:punct:]]', true],
    ['[[:space:]]', false],
    ['\\Q<b\\E', false],
    ['\\1', true],
    ['(?x) a # comment <\n b', true],
    ['a{0,3}<{0}', true],
    ['a{2,', false],
  ])('%s over word characters: %s', (pattern, expected) => {
    expect(canMatchWithin(readRegex(pattern, false), word)).toBe(expected);
  });

  it('never denies what a matching string of allowed bytes proves', () => {
    fc.assert(
      fc.property(regex, text, (pattern, value) => {
        if (!new RegExp(pattern, 's').test(value)) return;
        const node = readRegex(pattern, false);
        expect(canMatchWithin(node, word)).toBe(true);
        expect(minWidth(node)).toBeLessThanOrEqual(value.length);
      }),
      { numRuns: 3000 },
    );
  });
});

const atom = fc.constantFrom(
  ...[
    'a',
    'Z',
    '0',
    '_',
    '<',
    ' ',
    '.',
    '\\d',
    '\\w',
    '\\W',
    '\\s',
    '[a-c]',
    '[^a]',
    '[<>x]',
    '^',
    '$',
    '\\b',
  ],
);
const piece = fc
  .tuple(atom, fc.constantFrom('', '*', '+', '?', '{0,2}', '{2}'))
  .map(([a, q]) => (['^', '$', '\\b'].includes(a) ? a : a + q));
const sequence = fc.array(piece, { maxLength: 4 }).map((p) => p.join(''));
const regex = fc
  .tuple(sequence, sequence, fc.constantFrom('', '*', '?', '+'), sequence)
  .map(([a, b, q, c]) => `${a}(?:${b}|${c})${q}`);
const text = fc.stringMatching(/^[a-cZ0_]{0,8}$/);

describe('restrictTo and printRegex', () => {
  it('find exactly the same strings of allowed bytes', () => {
    fc.assert(
      fc.property(regex, text, (pattern, value) => {
        const expected = new RegExp(pattern, 's').test(value);
        const cut = restrictTo(readRegex(pattern, false), word);
        const printed = cut && printRegex(cut);
        const found =
          printed === null
            ? false
            : new RegExp(printed.replaceAll('\\z', '$').replaceAll('(?s:.)', '[^]')).test(value);
        expect(found).toBe(expected);
      }),
      { numRuns: 5000 },
    );
  });

  it('fold case into the sets', () => {
    expect(printRegex(readRegex('(?i)ab', false))).toBe('[Aa][Bb]');
  });

  it('cannot write look-around', () => {
    expect(printRegex(readRegex('(?=a)b', false))).toBeNull();
  });
});

describe('finiteLanguage', () => {
  it.each([
    ['^(?:GET|HEAD)$', ['GET', 'HEAD']],
    ['^0?$', ['', '0']],
    ['^[ab]c{2}$', ['acc', 'bcc']],
    ['^a+$', null],
    ['a', null],
    ['^\\d{4}$', null],
  ])('%s', (pattern, expected) => {
    expect(finiteLanguage(readRegex(pattern, false), 64)).toEqual(expected);
  });
});

describe('spellEndAnchors', () => {
  it.each([
    ['a$', 'a\\z'],
    ['a\\$', 'a\\$'],
    ['[$]$', '[$]\\z'],
    ['[]$]$', '[]$]\\z'],
    ['[^]$]$', '[^]$]\\z'],
    ['[[:alpha:]$]$', '[[:alpha:]$]\\z'],
    ['(?:a$|b$)', '(?:a\\z|b\\z)'],
  ])('%s becomes %s', (pattern, expected) => {
    expect(spellEndAnchors(pattern)).toBe(expected);
  });
});
