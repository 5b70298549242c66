/** Limits attempts per minute and key. Memory is bounded: the oldest entries are evicted. */

import { signInLimits } from '../limits/sign-in-limits.ts';
import type { Clock } from '../../base/clock.ts';

const windowMs = 60_000;

/** Counts attempts by key over fixed minutes. */
export class AttemptLimit {
  readonly #clock: Clock;
  readonly #perMinute: number;
  readonly #counts = new Map<string, { startMs: number; count: number }>();

  constructor(clock: Clock, perMinute: number) {
    this.#clock = clock;
    this.#perMinute = perMinute;
  }

  /** Counts one attempt; false when it is one too many. */
  allow(key: string): boolean {
    const now = this.#clock.nowMs();
    const found = this.#counts.get(key);
    if (found === undefined || now - found.startMs >= windowMs) {
      this.#counts.delete(key);
      this.#counts.set(key, { startMs: now, count: 1 });
      if (this.#counts.size > signInLimits.attemptKeysMax)
        this.#counts.delete(this.#counts.keys().next().value ?? '');
      return true;
    }
    found.count++;
    return found.count <= this.#perMinute;
  }
}
