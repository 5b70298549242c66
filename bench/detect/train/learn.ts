/**
 * Learns points for columns from bags of pieces: which piece of a request counts is chosen by what
 * was learned before. Deterministic.
 */

import { mayRefuse, refusingSigns, type SignFacts } from '../../../engine/detect/score.ts';
import type { Observation } from '../observe.ts';
import type { Columns } from './bits.ts';
import { fit, type Example } from './regression.ts';

/** Times that the highest piece of each request is chosen anew. */
const choices = 4;
const steps = 250;
const penalty = 0.000_01;
/** Weight of an attack of a class of n, by the root of n: long lists do not drown others. */
const attackWeight = 60;

/** Log-odds by column, from 0 on. */
export function learn(observations: readonly Observation[], columns: Columns): Float64Array {
  const classes = countBy(observations, classOf);
  const bags = observations.map((one) => {
    return { one, pieces: one.pieces.map((ids) => columns.of(ids)) };
  });
  // At first the piece with most signs counts.
  let weights: Float64Array = new Float64Array(columns.list.length).fill(1);
  for (let round = 0; round < choices; round++) {
    const rows = new Map<string, Example & { weight: number }>();
    for (const { one, pieces } of bags) {
      const { attack } = one.request;
      // An attack without signs teaches nothing about signs.
      if (attack && pieces.length === 0) continue;
      const chosen = highest(pieces, weights);
      const weight = attack ? attackWeight / Math.sqrt(classes.get(classOf(one))!) : 1;
      const key = `${attack} ${chosen.join(' ')}`;
      const known = rows.get(key);
      if (known !== undefined) known.weight += weight;
      else rows.set(key, { columns: chosen, label: attack ? 1 : 0, weight });
    }
    weights = fit([...rows.values()], { columns: weights.length, penalty, steps }).weights;
  }
  return weights;
}

function classOf({ request: { source, kind, attack } }: Observation): string {
  return `${source} ${kind} ${attack}`;
}

function highest(pieces: readonly number[][], weights: Float64Array): number[] {
  let best: number[] = [];
  let most = -1;
  for (const piece of pieces) {
    const sum = sumOf(piece, weights);
    if (sum <= most) continue;
    most = sum;
    best = piece;
  }
  return best;
}

/** The highest sum of a request's pieces; with `confirmed` only of those that may refuse. */
export function sumOfRequest(
  { pieces }: Observation,
  columns: Columns,
  weights: Float64Array,
  facts: SignFacts,
  confirmed: boolean,
): number {
  let most = 0;
  for (const all of pieces) {
    const ids = confirmed ? refusingSigns(all, facts) : all;
    const own = columns.of(ids);
    const hasPoints = (id: number): boolean => weights[own[ids.indexOf(id)]!]! > 0;
    if (confirmed && !mayRefuse(ids, hasPoints, facts)) continue;
    most = Math.max(most, sumOf(own, weights));
  }
  return most;
}

function sumOf(columns: readonly number[], weights: Float64Array): number {
  return columns.reduce((sum, column) => sum + weights[column]!, 0);
}

function countBy<T>(list: readonly T[], key: (one: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const one of list) counts.set(key(one), (counts.get(key(one)) ?? 0) + 1);
  return counts;
}
