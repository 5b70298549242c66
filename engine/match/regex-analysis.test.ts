/** Tests that a pattern cut down to some bytes finds the same strings of those bytes. */

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { finiteLanguage, printForScan, restrictTo, spellEndAnchors } from './regex-analysis.ts';
import { readRegexTree } from './regex-tree.ts';
import type { RegexNode } from './regex-tree.ts';

function read(pattern: string): RegexNode {
  const tree = readRegexTree(pattern, { caseless: false, dotall: true });
  if (tree === null) throw new Error(`unreadable: ${pattern}`);
  return tree.root;
}

/** What is printed for Hyperscan, as a JavaScript regex. */
function asJavaScript(printed: string): RegExp {
  const caseless = printed.startsWith('(?i)');
  const body = caseless ? printed.slice(4) : printed;
  return new RegExp(body.replaceAll('(?s:.)', '[^]'), caseless ? 'i' : '');
}

const setOf = (bytes: string): Uint8Array => {
  const set = new Uint8Array(256);
  for (const c of bytes) set[c.charCodeAt(0)] = 1;
  return set;
};
const word = setOf('abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_');

describe('restrictTo', () => {
  it.each([
    ['select', 'select'],
    ['(?i)union\\s+select', null],
    ['a<?b', 'ab'],
    ['a|<b', 'a'],
    ['[<>]{2}', null],
    ['\\W', null],
    ['^$', '^$'],
    ['\\bfoo\\b', '\\bfoo\\b'],
    ['(?:a|b)(?:<|>)', null],
    ['(?:<x)*(a)', 'a'],
    ['x(?:["<]*(?:[|&]\\$[a-z]*)?\\\\?y)+', 'xy+'],
  ])('%s over word characters is %s', (pattern, expected) => {
    const cut = restrictTo(read(pattern), word);
    expect(cut && printForScan(cut)).toBe(expected);
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

describe('restrictTo and printForScan', () => {
  it('find exactly the same strings of allowed bytes', () => {
    fc.assert(
      fc.property(regex, text, (pattern, value) => {
        const expected = new RegExp(pattern, 's').test(value);
        const cut = restrictTo(read(pattern), word);
        const printed = cut && printForScan(cut);
        const found = printed === null ? false : asJavaScript(printed).test(value);
        expect(found).toBe(expected);
      }),
      { numRuns: 5000 },
    );
  });

  it('fold case into the sets', () => {
    expect(printForScan(read('(?i)ab'))).toBe('(?i)ab');
  });

  it('cannot write look-around', () => {
    expect(printForScan(read('(?=a)b'))).toBeNull();
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
    expect(finiteLanguage(read(pattern), 64)).toEqual(expected);
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
