/**
 * How often one session may call: a number a second on average, and as many at once as it left
 * unused. Bounded memory; the session that was quiet longest is forgotten first.
 */

import { callLimits } from '../../limits/call-limits.ts';
import { signInLimits } from '../../limits/sign-in-limits.ts';

interface Allowance {
  left: number;
  atMs: number;
}

/** Counts calls by key. Cost: one look-up a call. */
export class CallRate {
  readonly #nowMs: () => number;
  readonly #allowances = new Map<string, Allowance>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Takes one call from what `key` has left; false when nothing is left. */
  take(key: string): boolean {
    const nowMs = this.#nowMs();
    const { callsPerSecond, callBurstMax } = callLimits;
    const { left, atMs } = this.#allowances.get(key) ?? { left: callBurstMax, atMs: nowMs };
    const gained = (Math.max(0, nowMs - atMs) / 1000) * callsPerSecond;
    const now = Math.min(callBurstMax, left + gained);
    const allowed = now >= 1;
    this.#allowances.delete(key);
    this.#allowances.set(key, { left: allowed ? now - 1 : now, atMs: nowMs });
    if (this.#allowances.size > signInLimits.attemptKeysMax) {
      this.#allowances.delete(this.#allowances.keys().next().value ?? '');
    }
    return allowed;
  }
}
