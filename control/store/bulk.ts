/**
 * Owns writing and removing more records than one transaction should hold: in steps, between which
 * others read and write. What is written so is not yet seen by anyone: write it under ids that
 * nothing refers to, then refer to it in one ordinary write, then remove what was before.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { storeLimits } from '../../engine/base/limits.ts';
import type { Collection } from './collection.ts';
import type { Identified, Store } from './interface.ts';

/** Writes records in steps. Resolves to how many. A failure leaves what was written so far. */
export async function putInSteps<T extends Identified>(
  store: Store,
  collection: Collection<T>,
  records: Iterable<T> | AsyncIterable<T>,
): Promise<number> {
  let written = 0;
  let step: T[] = [];
  const flush = async (): Promise<void> => {
    const batch = step;
    step = [];
    await store.write((tx) => {
      for (const record of batch) tx.put(collection, record);
    });
    written += batch.length;
    await nextTurn();
  };
  for await (const record of records) {
    step.push(record);
    if (step.length >= storeLimits.bulkRecordsMax) await flush();
  }
  if (step.length > 0) await flush();
  return written;
}

/** Removes every record whose id begins with `prefix`, in steps. Resolves to how many. */
export async function removeInSteps<T extends Identified>(
  store: Store,
  collection: Collection<T>,
  prefix: string,
): Promise<number> {
  for (let removed = 0; ;) {
    const limit = storeLimits.bulkRecordsMax;
    const batch = [...store.walk(collection, { prefix, limit })];
    if (batch.length === 0) return removed;
    await store.write((tx) => {
      for (const { id } of batch) tx.remove(collection, id);
    });
    removed += batch.length;
    await nextTurn();
  }
}
