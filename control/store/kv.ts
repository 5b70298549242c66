/**
 * Owns what a storage driver must do: ordered keys, ranges, transactions. A driver that passes the
 * suite in test/support/kv-suite.ts can hold the store.
 */

export interface KvEntry {
  readonly key: string;
  readonly value: Uint8Array;
}

/** A range of keys. */
export interface KvRange {
  /** First key that belongs to the range. */
  readonly start: string;
  /** First key behind the range. */
  readonly end: string;
  /** From the end to the start. */
  readonly reverse?: boolean;
  /** At most so many entries. */
  readonly limit?: number;
}

/** Reading. */
export interface KvReader {
  get(key: string): Uint8Array | undefined;
  /** Entries in the order of their keys' UTF-8 bytes. Valid until the next write. */
  range(range: KvRange): Iterable<KvEntry>;
}

/** Reading and writing inside one transaction. */
export interface KvWriter extends KvReader {
  put(key: string, value: Uint8Array): void;
  remove(key: string): void;
}

/** Ordered keys and values. Keys have at most 1900 bytes of UTF-8. */
export interface Kv extends KvReader {
  /**
   * Runs `change` in one transaction: all of it or, when it throws, nothing. Transactions do not
   * overlap. Resolves when the change is as durable as the driver was asked to make it. Errors:
   * AppError store_full, store_failed; whatever `change` throws.
   */
  write<T>(change: (writer: KvWriter) => T): Promise<T>;
  /** Copies a consistent state into an empty folder while work goes on. */
  backup(folder: string): Promise<void>;
  close(): Promise<void>;
}

/** The range of all keys that begin with `prefix`. */
export function prefixRange(prefix: string): { readonly start: string; readonly end: string } {
  const last = prefix.charCodeAt(prefix.length - 1);
  return { start: prefix, end: prefix.slice(0, -1) + String.fromCharCode(last + 1) };
}
