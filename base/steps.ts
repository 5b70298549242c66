/**
 * Work that can stop between small steps: written once as a generator, run in one go where nobody
 * waits, or in slices of bounded length on a thread that serves requests meanwhile.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Yields between steps that take well under a millisecond each, and returns what the work comes to.
 */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Runs all steps. Errors: what the work throws. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/**
 * Runs the steps in slices of about `sliceMs` with a turn of the event loop between them, so that a
 * pause is never much longer than that. Errors: what the work throws.
 */
export async function runInSlices<T>(steps: Steps<T>, sliceMs: number): Promise<T> {
  for (;;) {
    const until = performance.now() + sliceMs;
    do {
      const { done, value } = steps.next();
      if (done) return value;
    } while (performance.now() < until);
    await nextTurn();
  }
}
