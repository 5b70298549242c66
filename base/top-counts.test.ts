/** Proves what the sketch promises: bounds, no overstatement, frequent texts are kept. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { TopCounts } from './top-counts.ts';

function countAll(texts: readonly string[], capacity: number): TopCounts {
  const counts = new TopCounts(capacity);
  for (const text of texts) counts.add(text, text.length, 1, text.startsWith('b') ? 1 : 0);
  return counts;
}

test('few texts are counted exactly', () => {
  const counts = countAll(['a', 'b', 'a', '', 'a'], 8);
  const found = counts.list().sort((left, right) => right.total - left.total);
  expect(found).toEqual([
    { key: 'a', rank: 3, total: 3, blocked: 0 },
    { key: 'b', rank: 1, total: 1, blocked: 1 },
    { key: '', rank: 1, total: 1, blocked: 0 },
  ]);
});

test('only the stated part of a text is its key', () => {
  const counts = new TopCounts(4);
  counts.add('/a?x=1', 2, 1, 0);
  counts.add('/a?y=2', 2, 1, 1);
  counts.add('/ab', 3, 1, 0);
  expect(counts.list()).toMatchObject([
    { key: '/a', total: 2, blocked: 1 },
    { key: '/ab', total: 1 },
  ]);
});

test('it holds no more than its capacity, overstates nothing and keeps what is frequent', () => {
  const words = fc.array(fc.stringMatching(/^[ab]{0,3}[0-9]{0,2}$/), { maxLength: 400 });
  fc.assert(
    fc.property(words, fc.integer({ min: 1, max: 40 }), (texts, capacity) => {
      const truth = new Map<string, number>();
      for (const text of texts) truth.set(text, (truth.get(text) ?? 0) + 1);
      const found = new Map(
        countAll(texts, capacity)
          .list()
          .map((one) => [one.key, one]),
      );
      expect(found.size).toBeLessThanOrEqual(capacity);
      for (const [key, { rank, total, blocked }] of found) {
        const real = truth.get(key) ?? 0;
        expect(total).toBeLessThanOrEqual(real);
        expect(rank).toBeGreaterThanOrEqual(real);
        expect(blocked).toBe(key.startsWith('b') ? total : 0);
      }
      for (const [key, real] of truth) {
        if (real > texts.length / capacity) expect(found.has(key)).toBe(true);
      }
    }),
  );
});

test('counting continues from what was kept', () => {
  const first = countAll(['a', 'a', 'b'], 4);
  const second = new TopCounts(4);
  for (const one of first.list()) second.restore(one);
  second.add('a', 1, 5, 2);
  expect(second.list()).toContainEqual({ key: 'a', rank: 7, total: 7, blocked: 2 });
});
