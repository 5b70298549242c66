/** Reads long series in slices, so that other calls get their turn between them. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { callLimits } from '../limits/call-limits.ts';

/** Items between two looks at the clock. */
const itemsPerLook = 32;

/** Whom work is done for, and who hears of it. */
export interface Pace {
  readonly signal?: AbortSignal | undefined;
  /** Is given the milliseconds of each slice of work. */
  readonly onSlice?: ((workedMs: number) => void) | undefined;
}

/**
 * The items, with a turn of the event loop after each slice of work on them. Ends with the error
 * of `signal` when whoever asked is gone.
 */
export async function* paced<T>(
  items: Iterable<T>,
  { signal, onSlice }: Pace = {},
): AsyncGenerator<T> {
  let sinceMs = performance.now();
  let count = 0;
  for (const item of items) {
    yield item;
    if (++count % itemsPerLook !== 0) continue;
    const workedMs = performance.now() - sinceMs;
    if (workedMs < callLimits.scanSliceMs) continue;
    onSlice?.(workedMs);
    await nextTurn();
    signal?.throwIfAborted();
    sinceMs = performance.now();
  }
}
