/**
 * Owns records over a storage driver: collections, indexes, blobs, the audit chain and the schema
 * version. One write is one transaction with its audit row. Never decides what a record may hold.
 */

import type { Clock } from '../../engine/base/clock.ts';
import { storeLimits } from '../../engine/base/limits.ts';
import type { ChangeListener, Store } from './interface.ts';
import type { Kv } from './kv.ts';
import { collections } from './collection-list.ts';
import { migrate } from './migrations.ts';
import { reading } from './reading.ts';
import { RecordCache, type Changes } from './record-cache.ts';
import { writing } from './writing.ts';

export type { ReadStore, Store, WriteStore } from './interface.ts';

/** Opens the store; its layout becomes the newest. Errors: AppError store_newer, store_damaged. */
export async function openStore(kv: Kv, clock: Clock): Promise<Store> {
  await migrate(kv, collections);
  const cache = new RecordCache();
  const listeners = new Set<ChangeListener>();
  return {
    ...reading(kv, cache),
    write: async (change) => {
      const changed: Changes = { ids: new Map(), reshaped: new Set() };
      const run = kv.write((writer) => {
        const draft = writing(writer, clock, changed, cache);
        const result = change(draft.store);
        draft.settle();
        return result;
      });
      // At once, before anyone else's turn, and also after a failure: what was read meanwhile may
      // be what was not kept.
      cache.forget(changed);
      const result = await run.finally(() => cache.forget(changed));
      tell(listeners, new Set(changed.ids.keys()));
      return result;
    },
    onChange: (listener) => {
      if (listeners.size >= storeLimits.listenersMax)
        throw new Error('too many listen to the store');
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => kv.close(),
  };
}

/** The write is on disk: what a listener makes of it must not look like a failed write. */
function tell(listeners: ReadonlySet<ChangeListener>, changed: ReadonlySet<string>): void {
  if (changed.size === 0) return;
  for (const listener of listeners) {
    try {
      listener(changed);
    } catch (error) {
      process.emitWarning(error instanceof Error ? error : String(error));
    }
  }
}
