/** Tests that faults count once, whichever of their requests is refused, patches beside. */

import { expect, test } from 'vitest';
import type { SignFacts } from '../../engine/detect/score.ts';
import { readWeights } from '../../engine/detect/weights.ts';
import { faultFiguresOf, figuresOf, figuresTable } from './figures.ts';
import type { Observation } from './observe.ts';

const sign = 198_100;
const facts: SignFacts = { isStrong: () => true, confirmedBy: () => [] };
const thresholds = { watch: 20, challenge: 34, block: 50 };
const weights = readWeights({
  ...{ version: 't', ruleset: '', thresholds, training: null, pairs: {} },
  points: { [sign]: 60 },
});
const by = { weights, openedWeights: weights, facts };

function observed(id: string, pieces: number[][], attack = true): Observation {
  const request = { id, attack, kind: 'k', source: 's', group: id, wire: Buffer.from(id) };
  return { request, otherwise: false, anomaly: false, pieces, openedPieces: [] };
}

const observations = [
  observed('CVE-2026-1#1', []),
  observed('CVE-2026-1#2', [[sign]]),
  observed('CVE-2026-2#1', []),
  observed('CVE-2026-3#1', []),
  observed('page', [], false),
];
const patches = {
  stopping: ({ id }: { readonly id: string }) => (id === 'CVE-2026-2#1' ? ['CVE-2026-2'] : []),
};

test('requests are counted one by one, those that a patch stops beside those of the score', () => {
  const [attacks, benign] = figuresOf(observations, by, patches);
  expect(attacks).toMatchObject({ count: 4, refused: { score: 1, crs: 0 }, patched: 2 });
  expect(benign).toMatchObject({ count: 1, patched: 0 });
  expect(figuresTable([attacks!, benign!])).toContain('score, patches');
  expect(figuresTable(figuresOf(observations, by))).not.toContain('score, patches');
});

test('a fault counts once, refused where one of its requests is', () => {
  const [faults, ...others] = faultFiguresOf(observations, by, patches);
  expect(faults).toMatchObject({ kind: 'k, faults', count: 3, refused: { score: 1 }, patched: 2 });
  expect(others).toEqual([]);
});
