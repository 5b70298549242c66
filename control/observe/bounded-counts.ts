/**
 * Counts values of which there may be more than fit: the rarest are evicted, so that whoever sends
 * many different values first cannot keep the frequent ones out. A count is never above the true
 * one. Exact until the first eviction, which `limited` reports.
 */

import { observationLimits } from '../limits/observation-limits.ts';

interface Row {
  /** Upper bound of the occurrences: includes what evicted values may have had. */
  rank: number;
  /** Occurrences since the value was last taken up. */
  count: number;
  readonly label: string;
}

/** A value and how often it was seen. */
export interface CountedValue {
  readonly key: string;
  readonly count: number;
  readonly label: string;
}

/**
 * Counts of at most `max` values. Cost: constant, with one pass over all for each `max` / 2 new.
 */
export class BoundedCounts {
  readonly #rows = new Map<string, Row>();
  readonly #max: number;
  readonly #evicted: (key: string) => void;
  /** No evicted value had more. */
  #floor = 0;

  constructor(
    max: number = observationLimits.summaryKeysMax,
    evicted = (_key: string): void => {},
  ) {
    this.#max = max;
    this.#evicted = evicted;
  }

  /** Whether values were evicted: rare ones may be missing, counts may be too low. */
  get limited(): boolean {
    return this.#floor > 0;
  }

  add(key: string, label = ''): void {
    const known = this.#rows.get(key);
    if (known !== undefined) {
      known.rank++;
      known.count++;
      return;
    }
    if (this.#rows.size >= this.#max) this.#makeRoom();
    // It may have been here before.
    this.#rows.set(key, { rank: this.#floor + 1, count: 1, label });
  }

  /** The most frequent first. */
  top(limit = Infinity): CountedValue[] {
    return [...this.#rows]
      .map(([key, { count, label }]) => ({ key, count, label }))
      .sort((left, right) => right.count - left.count || (left.key < right.key ? -1 : 1))
      .slice(0, limit);
  }

  #makeRoom(): void {
    const ranks = Float64Array.from(this.#rows.values(), ({ rank }) => rank).sort();
    this.#floor = ranks[Math.max(0, (ranks.length >> 1) - 1)] ?? 0;
    for (const [key, { rank }] of this.#rows) {
      if (rank > this.#floor) continue;
      this.#rows.delete(key);
      this.#evicted(key);
    }
  }
}
