/** Asks the stores whether they can be read, and says what became of the last write. */

import { toAppError } from '../../../base/errors.ts';
import type { Uses } from '../context.ts';

/** What asking found. */
export interface StoreFinding {
  readonly ok: boolean;
  /** Empty when all is well. */
  readonly message: string;
  readonly durationMs: number;
}

/**
 * Reads what no cache holds: the end of the audit chain with its row, and the count of events.
 * Never throws. Cost: some reads of the disk's map.
 */
export function checkStore({ store, events }: Uses<'store' | 'events'>): StoreFinding {
  const startedMs = performance.now();
  const found = (message: string): StoreFinding => {
    return { ok: message === '', message, durationMs: performance.now() - startedMs };
  };
  try {
    const head = store.auditHead();
    if (head !== null && store.auditRow(head.id)?.hash !== head.hash) {
      return found('the end of the audit chain is not the row that was written last');
    }
    events.count();
  } catch (error) {
    return found(`the store cannot be read: ${toAppError(error).message}`);
  }
  return found('');
}
