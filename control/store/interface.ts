/** What the store offers to the rest of control: records, indexes, blobs, the audit chain. */

import type { Steps } from '../../base/steps.ts';
import type { AuditNote, AuditRow } from './audit-chain.ts';
import type { Collection } from './collection.ts';

/** What every record has. */
export interface Identified {
  readonly id: string;
}

/** A stretch of a collection in the order of ids. */
export interface RecordRange {
  /** Only ids that begin so. */
  readonly prefix?: string;
  /** Only ids after this one. */
  readonly after?: string;
  /** Only ids before this one. */
  readonly before?: string;
  /** From the last to the first. */
  readonly reverse?: boolean;
  /** At most this number of records; no bound when absent. */
  readonly limit?: number;
}

/** A stretch of an index: by value, then by id. */
export interface IndexRange {
  /** Only this value. */
  readonly value?: string;
  /** Only values that begin so; leave out `value` then. */
  readonly valuePrefix?: string;
  /** Only what comes after this entry. */
  readonly after?: { readonly value: string; readonly id: string };
  readonly reverse?: boolean;
  /** At most this number of records; no bound when absent. */
  readonly limit?: number;
}

/** Reading records. What is read is shared and frozen: copy before changing. */
export interface ReadStore {
  get<T extends Identified>(collection: Collection<T>, id: string): T | undefined;
  /** All records, by id. For collections of thousands; larger ones are paged or walked. */
  list<T extends Identified>(collection: Collection<T>): T[];
  /** Records with `value` under an index, by id. */
  find<T extends Identified>(collection: Collection<T>, index: string, value: string): T[];
  /** Records by id, decoded one at a time as they are asked for. Cost: one read a record. */
  walk<T extends Identified>(collection: Collection<T>, range?: RecordRange): Iterable<T>;
  /** Records by an index, decoded one at a time as they are asked for. */
  walkIndex<T extends Identified>(
    collection: Collection<T>,
    index: string,
    range?: IndexRange,
  ): Iterable<T>;
  /**
   * Records of a collection, or of those with `value` under an index that its collection names as
   * counted. Cost: one read, however many there are. Errors: a plain Error for another index.
   */
  count<T extends Identified>(collection: Collection<T>, index?: string, value?: string): number;
  blob(name: string): Uint8Array | undefined;
  /** Audit rows, newest first or oldest first. A row that cannot be read has no hash. */
  auditRows(options?: { readonly reverse?: boolean; readonly after?: string }): Iterable<AuditRow>;
  auditRow(id: string): AuditRow | undefined;
  auditHead(): { readonly id: string; readonly hash: string } | null;
}

/** Reading and writing inside one transaction. */
export interface WriteStore extends ReadStore {
  put<T extends Identified>(collection: Collection<T>, record: T): void;
  remove<T extends Identified>(collection: Collection<T>, id: string): void;
  putBlob(name: string, bytes: Uint8Array): void;
  removeBlob(name: string): void;
  audit(note: AuditNote): void;
  /** The next number of a counter, from 1. */
  next(counter: string): number;
}

/** Hears the names of collections that a write changed. */
export type ChangeListener = (changed: ReadonlySet<string>) => void;

/** The store of control. */
export interface Store extends ReadStore {
  /** One transaction; listeners hear of it once it is on disk. Errors: store_full, store_failed. */
  write<T>(change: (store: WriteStore) => T): Promise<T>;
  /**
   * One transaction as `write`, made in slices between which others get their turn. When others
   * changed meanwhile what it looked at, it is made again, at last in one go. It must not count
   * with `next`. Errors: as `write`.
   */
  writeInSteps<T>(change: (store: WriteStore) => Steps<T>): Promise<T>;
  /**
   * Calls `listener` after every write; returns the undo. A listener that throws ends neither the
   * write nor the others. Errors: a plain Error past `storeLimits.listenersMax`.
   */
  onChange(listener: ChangeListener): () => void;
  /**
   * How often readers saw these collections change. It counts at once, not when `onChange` tells:
   * what is written can be read before it is on disk, and no more when it does not get there.
   */
  changesOf(collections: readonly string[]): number;
  /** Why the last write did not reach the disk; '' when it did. */
  lastWriteFailure(): string;
  close(): Promise<void>;
}
