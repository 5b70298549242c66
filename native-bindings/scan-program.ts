/**
 * Owns the types of the scan program, the bulk path: many values in one packed buffer, hits as
 * integers. What it does is written in scan-program.h. Never decides what a hit means.
 */
import { addon } from './load-addon.ts';
import type { NativeScanProgram } from './load-addon.ts';
import { nativeDatabaseOf } from './hyperscan.ts';
import type { HsDatabase } from './hyperscan.ts';

/** The smallest database that is enough for values within a class mask. */
export interface ScanTier {
  /** Unsigned 32-bit mask of byte classes; the tier serves values that have no other class. */
  readonly allowedMask: number;
  /** Index into `databases`, or -1: nothing of this class can match such a value. */
  readonly database: number;
  /**
   * Index of a database for joined values, or -1 (default). It must be compiled with MULTILINE and
   * without SINGLEMATCH, of patterns that cannot match a newline; `allowedMask` must not hold the
   * whitespace class. Values of all rows of a call are then scanned at once, a line each.
   */
  readonly lines?: number;
}

/** What is looked for by code. */
export type ScanTestKind = 'sqli' | 'xss' | 'byteRange' | 'urlEncoding' | 'utf8';

/** Something looked for by code instead of a pattern. */
export interface ScanTest {
  readonly chain: number;
  readonly slot: number;
  readonly negated: boolean;
  readonly kind: ScanTestKind;
  /** byteRange only: bitmap of allowed bytes, 32 bytes. */
  readonly table?: Uint8Array;
  /** The test counts as "no match" for values within this class mask; 0 = always run it. */
  readonly skipMask: number;
}

/**
 * Patterns that are scanned for together, so that a database holds few that a value cannot have.
 * Small databases of one chain scan many times faster than one large database of all.
 */
export interface ScanGroup {
  /** A value is scanned with this group when one of these chains ends in it. */
  readonly chains: Int32Array;
  /** The first tier that covers the value is used; none covers it: nothing is scanned. */
  readonly tiers: readonly ScanTier[];
}

/** All that is looked for in one kind of value. */
export interface ScanClass {
  /** Chain index to trie node; at most 64. */
  readonly chains: Int32Array;
  /** By Hyperscan expression id: triples [slot, chain, negated 0|1]; slot -1 = id not used. */
  readonly patterns: Int32Array;
  /** One group of all chains; ignored when there are `groups`. */
  readonly tiers: readonly ScanTier[];
  /** Expression ids are one numbering over all groups; groups may share chains and databases. */
  readonly groups?: readonly ScanGroup[];
  readonly tests: readonly ScanTest[];
}

/** Everything a scan program is built from. */
export interface ScanProgramSpec {
  /** The transformation trie: pairs [parent node, transformation id]; node 0 is [-1, -1]. */
  readonly nodes: Int32Array;
  readonly databases: readonly HsDatabase[];
  readonly classes: readonly ScanClass[];
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
  /** Transformations left out because their output would not fit the arena. */
  readonly overflows: number;
  readonly tests: number;
}

/** How much memory the outputs of one row's transformations may take unless the caller says. */
const arenaBytesMaxDefault = 64 * 1024 * 1024;

/**
 * One policy generation's bulk scanner; for one thread. It keeps the databases alive.
 * Errors: the constructor throws code `bad_scan_program` for a specification that contradicts
 * itself, `closed` after close().
 */
export class ScanProgram {
  readonly #native: NativeScanProgram;
  // The arrays whose addresses the addon holds; kept here so that they stay alive. A detached or
  // resized buffer shows by its length.
  #slab: Uint8Array = new Uint8Array(0);
  #rows: Int32Array = new Int32Array(0);
  #hits: Int32Array = new Int32Array(0);
  #slabBytes = -1;
  #rowLength = -1;
  #hitLength = -1;

  constructor(spec: ScanProgramSpec, options: { readonly arenaBytesMax?: number } = {}) {
    const native = { ...spec, databases: spec.databases.map(nativeDatabaseOf) };
    this.#native = new addon.ScanProgram(native, options.arenaBytesMax ?? arenaBytesMaxDefault);
  }

  /**
   * Looks at every row's value.
   * Shape: rows are triples [start, end, class] of byte offsets into `slab`; hits are written as
   * pairs [slot, row]; a pair may come twice, in any order. The result counts all hits: when it is
   * more
   * than fits, `hits` is full and the caller repeats with a larger array.
   * Errors: TypeError for a row outside the slab. Cost: no allocation; transformations and scans.
   * Using the same three arrays again saves a tenth of a microsecond a call.
   */
  scan(slab: Uint8Array, rows: Int32Array, rowCount: number, hits: Int32Array): number {
    const bound =
      slab === this.#slab &&
      rows === this.#rows &&
      hits === this.#hits &&
      slab.length === this.#slabBytes &&
      rows.length === this.#rowLength &&
      hits.length === this.#hitLength;
    if (!bound) this.#bind(slab, rows, hits);
    return this.#native.scan(rowCount);
  }

  #bind(slab: Uint8Array, rows: Int32Array, hits: Int32Array): void {
    this.#native.bind(slab, rows, hits);
    this.#slab = slab;
    this.#rows = rows;
    this.#hits = hits;
    this.#slabBytes = slab.length;
    this.#rowLength = rows.length;
    this.#hitLength = hits.length;
  }

  stats(): ScanStats {
    return this.#native.stats() as unknown as ScanStats;
  }

  /** Frees the program and lets go of the arrays it was last used with. */
  close(): void {
    this.#slab = new Uint8Array(0);
    this.#rows = new Int32Array(0);
    this.#hits = new Int32Array(0);
    this.#native.close();
  }
}
