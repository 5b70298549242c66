/**
 * The records that were decoded lately, so that lists and pages decode nothing twice. Holds the
 * committed state only; what is in it is frozen.
 */

import { storeLimits } from '../limits/store-limits.ts';
import type { Identified } from './interface.ts';

/** What a transaction changed. */
export interface Changes {
  /** Ids of changed records by collection. */
  readonly ids: Map<string, Set<string>>;
  /** Collections in which a record came or went. */
  readonly reshaped: Set<string>;
}

interface Cached {
  readonly records: Map<string, { readonly record: Identified; readonly bytes: number }>;
  /** Every id of the collection in order; null after one came or went. */
  ids: readonly string[] | null;
}

/** Decoded records by collection. A collection that does not fit is forgotten as a whole. */
export class RecordCache {
  private readonly collections = new Map<string, Cached>();
  private bytes = 0;

  /** A record that is kept. */
  get(collection: string, id: string): Identified | undefined {
    return this.collections.get(collection)?.records.get(id)?.record;
  }

  /** Every id of a collection in order, when they are known. */
  ids(collection: string): readonly string[] | null {
    return this.collections.get(collection)?.ids ?? null;
  }

  /** Keeps a record of the given size in bytes and returns it frozen. */
  keep<T extends Identified>(collection: string, record: T, bytes: number): T {
    if (this.bytes + bytes > storeLimits.cachedBytesMax) this.drop(collection);
    const cached = this.cachedOf(collection);
    if (!cached.records.has(record.id)) {
      cached.records.set(record.id, { record, bytes });
      this.bytes += bytes;
    }
    return freeze(record);
  }

  /** Keeps the ids of a collection, unless its records did not fit. */
  keepIds(collection: string, ids: readonly string[]): void {
    const cached = this.cachedOf(collection);
    if (cached.records.size === ids.length) cached.ids = ids;
  }

  /** Forgets what a write changed. */
  forget({ ids: changed, reshaped }: Changes): void {
    for (const [name, ids] of changed) {
      const cached = this.collections.get(name);
      if (cached === undefined) continue;
      if (reshaped.has(name)) cached.ids = null;
      for (const id of ids) {
        this.bytes -= cached.records.get(id)?.bytes ?? 0;
        cached.records.delete(id);
      }
    }
  }

  private drop(collection: string): void {
    for (const { bytes } of this.collections.get(collection)?.records.values() ?? []) {
      this.bytes -= bytes;
    }
    this.collections.delete(collection);
  }

  private cachedOf(collection: string): Cached {
    let cached = this.collections.get(collection);
    if (cached === undefined) {
      cached = { records: new Map(), ids: null };
      this.collections.set(collection, cached);
    }
    return cached;
  }
}

/** Freezes a decoded record with everything in it. */
function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}
