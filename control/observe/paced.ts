/** Reads long series in slices, so that other calls get their turn between them. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { callLimits } from '../limits/call-limits.ts';

/** Items between two looks at the clock. */
const itemsPerLook = 32;

/**
 * The items, with a turn of the event loop after each slice of work on them. Ends with the error
 * of `signal` when whoever asked is gone.
 */
export async function* paced<T>(items: Iterable<T>, signal?: AbortSignal): AsyncGenerator<T> {
  let until = performance.now() + callLimits.scanSliceMs;
  let count = 0;
  for (const item of items) {
    yield item;
    if (++count % itemsPerLook !== 0 || performance.now() < until) continue;
    await nextTurn();
    signal?.throwIfAborted();
    until = performance.now() + callLimits.scanSliceMs;
  }
}
