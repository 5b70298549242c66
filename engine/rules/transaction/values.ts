/**
 * The table of named values that a transaction is inspected over: where each value's bytes
 * stand in one slab, what it is (its source) and which key it has. Parsers append rows; the scanner
 * reads the slab directly; variables turn rows into byte strings only when asked. Never interprets
 * the bytes.
 */

import { AppError } from '../../../base/errors.ts';
import type { ByteString } from '../../../base/byte-string.ts';

/** What a row is. Variables such as ARGS are unions of sources; the planner scans by source. */
export const SOURCE = {
  /** Query-string argument; key = name. */
  argGet: 0,
  /** Body argument (form, multipart field, JSON leaf, XML when parsed into ARGS); key = name. */
  argPost: 1,
  requestHeader: 2,
  requestCookie: 3,
  /** Uploaded file: value = file name as sent, key = form field name. */
  file: 4,
  /** Header line of a multipart part: key = part name, value = `Name: value`. */
  multipartPartHeader: 5,
  xmlText: 6,
  xmlAttribute: 7,
  responseHeader: 8,
  requestLine: 9,
  requestMethod: 10,
  requestProtocol: 11,
  requestUri: 12,
  requestUriRaw: 13,
  requestFilename: 14,
  requestBasename: 15,
  queryString: 16,
  requestBody: 17,
  responseBody: 18,
  /** Path part matched values: key = parameter name. */
  argPath: 19,
  /** A reading of the path; only where the program asks for it. */
  requestPath: 20,
  /** The usual readings of the path, each ended by a line feed. */
  requestPathsJoined: 21,
  /** An argument under the name that PHP gives it, where it differs; only where rules ask. */
  argRenamed: 22,
  /** The same of a cookie. */
  cookieRenamed: 23,
  /** A header field under its name in CGI, with `-` for each mark; only where rules ask. */
  headerRenamed: 24,
} as const;

/** Number of sources; ids are below it. */
export const sourceCount = 25;
/** Names one source. */
export type SourceId = (typeof SOURCE)[keyof typeof SOURCE];

/** A value as rules see it. Scalars have the empty key. */
export interface Entry {
  readonly key: ByteString;
  readonly value: ByteString;
}

/** Bytes one transaction may write into its slab (heads, decoded values, bodies). */
const slabBytesMax = 64 * 1024 * 1024;
/** Rows whose strings a table has room for between transactions. */
const rowsKept = 4096;
const noRows: readonly number[] = [];

/** Grows on demand, is reset and reused between transactions; rows are never removed. */
export class ValueTable {
  slab: Buffer;
  used = 0;
  count = 0;
  /** Changes whenever one of the arrays was replaced by another. */
  version = 0;
  source: Uint8Array;
  keyStart: Int32Array;
  keyEnd: Int32Array;
  start: Int32Array;
  end: Int32Array;
  private readonly bySource: (number[] | null)[] = Array.from({ length: sourceCount }, () => null);
  private values: (ByteString | undefined)[] = [];
  private keys: (ByteString | undefined)[] = [];

  constructor(slabBytes = 16 * 1024, rows = 128) {
    this.slab = Buffer.allocUnsafeSlow(slabBytes);
    this.source = new Uint8Array(rows);
    this.keyStart = new Int32Array(rows);
    this.keyEnd = new Int32Array(rows);
    this.start = new Int32Array(rows);
    this.end = new Int32Array(rows);
  }

  /** Forgets all rows and bytes; keeps the memory unless it grew beyond `keepBytes`. */
  reset(keepBytes = 1024 * 1024): void {
    if (this.count > rowsKept) {
      this.values = [];
      this.keys = [];
    } else {
      // Not by shortening arrays, which costs the JavaScript engine a call each.
      for (let row = 0; row < this.count; row++) {
        this.values[row] = undefined;
        this.keys[row] = undefined;
      }
    }
    this.bySource.fill(null);
    this.used = 0;
    this.count = 0;
    if (this.slab.length > keepBytes) this.replaceSlab(Buffer.allocUnsafeSlow(16 * 1024));
  }

  /** Makes room for `bytes` more; call before writing to `slab` at `used`. Errors: `slab_full`. */
  reserve(bytes: number): void {
    const need = this.used + bytes;
    if (need <= this.slab.length) return;
    if (need > slabBytesMax) {
      throw new AppError('slab_full', 'the transaction holds more bytes than it may', {
        source: 'client',
      });
    }
    const grown = Buffer.allocUnsafeSlow(
      Math.min(slabBytesMax, Math.max(need, 2 * this.slab.length)),
    );
    this.slab.copy(grown, 0, 0, this.used);
    this.replaceSlab(grown);
  }

  /** Bytes that may still be written. */
  room(): number {
    return slabBytesMax - this.used;
  }

  /** Copies bytes to the end of the slab; returns the offset of the first. */
  append(bytes: Uint8Array, from = 0, to = bytes.length): number {
    const length = to - from;
    this.reserve(length);
    const at = this.used;
    this.slab.set(from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to), at);
    this.used = at + length;
    return at;
  }

  /** Writes a byte string to the end of the slab; returns the offset of its first byte. */
  appendText(text: ByteString): number {
    this.reserve(text.length);
    const at = this.used;
    this.slab.latin1Write(text, at, text.length);
    this.used = at + text.length;
    return at;
  }

  /** Adds a row over bytes that are in the slab already; returns the row's index. */
  add(source: SourceId, keyStart: number, keyEnd: number, start: number, end: number): number {
    const row = this.count;
    if (row === this.start.length) this.growRows();
    this.source[row] = source;
    this.keyStart[row] = keyStart;
    this.keyEnd[row] = keyEnd;
    this.start[row] = start;
    this.end[row] = end;
    this.count = row + 1;
    const rows = this.bySource[source];
    if (rows) rows.push(row);
    else this.bySource[source] = [row];
    return row;
  }

  /** Adds a row with its own bytes. */
  addText(source: SourceId, key: ByteString, value: ByteString): number {
    const keyAt = this.appendText(key);
    const at = this.appendText(value);
    return this.add(source, keyAt, keyAt + key.length, at, at + value.length);
  }

  /** Rows of one source in order of arrival; more may be added. */
  rowsOf(source: SourceId): readonly number[] {
    return this.bySource[source] ?? noRows;
  }

  /** The row's value; made once. */
  value(row: number): ByteString {
    return (this.values[row] ??= this.slab.latin1Slice(this.start[row], this.end[row]));
  }

  /** The row's key as sent; made once, also for rows after each other that share its bytes. */
  key(row: number): ByteString {
    return (this.keys[row] ??= this.makeKey(row));
  }

  private makeKey(row: number): ByteString {
    const start = this.keyStart[row]!;
    const end = this.keyEnd[row]!;
    if (row > 0 && this.keyStart[row - 1] === start && this.keyEnd[row - 1] === end) {
      const before = this.keys[row - 1];
      if (before !== undefined) return before;
    }
    return this.slab.latin1Slice(start, end);
  }

  private replaceSlab(slab: Buffer): void {
    this.slab = slab;
    this.version++;
  }

  private growRows(): void {
    this.version++;
    const size = 2 * this.start.length;
    const grow = (old: Int32Array): Int32Array => {
      const next = new Int32Array(size);
      next.set(old);
      return next;
    };
    const source = new Uint8Array(size);
    source.set(this.source);
    this.source = source;
    this.keyStart = grow(this.keyStart);
    this.keyEnd = grow(this.keyEnd);
    this.start = grow(this.start);
    this.end = grow(this.end);
  }
}
