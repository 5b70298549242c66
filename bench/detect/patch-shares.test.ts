/** Tests that a virtual patch that refuses benign requests beyond its share is named. */

import { expect, test } from 'vitest';
import type { SignFacts } from '../../engine/detect/score.ts';
import { readWeights } from '../../engine/detect/weights.ts';
import type { Observation } from './observe.ts';
import { isExcessive, patchSharesOf, patchSharesTable } from './patch-shares.ts';

const sign = 198_100;
const facts: SignFacts = { isStrong: () => true, confirmedBy: () => [] };
const weights = readWeights({
  ...{ version: 't', ruleset: '', training: null, pairs: {} },
  thresholds: { watch: 20, challenge: 34, block: 50 },
  points: { [sign]: 60 },
});
const by = { weights, openedWeights: weights, facts };

/** Requests whose ids name the patches that stop them, with a `+` between. */
function observed(count: number, id: string, pieces: number[][] = [], attack = false) {
  const request = { id, attack, kind: 'k', source: 's', group: id, wire: Buffer.from(id) };
  const one: Observation = { request, otherwise: false, anomaly: false, pieces, openedPieces: [] };
  return Array.from({ length: count }, () => one);
}

const patches = {
  stopping: ({ id }: { readonly id: string }) => (id === 'page' ? [] : id.split('+')),
};

test('benign requests that only patches refuse count for each of them', () => {
  const shares = patchSharesOf(
    [
      ...observed(20_000, 'page'),
      ...observed(3, 'wide'),
      ...observed(1, 'wide+narrow'),
      ...observed(9, 'scored', [[sign]]),
      ...observed(9, 'attacked', [], true),
    ],
    by,
    patches,
  );
  const of = { count: 20_013 };
  expect(shares).toMatchObject([
    { ...of, name: 'all patches', refused: 4 },
    { ...of, name: 'wide', refused: 4 },
    { ...of, name: 'narrow', refused: 1 },
  ]);
  expect(shares.filter(isExcessive).map(({ name }) => name)).toEqual(['wide']);
  expect(patchSharesTable(shares)).toMatch(/wide *\| *4 .*too many/);
});

test('many patches that refuse little each are too many together; one request is not', () => {
  const few = Array.from({ length: 11 }, (_, at) => observed(1, `patch-${at}`)).flat();
  const shares = patchSharesOf([...observed(19_989, 'page'), ...few], by, patches);
  expect(shares.filter(isExcessive).map(({ name }) => name)).toEqual(['all patches']);
  const small = patchSharesOf([...observed(10, 'page'), ...few.slice(1, 2)], by, patches);
  expect(small.some(isExcessive)).toBe(false);
});
