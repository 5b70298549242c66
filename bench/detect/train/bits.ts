/**
 * Which bits take part in training, and the columns that they have. Bits that tell corpora apart
 * are none; value types and names of variables never are.
 */

import { pairsOf, type SignFacts } from '../../../engine/detect/score.ts';
import type { Observation } from '../observe.ts';

/** A column: a detector or rule, or its pair. */
export interface Column {
  readonly id: number;
  readonly pair: boolean;
}

/** Columns of all observations, in a fixed order. */
export class Columns {
  readonly list: readonly Column[];
  private readonly facts: SignFacts;
  private readonly single = new Map<number, number>();
  private readonly paired = new Map<number, number>();

  constructor(observations: readonly Observation[], facts: SignFacts) {
    this.facts = facts;
    const single = new Set<number>();
    const paired = new Set<number>();
    for (const { pieces } of observations) {
      for (const ids of pieces) {
        for (const id of ids) single.add(id);
        for (const id of pairsOf(ids, facts)) paired.add(id);
      }
    }
    const columns = [
      ...ascending(single).map((id) => ({ id, pair: false })),
      ...ascending(paired).map((id) => ({ id, pair: true })),
    ];
    columns.forEach(({ id, pair }, at) => (pair ? this.paired : this.single).set(id, at));
    this.list = columns;
  }

  /** Columns of one piece. */
  of(ids: readonly number[]): number[] {
    const pairs = pairsOf(ids, this.facts);
    return [...ids.map((id) => this.single.get(id)!), ...pairs.map((id) => this.paired.get(id)!)];
  }
}

function ascending(ids: ReadonlySet<number>): number[] {
  return [...ids].sort((one, other) => one - other);
}
