/** Things that wait a while under a random key: bounded, in memory, forgotten by a restart. */

import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';

/** Waiting values; the oldest are evicted when there are too many. */
export class Pending<T> {
  readonly #clock: Clock;
  readonly #countMax: number;
  readonly #lifetimeMs: number;
  readonly #values = new Map<string, { readonly value: T; readonly expiresAtMs: number }>();

  constructor(clock: Clock, countMax: number, lifetimeMs: number) {
    this.#clock = clock;
    this.#countMax = countMax;
    this.#lifetimeMs = lifetimeMs;
  }

  /** Keeps a value; the key has 192 random bits. */
  add(value: T): { readonly key: string; readonly expiresAtMs: number } {
    const key = randomBytes(24).toString('base64url');
    const expiresAtMs = this.#clock.nowMs() + this.#lifetimeMs;
    this.#values.set(key, { value, expiresAtMs });
    if (this.#values.size > this.#countMax) {
      this.#values.delete(this.#values.keys().next().value ?? '');
    }
    return { key, expiresAtMs };
  }

  /** The value, while it waits. */
  get(key: string): T | undefined {
    const found = this.#values.get(key);
    if (found === undefined) return undefined;
    if (found.expiresAtMs > this.#clock.nowMs()) return found.value;
    this.#values.delete(key);
    return undefined;
  }

  /** The value, for the one caller that comes first. */
  take(key: string): T | undefined {
    const value = this.get(key);
    this.#values.delete(key);
    return value;
  }
}
