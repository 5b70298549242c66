/** A queue of a bounded length in front of work of which only some runs at once. */

import { refusal } from '../../domain/errors.ts';

/** Gives turns in the order of asking. */
export class Turns {
  readonly #runningMax: number;
  readonly #waitingMax: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(runningMax: number, waitingMax: number) {
    this.#runningMax = runningMax;
    this.#waitingMax = waitingMax;
  }

  /**
   * Resolves when it is the caller's turn, with what ends it. Errors: resource_exhausted when too
   * many wait, the reason of `signal` when the caller leaves.
   */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#running >= this.#runningMax) {
      if (this.#waiting.length >= this.#waitingMax) {
        throw refusal('resource_exhausted', 'too many runs wait already; try again later');
      }
      await this.#wait(signal);
    } else this.#running++;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      const next = this.#waiting.shift();
      // The turn passes on; the number of those that run stays.
      if (next === undefined) this.#running--;
      else next();
    };
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(start), 1);
        reject(signal.reason as Error);
      };
      const start = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      this.#waiting.push(start);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}
