/**
 * The types of the scan program, the bulk path: many values in one packed buffer, hits as
 * integers. What it does is written in scan-program.h. Never decides what a hit means.
 */
import { addon } from './load-addon.ts';
import type { ByteString, NativeScanProgram } from './load-addon.ts';
import { nativeDatabaseOf } from './hyperscan.ts';
import type { HsDatabase } from './hyperscan.ts';

/** The smallest database that is enough for values within a class mask. */
export interface ScanTier {
  /** Unsigned 32-bit mask of byte classes; the tier serves values that have no other class. */
  readonly allowedMask: number;
  /** Index into `databases`, or -1: nothing is looked for in each value by itself. */
  readonly database: number;
  /** In place of `database`: a value is scanned with those parts in whose chains it is. */
  readonly parts?: readonly TierPart[];
  /**
   * Index of a database for joined values, or -1 (default). It must be compiled with MULTILINE and
   * without SINGLEMATCH, of patterns that cannot match a newline; `allowedMask` must not hold the
   * whitespace class. Values of all rows of a call are then scanned at once, a line each.
   */
  readonly lines?: number;
  /** Another such database, or -1 (default), for values alone in which `guard` finds something. */
  readonly guarded?: number;
  /** Index of a database of literals without SINGLEMATCH; given with `guarded`. */
  readonly guard?: number;
}

/**
 * A database of the patterns of some chains. What one chain makes of a value is then not searched
 * for all that others look for.
 */
export interface TierPart {
  readonly chains: Int32Array;
  /** Index into `databases`. */
  readonly database: number;
}

/** What is looked for by code. */
export type ScanQuestion =
  | { readonly kind: 'sqli' | 'xss' | 'urlEncoding' | 'utf8' }
  /** Every value. */
  | { readonly kind: 'present' }
  /** A byte outside the bitmap of 32 bytes. */
  | { readonly kind: 'byteRange'; readonly table: Uint8Array }
  /** prefix + value + suffix occurs in `text`; byte strings. */
  | {
      readonly kind: 'within';
      readonly text: ByteString;
      readonly prefix: ByteString;
      readonly suffix: ByteString;
    }
  /** The leading integer of the value, as C's atoll reads it, against a 64-bit operand. */
  | {
      readonly kind: 'number';
      readonly relation: 'eq' | 'ge' | 'gt' | 'le' | 'lt';
      readonly operand: bigint;
    };

/** Something looked for by code instead of a pattern. */
export type ScanTest = ScanQuestion & {
  readonly chain: number;
  readonly targetId: number;
  readonly negated: boolean;
  /** The test counts as "no match" for values within this class mask; 0 = always run it. */
  readonly skipMask: number;
};

/** All that is looked for in one kind of value. */
export interface ScanClass {
  /** Chain index to trie node; at most 64. */
  readonly chains: Int32Array;
  /** By pattern number: triples [target id (-1 = unused), chain, negated 0|1]. */
  readonly patterns: Int32Array;
  /** Index into the program's `owners`; absent: expression ids are pattern numbers. */
  readonly owners?: number;
  /** The first tier that covers the value is used; none covers it: nothing is scanned. */
  readonly tiers: readonly ScanTier[];
  readonly tests: readonly ScanTest[];
}

/** Which classes look at one part (key or value) of a source's rows. */
export interface ScanRowPart {
  /** Classes for any name. */
  readonly classes: Int32Array;
  /** Classes by name in lower case, beside those for any. */
  readonly named: readonly { readonly key: ByteString; readonly classes: Int32Array }[];
}

/** Everything a scan program is built from. */
export interface ScanProgramSpec {
  /** The transformation trie: pairs [parent node, transformation id]; node 0 is [-1, -1]. */
  readonly nodes: Int32Array;
  readonly databases: readonly HsDatabase[];
  /** By Hyperscan expression id: the number of its pattern, -1 where nothing uses it. */
  readonly owners?: readonly Int32Array[];
  readonly classes: readonly ScanClass[];
  /** For `scanRows`: two a source, its values' and its names'. */
  readonly rowParts?: readonly ScanRowPart[];
  /** For urlDecodeUni, 65536 bytes; absent = none. */
  readonly unicodeMap?: Uint8Array;
}

/** Counts since the program was made. */
export interface ScanStats {
  /** Hyperscan calls, and the bytes they saw. */
  readonly scans: number;
  readonly bytes: number;
  readonly rows: number;
  /** Distinct values in which chains ended, and scans of them that no tier had to do. */
  readonly outputs: number;
  readonly skipped: number;
  readonly transforms: number;
  /** Transformations whose output did not fit the arena; each ended its call with an error. */
  readonly overflows: number;
  readonly tests: number;
  /** Matches that Hyperscan told, the same one again included. */
  readonly matches: number;
  /** Scans of joined values broken off because they told too many; each value is scanned alone. */
  readonly abandoned: number;
  /** Names and values equal to an earlier one of the same call, which share its scan. */
  readonly shared: number;
  /** Values whose hits were known from before. */
  readonly remembered: number;
}

/** A value table's columns; row i's bytes are slab[start[i], end[i]), its name's with the key's. */
export interface ScanTable {
  readonly slab: Uint8Array;
  readonly source: Uint8Array;
  readonly keyStart: Int32Array;
  readonly keyEnd: Int32Array;
  readonly start: Int32Array;
  readonly end: Int32Array;
}

const noOffsets = new Int32Array(0);
const noBytes = new Uint8Array(0);
const emptyTable: ScanTable = {
  slab: noBytes,
  source: noBytes,
  keyStart: noOffsets,
  keyEnd: noOffsets,
  start: noOffsets,
  end: noOffsets,
};

/** Bounds of a program. */
export interface ScanOptions {
  /** How much memory the outputs of one row's transformations may take. */
  readonly arenaBytesMax?: number;
  /**
   * Values that the thread remembers for each program it has at a time, and for all together.
   * Programs that give the same number share what they remember in, and all that a call needs.
   */
  readonly memoEntries?: number;
  readonly memoEntriesMax?: number;
}

/** How much memory the outputs of one row's transformations may take unless the caller says. */
const arenaBytesMaxDefault = 64 * 1024 * 1024;

/**
 * One policy generation's bulk scanner; for one thread. It keeps the databases alive.
 * Errors: the constructor throws code `bad_scan_program` for a specification that contradicts
 * itself, `closed` after close().
 */
export class ScanProgram {
  /** Where `scanRows` writes pairs [target id, row * 2 + part]; grows when a call finds more. */
  hits = new Int32Array(2 * 128);
  readonly #native: NativeScanProgram;
  // The arrays whose addresses the addon holds; kept here so that they stay alive.
  readonly #attached: ScanTable[] = [];
  readonly #free: number[] = [];

  constructor(spec: ScanProgramSpec, options: ScanOptions = {}) {
    const native = { ...spec, databases: spec.databases.map(nativeDatabaseOf) };
    const { arenaBytesMax = arenaBytesMaxDefault, memoEntries = 0 } = options;
    const { memoEntriesMax = memoEntries } = options;
    this.#native = new addon.ScanProgram(native, arenaBytesMax, memoEntries, memoEntriesMax);
    this.#native.bindHits(this.hits);
  }

  /**
   * Looks at every row's value.
   * Shape: rows are triples [start, end, class] of byte offsets into `slab`; hits are written as
   * pairs [target id, row], in any order; a pair may come twice. The result counts all hits: when
   * they do not fit, `hits` is full and the caller repeats with a larger array.
   * Errors: TypeError for a row outside the slab; `scan_failed` when Hyperscan returns an error,
   * `arena_full` when the outputs of one value's transformations are too large: nothing is known of
   * the values then. Cost: transformations and scans.
   */
  scan(slab: Uint8Array, rows: Int32Array, rowCount: number, hits: Int32Array): number {
    return this.#native.scan(slab, rows, rowCount, hits);
  }

  /** A place for one value table; give it back with `releaseTable`. */
  newTable(): number {
    return this.#free.pop() ?? this.#attached.push(emptyTable) - 1;
  }

  /** Tells where the table's columns lie; again whenever one of them was replaced. Cost: 1 us. */
  attach(id: number, table: ScanTable): void {
    const { slab, source, keyStart, keyEnd, start, end } = table;
    this.#attached[id] = { slab, source, keyStart, keyEnd, start, end };
    this.#native.attach(id, slab, source, keyStart, keyEnd, start, end);
  }

  /** Lets go of the table; its place stays. */
  detach(id: number): void {
    this.attach(id, emptyTable);
  }

  releaseTable(id: number): void {
    this.detach(id);
    this.#free.push(id);
  }

  /**
   * Looks at the rows [from, to) of an attached table, values and names, by their sources' parts.
   * The result counts the pairs in `hits`; one may come twice, in any order. `onlyClass`: the place
   * of the one class of each part that looks, for large values in several calls; -1: all do.
   * Errors: as `scan`. Cost: no allocation; values that were met before
   * cost some 30 ns, others their transformations and scans.
   */
  scanRows(id: number, from: number, to: number, onlyClass = -1): number {
    let found = this.#native.scanRows(id, from, to, onlyClass);
    while (2 * found > this.hits.length) {
      this.hits = new Int32Array(4 * found);
      this.#native.bindHits(this.hits);
      found = this.#native.scanRows(id, from, to, onlyClass);
    }
    return found;
  }

  stats(): ScanStats {
    return this.#native.stats() as unknown as ScanStats;
  }

  /** Frees the program and lets go of the tables. */
  close(): void {
    this.#attached.length = 0;
    this.#native.close();
  }
}
