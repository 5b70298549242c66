/** A small cache for results that depend on run-time texts; the oldest entry goes first. */

import type { ByteString } from '../../../../base/byte-string.ts';

/** Keeps at most `entriesMax` values; `release` is called for what is dropped. */
export class BoundedCache<T> {
  private readonly entries = new Map<ByteString, T>();
  private readonly entriesMax: number;
  private readonly release: (value: T) => void;

  constructor(entriesMax: number, release: (value: T) => void = () => undefined) {
    this.entriesMax = entriesMax;
    this.release = release;
  }

  /** The value for `key`, made by `make` when it is not there. */
  get(key: ByteString, make: () => T): T {
    const known = this.entries.get(key);
    if (known !== undefined) return known;
    if (this.entries.size >= this.entriesMax) this.dropOldest();
    const made = make();
    this.entries.set(key, made);
    return made;
  }

  /** Drops everything. */
  clear(): void {
    for (const value of this.entries.values()) this.release(value);
    this.entries.clear();
  }

  private dropOldest(): void {
    for (const [key, value] of this.entries) {
      this.entries.delete(key);
      this.release(value);
      return;
    }
  }
}
