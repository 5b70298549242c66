/** Tests that the worst piece of a request is its score, and that more signs never lower it. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pieceBytes, piecesOf, scoreSigns, type Sign, type SignFacts } from './score.ts';
import type { Weights } from './weights.ts';

const unionSelect = 198_100;
const strongOne = 198_101;
const sqlRule = 942_190;
const shellRule = 932_100;
/** The same dots in two readings of a value. */
const rawDots = 930_100;
const readDots = 930_110;

const weights: Weights = {
  version: 'test-1',
  ruleset: '4.28.0',
  points: new Map([
    [unionSelect, 30],
    [strongOne, 60],
    [sqlRule, 15],
    [shellRule, 70],
    [rawDots, 8],
    [readDots, 9],
  ]),
  pairs: new Map([[unionSelect, 20]]),
  thresholds: { watch: 10, challenge: 30, block: 50 },
};

const facts: SignFacts = {
  isStrong: (id) => id === strongOne,
  confirmedBy: (id) => (id < 199_000 ? [942] : []),
};

const sign = (id: number, start: number, leaf = 0): Sign => {
  return { id, leaf, start, end: start < 0 ? -1 : start + 4 };
};
const score = (...signs: Sign[]): number => scoreSigns(signs, weights, facts)?.score ?? 0;

describe('the score of a request', () => {
  test('is nothing without signs', () => {
    expect(scoreSigns([], weights, facts)).toBeNull();
  });

  test('adds signs of one piece, and a pair that a rule of the family confirms', () => {
    expect(score(sign(unionSelect, 0), sign(sqlRule, 5))).toBe(30 + 15 + 20);
    expect(score(sign(unionSelect, 0))).toBe(30);
  });

  test('refuses for no rule of a family that no detector of the piece belongs to', () => {
    expect(score(sign(unionSelect, 0), sign(shellRule, 5))).toBe(49);
    expect(score(sign(unionSelect, 0), sign(shellRule, 5), sign(sqlRule, 9))).toBe(65);
    expect(score(sign(strongOne, 0), sign(shellRule, 5))).toBe(100);
  });

  test('counts the worst piece, not the sum of pieces and leaves', () => {
    const far = pieceBytes + 10;
    expect(score(sign(unionSelect, 0), sign(sqlRule, far))).toBe(30);
    expect(score(sign(unionSelect, 0), sign(sqlRule, 0, 1))).toBe(30);
    expect(score(sign(sqlRule, 0), sign(sqlRule, 4), sign(sqlRule, 8))).toBe(15);
  });

  test('is rounded down: what is below a threshold stays below it', () => {
    const scored = (a: number, b: number): number => {
      const points = new Map([
        [unionSelect, a],
        [sqlRule, b],
      ]);
      const two = [sign(unionSelect, 0), sign(sqlRule, 0)];
      return scoreSigns(two, { ...weights, points, pairs: new Map() }, facts)!.score;
    };
    expect(scored(22.7, 27.2)).toBe(49);
    expect(scored(22.7, 27.3)).toBe(50);
    // 0.1 + 0.2 is a little more than 0.3, 0.7 + 0.1 a little less than 0.8.
    expect(scored(48.7, 1.3)).toBe(50);
  });

  test('counts a sign without a place in each piece of its leaf', () => {
    expect(score(sign(unionSelect, 5000), sign(sqlRule, -1))).toBe(65);
    expect(score(sign(unionSelect, 5000), sign(sqlRule, -1, 1))).toBe(30);
  });

  test('stays below the threshold of refusal with one sign that is not strong', () => {
    expect(score(sign(shellRule, 0))).toBe(49);
    expect(score(sign(strongOne, 0))).toBe(60);
    expect(score(sign(sqlRule, 0), sign(unionSelect, 3))).toBe(65);
  });

  test('stays below it with rules alone, however many', () => {
    expect(score(sign(shellRule, 0), sign(sqlRule, 3), sign(rawDots, 5))).toBe(49);
  });

  test.each([
    [39, 12, 39],
    [12, 39, 39],
    [0, 39, 39],
    [45, 60, 49],
  ])('counts one sign that two rules find once: %i and %i are %i', (raw, read, expected) => {
    const points = new Map([
      [rawDots, raw],
      [readDots, read],
    ]);
    const found = scoreSigns([sign(rawDots, 0), sign(readDots, 0)], { ...weights, points }, facts)!;
    expect(found.score).toBe(expected);
    const other = new Map([...points, [unionSelect, 20]]);
    const signs = [sign(rawDots, 0), sign(readDots, 0), sign(unionSelect, 0)];
    const byPaths = { ...facts, confirmedBy: (id: number) => (id < 199_000 ? [930] : []) };
    const both = scoreSigns(signs, { ...weights, points: other, pairs: new Map() }, byPaths)!;
    expect(both.score).toBe(Math.max(raw, read) + 20);
    expect(both.bits.reduce((sum, bit) => sum + bit.points, 0)).toBe(both.score);
  });

  test('tells where the worst piece stands, and its bits by points', () => {
    const found = scoreSigns(
      [sign(shellRule, 9000), sign(unionSelect, 40), sign(sqlRule, 60)],
      weights,
      facts,
    );
    expect(found).toEqual({
      ...{ score: 65, weights, leaf: 0, start: 40, end: 64 },
      bits: [
        { id: unionSelect, pair: false, points: 30 },
        { id: unionSelect, pair: true, points: 20 },
        { id: sqlRule, pair: false, points: 15 },
      ],
    });
  });

  test('takes the higher points in a leaf that rules do not see', () => {
    const opened = {
      weights: {
        ...{ ...weights, version: 'opened' },
        points: new Map([
          [unionSelect, 45],
          [strongOne, 70],
        ]),
      },
      isOpened: (leaf: number) => leaf === 1,
    };
    const scoreAt = (leaf: number, ...ids: number[]) => {
      const signs = ids.map((id) => ({ ...sign(id, 0), leaf }));
      const found = scoreSigns(signs, weights, facts, opened)!;
      return [found.score, found.weights.version];
    };
    expect(scoreAt(0, unionSelect)).toEqual([30, 'test-1']);
    expect(scoreAt(1, unionSelect)).toEqual([30, 'test-1']);
    expect(scoreAt(1, unionSelect, sqlRule)).toEqual([65, 'test-1']);
    expect(scoreAt(0, strongOne)).toEqual([60, 'test-1']);
    expect(scoreAt(1, strongOne)).toEqual([70, 'opened']);
  });
});

const anySign = fc.record({
  id: fc.constantFrom(unionSelect, strongOne, sqlRule, shellRule, rawDots, readDots, 1),
  leaf: fc.integer({ min: 0, max: 2 }),
  start: fc.integer({ min: -1, max: 1200 }),
  length: fc.integer({ min: 0, max: 2 * pieceBytes }),
});
const anySigns = fc.array(anySign, { maxLength: 30 }).map((list) =>
  list.map(({ id, leaf, start, length }): Sign => {
    return { id, leaf, start, end: start < 0 ? -1 : start + length };
  }),
);

test('no sign that is added lowers the score', () => {
  fc.assert(
    fc.property(anySigns, anySigns, (some, more) => {
      expect(score(...some, ...more)).toBeGreaterThanOrEqual(score(...some));
    }),
  );
});

test('bytes before all signs of a leaf change nothing', () => {
  fc.assert(
    fc.property(anySigns, fc.nat(5000), (signs, bytes) => {
      const moved = signs.map((one) => {
        return one.start < 0 ? one : { ...one, start: one.start + bytes, end: one.end + bytes };
      });
      expect(score(...moved)).toBe(score(...signs));
    }),
  );
});

test('pieces hold every sign, in any order of arrival', () => {
  fc.assert(
    fc.property(anySigns, (signs) => {
      const ids = (list: readonly Sign[]): string[] =>
        piecesOf(list).map(({ leaf, start, ids: own }) => `${leaf} ${start} ${own.join(',')}`);
      expect(new Set(piecesOf(signs).flatMap((piece) => piece.ids))).toEqual(
        new Set(signs.map(({ id }) => id)),
      );
      expect(ids([...signs].reverse()).sort()).toEqual(ids(signs).sort());
    }),
  );
});
