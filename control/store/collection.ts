/** What a collection is: a name, its indexes, and what else follows from a record. */

/** A kind of record. Indexes map a record to the values under which it is found. */
export interface Collection<T extends { readonly id: string }> {
  readonly name: string;
  /**
   * A new index is built when the store is opened. One whose meaning changes gets a new name: the
   * entries of the old one go.
   */
  readonly indexes: Readonly<Record<string, (record: T) => readonly string[]>>;
  /** Indexes whose entries are counted value by value. */
  readonly counted?: readonly string[];
  /** False for large records that are read once: they are decoded anew each time. */
  readonly cached?: boolean;
  /** Names of the blobs that a record needs; `waf admin verify` looks for them. */
  readonly blobs?: (record: T) => readonly string[];
}

/** Any collection, whatever its records are. */
export interface AnyCollection {
  readonly name: string;
  readonly indexes: Readonly<Record<string, (record: never) => readonly string[]>>;
  readonly counted?: readonly string[];
  readonly cached?: boolean;
  readonly blobs?: (record: never) => readonly string[];
}
