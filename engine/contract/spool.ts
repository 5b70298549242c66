/** The port to the observations that wait on disk; plain data. */

/** Entries in the order of their positions, which count up from 1; 0 is the owner's own note. */
export interface SpoolStore {
  /** All entries in order. */
  load(): Iterable<readonly [position: number, bytes: Uint8Array]>;
  /** One entry; null when there is none or it cannot be read. */
  read(position: number): Uint8Array | null;
  /** The owner's second note; null when there is none. */
  readNote(): Uint8Array | null;
  /**
   * Writes and removes entries and, when given, replaces the second note: all of it or nothing;
   * false when the disk refuses. What is only removed may leave the disk with a later change.
   */
  change(
    puts: Iterable<readonly [number, Uint8Array]>,
    removes: readonly number[],
    note?: Uint8Array | null,
  ): boolean;
}
