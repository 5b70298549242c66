/** Tests simulated days: what people teach, what attackers reach, and what is refused after. */

import { afterAll, expect, test } from 'vitest';
import { requestWith } from '../value-request.ts';
import { buildJudgedPolicy } from '../policy.ts';
import type { LabelledRequest } from '../requests.ts';
import { blindedMax, daysReport, simulateDays } from './report.ts';

const { engine } = buildJudgedPolicy({
  ...{ template: 'Light', ruleset: 'none', crs4: '', cacheFolder: '.cache' },
});

afterAll(() => engine.retire());

function value(kind: string, text: string, attack = false): LabelledRequest {
  const wire = requestWith(text, 'query');
  return { id: `${text}/query`, attack, kind, source: 's', group: '', wire };
}

/** Two weak signs of one family, which refuse together. */
const notes = ['a', 'b', 'c', 'd', 'e'].map((name) =>
  value('notes', `we call alert(1) and read (document.cookie) in ${name}`),
);
const prose = ['one', 'two', 'three', 'four', 'five'].map((word) => value('prose', `only ${word}`));
const attacks = [
  value('xss', '<script>alert(1)</script>', true),
  value('sql', "' or 1=1 -- x", true),
];

test('people teach what they write; 100 networks blind one family of a value at most', async () => {
  const days = await simulateDays({ engine, requests: [...notes, ...prose, ...attacks], seed: 1 });
  const own = [['ARGS:notes', 'html']];
  expect(days.suggested.map(({ name, family }) => [name, family])).toEqual(own);
  expect(days.byItself.map(({ name, family }) => [name, family])).toEqual(own);
  expect(days.attacked.length).toBeGreaterThan(3);
  for (const { blinded, learned } of days.attacked) {
    expect(blinded).toBeLessThanOrEqual(blindedMax);
    expect(learned).toBeLessThanOrEqual(days.byItself.length);
  }
  expect(days.attacked.some(({ blinded }) => blinded > 0)).toBe(true);
  // What is content passes; what proves an attack does not, in the same value.
  const shares = days.refused.map(({ of, before, learned, accepted }) => [
    ...[of, before, learned, accepted],
  ]);
  expect(shares).toEqual([
    ['notes', 5, 0, 0],
    ['prose', 0, 0, 0],
    ['attacks, in values with contents', 2, 2, 2],
  ]);
  expect(daysReport(days)).toContain('| ARGS:notes | html |');
});
