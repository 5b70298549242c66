/**
 * Draws an even sample of a series of unknown length: those whose hashed ids are lowest. The same
 * series gives the same sample, and who sends requests cannot choose to be left out: the ids are
 * ours.
 */

import { createHash } from 'node:crypto';

interface Drawn<T> {
  readonly rank: string;
  readonly item: T;
}

/** Keeps at most `max` of what is added. */
export class EvenSample<T> {
  readonly #max: number;
  #kept: Drawn<T>[] = [];
  /** Everything that was added. */
  count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  add(id: string, item: T): void {
    this.count++;
    this.#kept.push({ rank: createHash('sha256').update(id).digest('hex'), item });
    // Sorting twice the sample now and then costs less than keeping it sorted.
    if (this.#kept.length >= 2 * this.#max) this.#cut();
  }

  /** The sample. */
  items(): T[] {
    this.#cut();
    return this.#kept.map(({ item }) => item);
  }

  #cut(): void {
    if (this.#kept.length <= this.#max) return;
    this.#kept.sort((left, right) => (left.rank < right.rank ? -1 : 1));
    this.#kept.length = this.#max;
  }
}
