/** Tests the shares that reach each threshold, and what only one detector refuses. */

import { expect, test } from 'vitest';
import type { SignFacts } from '../../engine/detect/score.ts';
import { readWeights } from '../../engine/detect/weights.ts';
import type { Observation } from './observe.ts';
import { aloneTable, thresholdsTable } from './thresholds.ts';

const [one, other, weak] = [198_100, 198_101, 198_112];
const facts: SignFacts = { isStrong: (id) => id !== weak, confirmedBy: () => [] };
const weights = readWeights({
  ...{ version: 't', ruleset: '', training: null, pairs: {} },
  thresholds: { watch: 20, challenge: 34, block: 50 },
  points: { [one]: 50, [other]: 50, [weak]: 21 },
});
const by = { weights, openedWeights: weights, facts };

function observed(kind: string, pieces: number[][], attack = true): Observation {
  const request = { id: kind, attack, kind, source: 's', group: kind, wire: Buffer.from(kind) };
  return { request, otherwise: false, anomaly: false, pieces, openedPieces: [] };
}

const observations = [
  observed('a', [[one]]),
  observed('a', [[one], [other]]),
  observed('a', [[weak]]),
  observed('text', [[one]], false),
  observed('text', [], false),
];

test('a class reaches a threshold with the share of its scores from there on', () => {
  const table = thresholdsTable(observations, by);
  expect(table).toContain('watch (20) | challenge (34) | block (50)');
  expect(table).toMatch(/s: attack a \| 3 \| 100\.0 % [^|]*\| 66\.7 % [^|]*\| 66\.7 %/);
  expect(table).toMatch(/s: benign text \| 2 \| 50\.0 % [^|]*\| 50\.0 % [^|]*\| 50\.0 %/);
});

test('a detector refuses alone what no other sign refuses', () => {
  const table = aloneTable(observations, by, String);
  expect(table).toContain('| 198100 | 1 (s: benign text 1) | 1 (s: attack a 1) |');
  expect(table).toContain('| 198101 | 0 | 0 |');
  expect(table).not.toContain('198112');
});
