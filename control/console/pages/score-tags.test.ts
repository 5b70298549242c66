/** What the match of the score's rule says is read whole: sentence, piece, points, decisions. */

import { expect, test } from 'vitest';
import { scoreOf } from './score-tags.ts';

const match = {
  ruleId: '198000',
  severity: 'critical',
  message: 'Score 72 of 100 (block): SQL in args.q → base64',
  matchData: 'before »a « b« after',
  matchValue: 'before a « b after',
  tags: [
    ...['decision/both', 'weights/crs4-2026-11-27', 'would/crs=block', 'would/score=pass'],
    ...['points/942100=12.5', 'points/198100+rule=9'],
  ],
};

test('the sentence, the piece, the points and each decision are read', () => {
  expect(scoreOf([{ ...match, ruleId: '942100' }, match])).toEqual({
    sentence: match.message,
    reached: true,
    piece: 'before a « b after',
    marked: { start: 7, end: 12 },
    inPart: false,
    ended: false,
    points: [
      { id: '942100', rule: false, value: '12.5' },
      { id: '198100', rule: true, value: '9' },
    ],
    verdicts: [
      { decision: 'crs', blocks: true },
      { decision: 'score', blocks: false },
    ],
    decision: 'both',
    weights: 'crs4-2026-11-27',
  });
});

test('an event without a score, and a piece without a mark', () => {
  expect(scoreOf([{ ...match, ruleId: '942100' }])).toBeNull();
  expect(scoreOf([{ ...match, severity: 'notice' }])?.reached).toBe(false);
  expect(scoreOf([{ ...match, matchData: 'all of it' }])).toMatchObject({
    piece: 'all of it',
    marked: { start: 0, end: 0 },
  });
});

test.each([
  ['the second of two equal parts', 'or »or« or', 'or or or', 3, 5],
  ['a mark in the text before it', 'x» y »z« w', 'x» y z w', 5, 6],
  ['a mark that opens the match', '»«a«', '«a', 0, 2],
  ['a value that is not kept', 'a »b« c', '', 2, 3],
])('the place is that of the mark: %s', (_, matchData, matchValue, start, end) => {
  expect(scoreOf([{ ...match, matchData, matchValue }])?.marked).toEqual({ start, end });
});

test('what a compact event keeps, and a request that was opened in part', () => {
  const tags = [...match.tags, 'opened/in-part'];
  const compact = { ...match, matchData: '', matchValue: '', tags };
  expect(scoreOf([compact])).toMatchObject({ piece: '', marked: { start: 0 }, inPart: true });
  expect(scoreOf([{ ...match, tags: ['searched/in-part'] }])?.ended).toBe(true);
});
