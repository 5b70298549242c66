/** The local copy of a shared store: what the log says, and up to which entry. */

import { AppError } from '../../../base/errors.ts';
import { metaKey, readJson, toBytes } from '../keys.ts';
import type { Kv, KvReader } from '../kv.ts';
import type { LogEntry, LogPlace, LogSnapshot, WriteSet } from './write-log.ts';

/** Key of what the copy knows of itself; it is never in the log. */
export const replicaKey = metaKey('replica');

interface ReplicaMark extends LogPlace {
  readonly storeId: string;
}

/** Which shared store a local one is a copy of; null for one that is none. */
export function replicaOf(kv: KvReader): string | null {
  return readJson<ReplicaMark>(kv.get(replicaKey))?.storeId ?? null;
}

/** Every key of a store; the first byte is never zero. */
const everyKey = { start: '\u0001', end: '\uffff' };

/** A copy in a local store. What is applied can be read at once, before it is on disk. */
export class Replica {
  private readonly kv: Kv;
  private readonly storeId: string;
  private readonly onFailure: (error: unknown) => void;

  /** Errors: AppError store_embedded, where the local store is a copy of another one. */
  constructor(kv: Kv, storeId: string, onFailure: (error: unknown) => void) {
    this.kv = kv;
    this.storeId = storeId;
    this.onFailure = onFailure;
    const known = replicaOf(kv);
    if (known !== null && known !== storeId) throw embedded('has a copy of another shared store');
  }

  /** What the local store has, where it is a store of its own; null for a copy, or an empty one. */
  own(): WriteSet | null {
    if (replicaOf(this.kv) !== null) return null;
    const all = new Map(Array.from(this.kv.range(everyKey), ({ key, value }) => [key, value]));
    return all.size === 0 ? null : all;
  }

  /** From now on it is a copy: its content is in the log, at this place. */
  adopt(place: LogPlace): void {
    this.write(place, () => undefined);
  }

  /** Up to where it has the log. Read from the store: a write that failed takes it back. */
  place(): LogPlace {
    const mark = readJson<ReplicaMark>(this.kv.get(replicaKey));
    return { seq: mark?.seq ?? 0, id: mark?.id ?? '' };
  }

  /** Applies entries that follow on what it has. */
  apply(entries: readonly LogEntry[]): void {
    const last = entries.at(-1);
    if (last === undefined) return;
    this.write(last, (put) => {
      for (const { changes } of entries) put(changes);
    });
  }

  /** Replaces all that it has. Returns the keys that were there before. */
  replace(snapshot: LogSnapshot): string[] {
    const before = Array.from(this.kv.range({ ...everyKey, keysOnly: true }), ({ key }) => key);
    this.write(snapshot, (put) => {
      put(new Map(before.map((key) => [key, null])));
      put(snapshot.changes);
    });
    return before;
  }

  private write({ seq, id }: LogPlace, fill: (put: (changes: WriteSet) => void) => void): void {
    const { storeId } = this;
    this.kv
      .write((writer) => {
        fill((changes) => {
          for (const [key, value] of changes) {
            if (value === null) writer.remove(key);
            else writer.put(key, value);
          }
        });
        writer.put(replicaKey, toBytes({ storeId, seq, id } satisfies ReplicaMark));
      })
      .catch(this.onFailure);
  }
}

/** Where the local store cannot become a copy. */
export function embedded(what: string): AppError {
  const message = `the data folder ${what}: start with an empty one, or with an empty database`;
  return new AppError('store_embedded', message, { source: 'config' });
}
