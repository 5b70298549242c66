/**
 * What a threshold costs and gives: the share of each class that reaches each of the three, and for
 * each detector that refuses alone the requests that no other sign refuses. Pure.
 */

import { detectorIds } from '../../engine/detect/detector.ts';
import type { Weights } from '../../engine/detect/weights.ts';
import { markdownTable } from '../report/table.ts';
import { scoreOf, type JudgedBy } from './figures.ts';
import { formatShare, wilson } from './intervals.ts';
import type { Observation } from './observe.ts';

/** Shares of each class with a score of each threshold or more, for people. */
export function thresholdsTable(observations: readonly Observation[], by: JudgedBy): string {
  const { watch, challenge, block } = by.weights.thresholds;
  const rows = [...byClass(observations)].map(([name, own]) => {
    const scores = own.map((one) => scoreOf(one, by));
    const shares = [watch, challenge, block].map((threshold) => {
      const reached = scores.filter((score) => score >= threshold).length;
      return formatShare(wilson(reached, scores.length));
    });
    return [name, String(own.length), ...shares];
  });
  const columns = [`watch (${watch})`, `challenge (${challenge})`, `block (${block})`];
  return markdownTable(['scores of', 'requests', ...columns], rows);
}

/** Requests by class that only one detector refuses, for people. Most benign ones first. */
export function aloneTable(
  observations: readonly Observation[],
  by: JudgedBy,
  nameOf: (id: number) => string,
): string {
  const { block } = by.weights.thresholds;
  const refused = observations.filter((one) => scoreOf(one, by) >= block);
  const ids = new Set(
    refused.flatMap(({ pieces, openedPieces }) => [pieces, openedPieces].flat(2)),
  );
  const rows = [...ids].flatMap((id) => {
    if (id > detectorIds.last || (by.weights.points.get(id) ?? 0) < block) return [];
    const lower: JudgedBy = {
      ...by,
      weights: below(by.weights, id),
      openedWeights: below(by.openedWeights, id),
      facts: { ...by.facts, isStrong: (one) => one !== id && by.facts.isStrong(one) },
    };
    const alone = refused.filter((one) => has(one, id) && scoreOf(one, lower) < block);
    const benign = alone.filter(({ request }) => !request.attack);
    const attacks = alone.filter(({ request }) => request.attack);
    return [{ id, benign, attacks }];
  });
  rows.sort((one, other) => other.benign.length - one.benign.length || one.id - other.id);
  return markdownTable(
    ['refused by', 'benign', 'attacks'],
    rows.map(({ id, benign, attacks }) => [nameOf(id), counted(benign), counted(attacks)]),
  );
}

function has({ pieces, openedPieces }: Observation, id: number): boolean {
  return [...pieces, ...openedPieces].some((ids) => ids.includes(id));
}

/** Weights under which a detector alone asks for a challenge. */
function below(weights: Weights, id: number): Weights {
  const points = new Map(weights.points);
  const most = weights.thresholds.block - 1;
  points.set(id, Math.min(most, points.get(id) ?? 0));
  return { ...weights, points };
}

function byClass(observations: readonly Observation[]): Map<string, Observation[]> {
  const classes = new Map<string, Observation[]>();
  for (const one of observations) {
    const { source, kind, attack } = one.request;
    const name = `${source}: ${attack ? 'attack' : 'benign'} ${kind}`;
    const known = classes.get(name);
    if (known === undefined) classes.set(name, [one]);
    else known.push(one);
  }
  return new Map([...classes].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function counted(observations: readonly Observation[]): string {
  const classes = [...byClass(observations)].map(([name, own]) => `${name} ${own.length}`);
  return classes.length === 0 ? '0' : `${observations.length} (${classes.join(', ')})`;
}
