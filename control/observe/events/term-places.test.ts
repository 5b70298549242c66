/** Numbers of values: each has one, also where hashes and slots are the same. */

import { expect, test } from 'vitest';
import { hashOfTerm, TermPlaces } from './term-places.ts';

/** Texts that have the same hash, each pair after all before it. */
const pairs: readonly (readonly [string, string])[] = [
  ['costarring', 'liquid'],
  ['15zx', 'cpcd'],
  ...Array.from({ length: 10 }, () => ['55zx', 'gpcd'] as const),
];

/** Texts of one hash, in every combination: equal states continue equally. */
const sameHash = (): string[] =>
  pairs.reduce((texts, pair) => texts.flatMap((text) => pair.map((one) => text + one)), ['']);

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
