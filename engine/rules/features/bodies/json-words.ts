/**
 * Reads the words of JSON in the slab: strings, numbers, and what laxer readers than RFC 8259 take
 * for one. What is wrong is recorded; with `SecInspectUnparsed` reading continues after it. Knows
 * nothing of objects and lists: json-reader.ts does.
 */

import { valueLimits } from '../../../../base/rule-limits.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import type { ValueTable } from '../../transaction/values.ts';
import { failBody } from './arguments.ts';
import { isDigit, isSeparator, isWordByte, plainEscape, readUnit } from './json-bytes.ts';
import { writeUtf8 } from '../../../../base/utf8.ts';

const QUOTE = 0x22;
const APOSTROPHE = 0x27;
const LF = 0x0a;
const MINUS = 0x2d;
const DOT = 0x2e;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_OBJECT = 0x7b;

/** Classes of bytes inside a string: 0 ordinary, 1 needs a look. */
const special: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 || byte === QUOTE || byte === BACKSLASH ? 1 : 0,
);
const noBytes = new Uint8Array(0);

/** One place in a document, and the word read last; reused from document to document. */
export class JsonWords {
  protected tx!: Transaction;
  protected values!: ValueTable;
  protected slab: Uint8Array = noBytes;
  protected at = 0;
  protected end = 0;
  protected truncated = false;
  protected failed = false;
  /** Reading continues after an error, as some backends do. */
  protected lenient = false;
  /** A name was read, and no value of it yet. */
  protected named = false;
  /** Where the last line ended that was taken as a whole. */
  protected looseEnd = 0;
  protected highBits = 0;
  // The string or number read last.
  protected textStart = 0;
  protected textEnd = 0;
  protected escaped = false;

  /** Begins at `start`. */
  protected begin(tx: Transaction, start: number, end: number, truncated: boolean): void {
    this.tx = tx;
    this.values = tx.values;
    this.slab = tx.values.slab;
    this.at = start;
    this.end = end;
    this.truncated = truncated;
    this.failed = false;
    this.lenient = tx.settings.inspectsUnparsed;
    this.looseEnd = start;
    this.highBits = 0;
  }

  /** Next byte that is not white space, not consumed; -1 at the end. */
  protected nextByte(): number {
    const { slab, end } = this;
    let at = this.at;
    while (at < end) {
      const byte = slab[at]!;
      if (byte > 0x20 || (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09)) {
        this.at = at;
        return byte;
      }
      at++;
    }
    this.at = at;
    return -1;
  }

  /** From the opening quote to after the closing one; the text between is textStart..textEnd. */
  protected scanString(): boolean {
    const { slab, end } = this;
    let at = this.at + 1;
    let high = this.highBits;
    this.textStart = at;
    this.escaped = false;
    while (at < end) {
      const byte = slab[at]!;
      high |= byte;
      if (special[byte] === 0) {
        at++;
      } else if (byte === QUOTE) {
        this.textEnd = at;
        this.at = at + 1;
        this.highBits = high;
        return true;
      } else if (byte === BACKSLASH) {
        this.escaped = true;
        at += 2;
      } else {
        // Some readers take it, so reading continues.
        failBody(this.tx, 'JSON: a control character in a string');
        at++;
      }
    }
    this.highBits = high;
    this.textEnd = end;
    this.at = end;
    this.broken('JSON: ends too early');
    return false;
  }

  protected scanNumber(): boolean {
    const { slab, end } = this;
    let at = this.at;
    this.textStart = at;
    if (slab[at] === MINUS) at++;
    const digits = at;
    while (at < end && isDigit(slab[at]!)) at++;
    let valid = at > digits && (slab[digits] !== 0x30 || at === digits + 1);
    if (at < end && slab[at] === DOT) {
      const fraction = ++at;
      while (at < end && isDigit(slab[at]!)) at++;
      valid &&= at > fraction;
    }
    if (at < end && (slab[at]! | 0x20) === 0x65) {
      at++;
      if (at < end && (slab[at] === 0x2b || slab[at] === MINUS)) at++;
      const exponent = at;
      while (at < end && isDigit(slab[at]!)) at++;
      valid &&= at > exponent;
    }
    this.at = at;
    this.textEnd = at;
    return valid || (at === end && this.truncated) || (this.broken('JSON: not a number') && false);
  }

  /** Writes the text of a string without its escapes after the slab; returns where it starts. */
  protected unescape(start: number, end: number): number {
    const values = this.values;
    values.reserve(end - start);
    const slab = (this.slab = values.slab);
    const first = values.used;
    let out = first;
    let at = start;
    while (at < end) {
      const byte = slab[at]!;
      if (byte !== BACKSLASH) {
        slab[out++] = byte;
        at++;
        continue;
      }
      const kind = slab[at + 1]!;
      if (at + 1 >= end) break;
      if (kind === 0x75) {
        const unit = readUnit(slab, at + 2, end);
        if (unit < 0) {
          this.broken('JSON: an unknown escape');
          at += 2;
          continue;
        }
        at += 6;
        let code = unit;
        if (unit >= 0xd800 && unit < 0xe000) {
          const low = at + 1 < end && slab[at] === BACKSLASH && slab[at + 1] === 0x75;
          const second = low ? readUnit(slab, at + 2, end) : -1;
          code = 0xfffd;
          if (unit < 0xdc00 && second >= 0xdc00 && second < 0xe000) {
            code = 0x10000 + ((unit - 0xd800) << 10) + (second - 0xdc00);
            at += 6;
          }
        }
        out = writeUtf8(slab, out, code);
      } else {
        const plain = plainEscape(kind);
        if (plain < 0) this.broken('JSON: an unknown escape');
        slab[out++] = plain < 0 ? kind : plain;
        at += 2;
      }
    }
    values.used = out;
    return first;
  }

  /**
   * What other readers take for a name or a value: a text between apostrophes, or a word. Of what
   * is no word, the line is the text: it may be no JSON at all. Cost: each line is taken once.
   */
  protected scanBare(first: number, stop: number): void {
    const { slab, end } = this;
    const quoted = first === APOSTROPHE;
    let at = this.at + 1;
    let word = true;
    this.textStart = quoted ? at : this.at;
    this.escaped = false;
    for (; at < end; at++) {
      const byte = slab[at]!;
      if (quoted) {
        if (byte === APOSTROPHE) break;
        if (byte === BACKSLASH) {
          this.escaped = true;
          at++;
        }
      } else {
        if (byte === stop || isSeparator(byte) || byte === LF || byte === QUOTE) break;
        if (byte === OPEN_LIST || byte === OPEN_OBJECT) break;
        if (!isWordByte(byte)) word = false;
      }
    }
    at = Math.min(at, end);
    this.highBits |= 0x80;
    this.textEnd = at;
    this.at = quoted && at < end ? at + 1 : at;
    if (quoted || (word && isWordByte(first)) || this.textStart < this.looseEnd) return;
    const lineMax = Math.min(end, this.textStart + valueLimits.rawWindowBytes);
    while (at < lineMax && slab[at] !== LF) at++;
    this.textEnd = this.looseEnd = at;
  }

  /** Stops reading; at the cut of a truncated body that is no error of the client. */
  protected fail(reason: string): false {
    this.broken(reason);
    this.failed = true;
    return false;
  }

  /** Records what is wrong; false where reading stops at it. */
  protected broken(reason: string): boolean {
    if (!this.truncated || this.at < this.end) failBody(this.tx, reason);
    if (!this.lenient) this.failed = true;
    return this.lenient;
  }
}
