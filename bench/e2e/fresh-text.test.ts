/** Tests that made values have the length asked for, repeat by seed and differ otherwise. */

import { expect, test } from 'vitest';
import { asksForFresh, FreshText } from './fresh-text.ts';

const one = (text: string, seed = 0, number = 0): string => new FreshText(seed, number).fill(text);

test.each([
  ['words', /^[a-z]+( [a-z]+)*$/],
  ['sentences', /^I$|^[A-Z][a-z]*([ ,]+[a-z]+)*\.( [A-Z][a-z]*([ ,]+[a-z]+)*\.)*$/],
  ['hex', /^[0-9a-f]+$/],
  ['digits', /^[0-9]+$/],
])('%s are as long as asked', (kind, form) => {
  for (let length = 1; length <= 300; length++) {
    const text = one(`{{${kind} ${length}}}`, 7, length);
    expect(text).toHaveLength(length);
    expect(text).toMatch(form);
  }
});

test('seed and number give the values; either changes them', () => {
  const text = 'a={{words 24}}&b={{words 24}}';
  expect(one(text, 3, 9)).toBe(one(text, 3, 9));
  const others = [one(text, 3, 10), one(text, 4, 9), one(text, 9, 3), one(text)];
  expect(new Set([one(text, 3, 9), ...others]).size).toBe(5);
  const [first, second] = one(text).split('&');
  expect(first!.slice(2)).not.toBe(second!.slice(2));
});

test('only what is made is encoded, and other braces stay', () => {
  const fresh = new FreshText(0, 0);
  expect(
    fresh.fill('/a b/{{7*7}}/{{n}}?q={{words 30}}', (text) => text.replaceAll(' ', '+')),
  ).toMatch(/^\/a b\/\{\{7\*7\}\}\/\{\{n\}\}\?q=[a-z+]{30}$/);
});

test('says which placeholder is wrong', () => {
  expect(() => one('{{word 3}}')).toThrow(/\{\{word 3\}\}: expected one of words, sentences/);
  expect(() => one('{{hex 0}}')).toThrow(/\{\{hex 0\}\}: expected 1\.\.65536 characters/);
  expect(() => one('{{hex 99999999}}')).toThrow(/expected 1\.\.65536/);
});

test('knows which texts ask for new values', () => {
  expect(asksForFresh('a {{hex 2}}')).toBe(true);
  expect(asksForFresh('{{n}} {{7*7}} {{i}}')).toBe(false);
});
