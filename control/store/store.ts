/**
 * Records over a storage driver: collections, indexes, blobs, the audit chain and the schema
 * version. One write is one transaction with its audit row. Never decides what a record may hold.
 */

import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/errors.ts';
import { storeLimits } from '../limits/store-limits.ts';
import { runAtOnce, runInSlices } from '../../base/steps.ts';
import { Bystander } from './bystander.ts';
import type { ChangeListener, Store } from './interface.ts';
import type { Kv } from './kv.ts';
import { collections } from './collection-list.ts';
import { areas, separator } from './keys.ts';
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
  const bystanders = new Set<Bystander>();
  const counts = new ChangeCounts();
  const lastWrite = new LastWrite();
  kv.onRevised?.(revising(cache, counts, bystanders, listeners));
  const settle = settling(cache, counts, bystanders, lastWrite, listeners);
  const write: Store['write'] = (change) => {
    const changed = noChanges();
    const run = kv.write((writer) => {
      const draft = writing(writer, clock, changed, cache);
      const result = change(draft.store);
      draft.settle();
      return result;
    });
    return settle(changed, run);
  };
  const writeInSteps: Store['writeInSteps'] = async (change) => {
    for (let attempt = 1; attempt < storeLimits.stepAttemptsMax; attempt++) {
      const changed = noChanges();
      const stage = kv.stage();
      const bystander = new Bystander(kv);
      bystanders.add(bystander);
      try {
        const draft = writing(stage.writer, clock, changed, cache);
        const steps = change(bystander.watched(draft.store));
        const result = await runInSlices(steps, storeLimits.sliceMs);
        if (bystander.isStale()) continue;
        draft.settle();
        bystanders.delete(bystander);
        return await settle(
          changed,
          stage.keep().then(() => result),
        );
      } catch (error) {
        // What it failed for may be what others were about to change.
        if (!bystander.isStale() && !isConflict(error)) throw error;
      } finally {
        bystanders.delete(bystander);
      }
    }
    return write((tx) => runAtOnce(change(tx)));
  };
  return {
    ...reading(kv, cache),
    write,
    writeInSteps,
    onChange: (listener) => {
      if (listeners.size >= storeLimits.listenersMax)
        throw new Error('too many listen to the store');
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    changesOf: (names) => counts.of(names),
    lastWriteFailure: () => lastWrite.failure,
    close: () => kv.close(),
  };
}

/** Carries a write to its end: what readers knew is forgotten, and listeners hear of it. */
function settling(
  cache: RecordCache,
  counts: ChangeCounts,
  bystanders: ReadonlySet<Bystander>,
  lastWrite: LastWrite,
  listeners: ReadonlySet<ChangeListener>,
): <T>(changed: Changes, run: Promise<T>) => Promise<T> {
  return async (changed, run) => {
    // At once, before anyone else's turn, and also after a failure: what was read meanwhile may
    // be what was not kept.
    cache.forget(changed);
    counts.add(changed);
    for (const one of bystanders) one.note(changed);
    let result: Awaited<typeof run>;
    try {
      result = await lastWrite.noted(run);
    } catch (error) {
      // It was taken back.
      counts.add(changed);
      throw error;
    } finally {
      cache.forget(changed);
    }
    tell(listeners, new Set(changed.ids.keys()));
    return result;
  };
}

/** Other controllers wrote, or what readers saw here was taken back. */
function revising(
  cache: RecordCache,
  counts: ChangeCounts,
  bystanders: ReadonlySet<Bystander>,
  listeners: ReadonlySet<ChangeListener>,
): (keys: Iterable<string>) => void {
  return (keys) => {
    const changed = changesUnder(keys);
    cache.forget(changed);
    counts.add(changed);
    for (const one of bystanders) one.note(changed);
    // A listener may write, which this moment is not for.
    queueMicrotask(() => tell(listeners, new Set(changed.ids.keys())));
  };
}

/** The records that keys of the storage belong to. */
function changesUnder(keys: Iterable<string>): Changes {
  const changed = noChanges();
  for (const key of keys) {
    const [area, name = '', id = ''] = key.split(separator, 3);
    if (area !== areas.record) continue;
    changed.reshaped.add(name);
    const ids = changed.ids.get(name);
    if (ids === undefined) changed.ids.set(name, new Set([id]));
    else ids.add(id);
  }
  return changed;
}

function isConflict(error: unknown): boolean {
  return error instanceof AppError && error.code === 'store_conflict';
}

/** Whether the last write reached the disk. */
class LastWrite {
  /** Why it did not; '' when it did. */
  failure = '';

  async noted<T>(run: Promise<T>): Promise<T> {
    try {
      const result = await run;
      this.failure = '';
      return result;
    } catch (error) {
      if (error instanceof AppError && error.source === 'storage') this.failure = error.message;
      throw error;
    }
  }
}

/** How often each collection changed for those who read it. */
class ChangeCounts {
  private readonly counts = new Map<string, number>();

  add({ ids }: Changes): void {
    for (const name of ids.keys()) this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  of(names: readonly string[]): number {
    return names.reduce((sum, name) => sum + (this.counts.get(name) ?? 0), 0);
  }
}

function noChanges(): Changes {
  return { ids: new Map(), reshaped: new Set() };
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
