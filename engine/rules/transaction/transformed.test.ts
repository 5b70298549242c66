/** Tests that results of transformations are shared, and never those of another text. */

import { expect, test } from 'vitest';
import { ruleRunLimits } from '../../../base/rule-limits.ts';
import { TransformedTexts } from './transformed.ts';
import type { TransformationDefinition } from './types.ts';

/** A transformation that counts how often it ran. */
function counting(name: string, change: (text: string) => string) {
  const asked: string[] = [];
  const definition: TransformationDefinition = {
    name,
    summary: '',
    example: '',
    source: '',
    id: 0,
    apply: (text) => {
      asked.push(text);
      return change(text);
    },
  };
  return { definition, asked };
}

test('the beginnings of chains are run once for a text', () => {
  const lower = counting('lowercase', (text) => text.toLowerCase());
  const twice = counting('twice', (text) => text + text);
  const texts = new TransformedTexts();
  const chain = [lower.definition, twice.definition];
  expect(texts.apply(7, 'Ab', chain)).toBe('abab');
  expect(texts.apply(7, 'Ab', chain)).toBe('abab');
  expect(texts.apply(7, 'Ab', [lower.definition])).toBe('ab');
  expect(texts.apply(7, 'Ab', [twice.definition])).toBe('AbAb');
  expect([lower.asked, twice.asked]).toEqual([['Ab'], ['ab', 'Ab']]);
});

test('what changes nothing leads to the same work as before it', () => {
  const same = counting('same', (text) => text);
  const twice = counting('twice', (text) => text + text);
  const texts = new TransformedTexts();
  texts.apply(7, 'ab', [same.definition, same.definition, twice.definition]);
  expect(texts.apply(7, 'ab', [twice.definition])).toBe('abab');
  expect([same.asked.length, twice.asked.length]).toEqual([1, 1]);
});

test('another text at the same place has results of its own', () => {
  const twice = counting('twice', (text) => text + text);
  const texts = new TransformedTexts();
  expect(texts.apply(7, 'ab', [twice.definition])).toBe('abab');
  expect(texts.apply(7, 'cd', [twice.definition])).toBe('cdcd');
  expect(texts.apply(7, 'ab', [twice.definition])).toBe('abab');
  texts.forget();
  expect(texts.apply(7, 'ab', [twice.definition])).toBe('abab');
  expect(twice.asked).toEqual(['ab', 'cd', 'ab', 'ab']);
});

test('past the bound results are right, and not kept', () => {
  const half = ruleRunLimits.transformedBytesMax / 2 + 1;
  const long = counting('long', (text) => text[0]!.repeat(half));
  const texts = new TransformedTexts();
  for (const letter of ['a', 'b', 'b']) {
    expect(texts.apply(letter === 'a' ? 1 : 2, letter, [long.definition])).toHaveLength(half);
  }
  expect(long.asked).toEqual(['a', 'b', 'b']);
});
