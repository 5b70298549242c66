/** Numbers of values: each has one, also where hashes and slots are the same. */

import { expect, test } from 'vitest';
import { hashOfTerm, TermPlaces } from './term-places.ts';

/** Texts of one hash: two that have the same, in every combination of 12 pairs. */
function sameHash(): string[] {
  const pair = ['costarring', 'liquid'];
  let texts = [''];
  // Equal states continue equally, so that what follows a pair does not matter.
  for (let round = 0; round < 12; round++) {
    const next = pairAfter(round);
    texts = texts.flatMap((text) => next.map((one) => text + one));
  }
  expect(new Set(pair.map(hashOfTerm)).size).toBe(1);
  return texts;
}

/** The pair collides after the empty text; after others, a pair is sought. */
const pairs: (readonly [string, string])[] = [];
function pairAfter(round: number): readonly [string, string] {
  if (round === 0) return ['costarring', 'liquid'];
  if (pairs[round] !== undefined) return pairs[round];
  let state = 'costarring';
  for (let at = 1; at < round; at++) state += pairAfter(at)[0];
  const seen = new Map<number, string>();
  for (let number = 0; ; number++) {
    const text = number.toString(36);
    const hash = hashOfTerm(state + text);
    const other = seen.get(hash);
    if (other !== undefined) return (pairs[round] = [other, text]);
    seen.set(hash, text);
  }
}

test('values of one hash have places of their own', () => {
  const texts = sameHash();
  expect(texts).toHaveLength(4096);
  expect(new Set(texts.map(hashOfTerm)).size).toBe(1);
  const places = new TermPlaces();
  const first = texts.map((text) => places.placeOf(text));
  expect(first).toEqual(texts.map((_, at) => at));
  expect(texts.map((text) => places.placeOf(text))).toEqual(first);
  expect(places.terms).toEqual(texts);
});

test('as many values as there may be, among them those seen before', () => {
  const places = new TermPlaces();
  const texts = Array.from({ length: 50_000 }, (_, at) => `/path/${at % 20_000}`);
  expect(texts.map((text) => places.placeOf(text))).toEqual(texts.map((_, at) => at % 20_000));
  expect(places.hashes).toEqual(places.terms.map(hashOfTerm));
});
