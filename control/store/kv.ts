/**
 * What a storage driver must do: ordered keys, ranges, transactions. A driver that passes the suite
 * in test/support/kv-suite.ts can hold the store.
 */

/** A key and what is stored under it. */
export interface KvEntry {
  readonly key: string;
  readonly value: Uint8Array;
}

/** A range of keys. */
export interface KvRange {
  /** First key that belongs to the range. */
  readonly start: string;
  /** First key after the range. */
  readonly end: string;
  /** From the end to the start. */
  readonly reverse?: boolean;
  /** At most this number of entries. */
  readonly limit?: number;
  /** Leaves the values unread: entries have empty ones. */
  readonly keysOnly?: boolean;
}

/** Reading. */
export interface KvReader {
  get(key: string): Uint8Array | undefined;
  /**
   * As `get`, for bytes that are looked at in the same turn and before the next reading, which may
   * overwrite them: nothing is copied for the caller, who must not change them.
   */
  peek(key: string): Uint8Array | undefined;
  /** Entries in the order of their keys' UTF-8 bytes, read as they are asked for. */
  range(range: KvRange): Iterable<KvEntry>;
}

/** The state of one moment, whatever is written meanwhile. Must be closed. */
export interface KvSnapshot extends KvReader {
  close(): void;
}

/** Reading and writing inside one transaction. */
export interface KvWriter extends KvReader {
  put(key: string, value: Uint8Array): void;
  remove(key: string): void;
}

/** A transaction that is not part of the storage yet; forgotten unless it is kept. */
export interface KvStage {
  readonly writer: KvWriter;
  /**
   * Makes it part of the storage at once; resolves and fails as `write` does, and with AppError
   * store_conflict where others wrote meanwhile.
   */
  keep(): Promise<void>;
}

/** Ordered keys and values. Keys have at most 1900 bytes of UTF-8. */
export interface Kv extends KvReader {
  /**
   * Runs `change` in one transaction: all of it or, when it throws, nothing. Transactions do not
   * overlap. Resolves when the change is as durable as the driver was asked to make it. Errors:
   * AppError store_full, store_failed; whatever `change` throws. A driver that others write to
   * may run `change` again, on what they wrote; it then also has the errors of its log.
   */
  write<T>(change: (writer: KvWriter) => T): Promise<T>;
  /**
   * Opens a transaction that is written over several turns. What others write meanwhile shows
   * through it: whoever keeps it makes sure that none of that matters.
   */
  stage(): KvStage;
  /** Holds the present state for reading during writes; space is not reused meanwhile. */
  snapshot(): KvSnapshot;
  /**
   * For drivers that others write to, too: tells at once, before anything else is read, under which
   * keys readers see other values now that no `write` of theirs has set. One listener.
   */
  onRevised?(listener: (keys: Iterable<string>) => void): void;
  close(): Promise<void>;
}

/** The range of all keys that begin with `prefix`. */
export function prefixRange(prefix: string): { readonly start: string; readonly end: string } {
  const last = prefix.charCodeAt(prefix.length - 1);
  return { start: prefix, end: prefix.slice(0, -1) + String.fromCharCode(last + 1) };
}
