/** Tests that no character of a text can hide or turn around what stands beside it. */

import { expect, test } from 'vitest';
import { placesOf, visiblePieces } from './visible-pieces.ts';

const shown = (text: string): string =>
  visiblePieces(text)
    .map((piece) => piece.text)
    .join('');

test.each([
  ['plain text stays', 'Straße 名前 \u{1f600}', 'Straße 名前 \u{1f600}'],
  ['right-to-left override', 'a\u202egnp', 'a\\u{202e}gnp'],
  ['isolates', '\u2066a\u2069', '\\u{2066}a\\u{2069}'],
  ['zero width', 'se\u200blect', 'se\\u{200b}lect'],
  ['control', 'a\u0000b\u001b[31m', 'a\\u{0}b\\u{1b}[31m'],
  ['line breaks', 'a\r\nb\u2028c', 'a\\u{d}\\u{a}b\\u{2028}c'],
  ['half of a surrogate pair', 'a\ud800b', 'a\\u{d800}b'],
  ['tag characters', 'a\u{e0041}', 'a\\u{e0041}'],
  ['soft hyphen and invisible separator', 'a\u00adb\u2063c', 'a\\u{ad}b\\u{2063}c'],
])('%s', (_, text, expected) => {
  expect(shown(text)).toBe(expected);
});

test('only what stands for a hidden character is marked as escaped', () => {
  expect(visiblePieces('a\u202eb')).toEqual([
    { text: 'a', escaped: false },
    { text: '\\u{202e}', escaped: true },
    { text: 'b', escaped: false },
  ]);
});

test('a part without a known place is found wherever it stands, up to a bound', () => {
  expect(placesOf('or nor', 'or')).toEqual([
    { start: 0, end: 2 },
    { start: 4, end: 6 },
  ]);
  expect(placesOf('aaa', 'aa')).toHaveLength(1);
  expect(placesOf('abc', '')).toEqual([]);
  expect(placesOf('x'.repeat(1000), 'x')).toHaveLength(50);
});
