/**
 * Owns reading JSON (RFC 8259) in the slab: every scalar becomes an ARGS_POST row named by its path
 * (`json.a.b`, `json.list.array_0`; a member's list also one by its plain name, empty: CRS looks at
 * the end of names). Values without escapes stay where they are. Keeps reading what it can: depth,
 * argument and length limits are recorded and do not hide what follows.
 */

import { isUtf8 } from 'node:buffer';

import { valueLimits } from '../../../base/limits.ts';
import type { Transaction } from '../transaction.ts';
import { SOURCE, type ValueTable } from '../values.ts';
import { failBody, hasArgumentRoom, hexValue } from './arguments.ts';
import { writeUtf8 } from './utf8.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** What stands for a member without a name, as in ModSecurity 3. */
const emptyKey = Buffer.from('empty-key');

/** Classes of bytes inside a string: 0 ordinary, 1 needs a look. */
const special: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte < 0x20 || byte === QUOTE || byte === BACKSLASH ? 1 : 0,
);
const listStep: Uint8Array = Buffer.from('.array_');
const rootName: Uint8Array = Buffer.from('json');

/** Marks an object on the stack of counters; lists hold the index of their next element. */
const IN_OBJECT = -1;

/**
 * Reads one document at a time; reused, so that reading allocates nothing. Not re-entrant.
 * Cost: one pass over the bytes, and for each scalar a copy of its path.
 */
export class JsonReader {
  private tx!: Transaction;
  private values!: ValueTable;
  private slab: Uint8Array = rootName;
  private at = 0;
  private end = 0;
  private truncated = false;
  private failed = false;
  private highBits = 0;
  // The string or number read last.
  private textStart = 0;
  private textEnd = 0;
  private escaped = false;
  // Where we are: the name of the value that comes next, and the containers around it.
  private readonly path = new Uint8Array(valueLimits.jsonPathBytesMax + 16);
  private pathLength = 0;
  // The last argument's name in the slab, and the bytes that names may still take.
  private nameStart = 0;
  private nameEnd = 0;
  private nameRoom = 0;
  private depth = 0;
  private counters = new Int32Array(64);
  private marks = new Int32Array(64);

  /** Reads [start, end) of the slab; errors go to REQBODY_ERROR. `truncated`: more was cut off. */
  read(tx: Transaction, start: number, end: number, truncated: boolean): void {
    this.tx = tx;
    this.values = tx.values;
    this.slab = tx.values.slab;
    this.at = start;
    this.end = end;
    this.truncated = truncated;
    this.failed = false;
    this.highBits = 0;
    this.depth = 0;
    this.path.set(rootName);
    this.pathLength = rootName.length;
    this.nameStart = 0;
    this.nameEnd = 0;
    this.nameRoom = nameRoomOf(end - start);
    this.skipByteOrderMark();
    this.readValues();
    if (this.highBits >= 0x80) this.checkUtf8(start);
  }

  /**
   * The parent loop: one turn reads one value, or closes one container. False when reading stopped
   * early.
   */
  private readValues(): boolean {
    let expectValue = true;
    for (;;) {
      const byte = this.nextByte();
      if (byte < 0) {
        return expectValue || this.depth > 0 ? this.fail('JSON: ends too early') : true;
      }
      if (expectValue) {
        if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
          if (!this.open(byte === OPEN_LIST)) return false;
          if (byte === OPEN_LIST && !this.addListName()) return false;
          expectValue = this.enter(byte === OPEN_LIST);
        } else {
          if (!this.readScalar(byte)) return false;
          expectValue = false;
        }
      } else {
        if (this.depth === 0) return this.fail('JSON: bytes behind the document');
        const inList = this.counters[this.depth]! !== IN_OBJECT;
        this.at++;
        if (byte === COMMA) {
          if (inList) this.nextElement();
          else if (!this.readKey()) return false;
          expectValue = true;
        } else if (byte === (inList ? CLOSE_LIST : CLOSE_OBJECT)) {
          this.close();
        } else {
          return this.fail('JSON: a comma or a closing bracket is missing');
        }
      }
      if (this.failed) return false;
    }
  }

  /** Behind an opening bracket: false when the container is empty and closed. */
  private enter(isList: boolean): boolean {
    const byte = this.nextByte();
    if (byte === (isList ? CLOSE_LIST : CLOSE_OBJECT)) {
      this.at++;
      this.close();
      return false;
    }
    if (isList) this.nextElement();
    else this.readKey();
    return true;
  }

  private open(isList: boolean): boolean {
    this.at++;
    const depth = ++this.depth;
    if (depth >= valueLimits.jsonStackMax) {
      this.fail('JSON: nesting too deep');
      return false;
    }
    if (depth > this.tx.settings.jsonDepthMax) failBody(this.tx, 'JSON depth limit exceeded');
    if (depth === this.counters.length) this.growStack();
    this.counters[depth] = isList ? 0 : IN_OBJECT;
    this.marks[depth] = this.pathLength;
    return true;
  }

  /** A member's list is an argument itself (empty), so that rules see the member's plain name. */
  private addListName(): boolean {
    if (this.counters[this.depth - 1] !== IN_OBJECT || this.depth < 2) return true;
    return this.addLeaf(this.at, this.at);
  }

  private close(): void {
    this.depth--;
  }

  /** Sets the path to the next element of the list we are in. */
  private nextElement(): void {
    let index = this.counters[this.depth]!++;
    const path = this.path;
    let length = this.marks[this.depth]!;
    if (length + listStep.length + 10 > valueLimits.jsonPathBytesMax) {
      this.pathLength = length;
      return;
    }
    for (let i = 0; i < listStep.length; i++) path[length++] = listStep[i]!;
    let digits = 1;
    for (let rest = index; rest >= 10; rest = (rest / 10) | 0) digits++;
    for (let i = digits - 1; i >= 0; i--) {
      path[length + i] = 0x30 + (index % 10);
      index = (index / 10) | 0;
    }
    this.pathLength = length + digits;
  }

  /** Reads `"key":` and sets the path to that member. */
  private readKey(): boolean {
    if (this.nextByte() !== QUOTE) return this.fail('JSON: a member name is missing');
    if (!this.scanString()) return false;
    let start = this.textStart;
    let end = this.textEnd;
    if (this.escaped) {
      start = this.unescape(start, end);
      end = this.values.used;
    }
    const { path, slab } = this;
    let length = this.marks[this.depth]!;
    const room = valueLimits.jsonPathBytesMax - length - 1;
    const size = end === start ? emptyKey.length : end - start;
    if (size > room) failBody(this.tx, 'JSON: names too long');
    if (room >= 0) path[length++] = DOT;
    const from = end === start ? emptyKey : slab.subarray(start, end);
    const kept = Math.min(size, Math.max(0, room));
    for (let i = 0; i < kept; i++) path[length++] = from[i]!;
    this.pathLength = length;
    if (this.nextByte() !== COLON) return this.fail('JSON: a colon is missing');
    this.at++;
    return true;
  }

  private readScalar(byte: number): boolean {
    if (byte === QUOTE) {
      // What a cut-off string began with is inspected, too.
      const complete = this.scanString();
      let start = this.textStart;
      let end = this.textEnd;
      if (this.escaped) {
        start = this.unescape(start, end);
        end = this.values.used;
      }
      return this.addLeaf(start, end) && complete;
    }
    if (byte === MINUS || (byte >= 0x30 && byte <= 0x39)) {
      if (!this.scanNumber()) return false;
      return this.addLeaf(this.textStart, this.textEnd);
    }
    if (byte === 0x74) return this.readWord('true');
    if (byte === 0x66) return this.readWord('false');
    if (byte === 0x6e) return this.readWord('null');
    return this.fail('JSON: a value is missing');
  }

  private readWord(word: string): boolean {
    const start = this.at;
    for (let i = 0; i < word.length; i++) {
      if (this.at === this.end) return this.fail('JSON: ends too early');
      if (this.slab[this.at] !== word.charCodeAt(i)) return this.fail('JSON: unknown word');
      this.at++;
    }
    return this.addLeaf(start, word === 'null' ? start : this.at);
  }

  private addLeaf(start: number, end: number): boolean {
    if (!hasArgumentRoom(this.tx)) {
      this.failed = true;
      return false;
    }
    if (!this.isLastName() && !this.writeName()) return false;
    this.values.add(SOURCE.argPost, this.nameStart, this.nameEnd, start, end);
    return true;
  }

  /** True when the path is the name that was written last: members may repeat it. */
  private isLastName(): boolean {
    const { path, pathLength, nameStart, slab } = this;
    if (this.nameEnd - nameStart !== pathLength) return false;
    // Names mostly differ at their ends.
    for (let i = pathLength - 1; i >= 0; i--) if (slab[nameStart + i] !== path[i]) return false;
    return true;
  }

  /** Writes the path to the slab as a name. False when the document's names take too much. */
  private writeName(): boolean {
    const { values, path, pathLength: length } = this;
    this.nameRoom -= length;
    if (this.nameRoom < 0) {
      this.failed = true;
      failBody(this.tx, 'JSON: names too long together');
      return false;
    }
    values.reserve(length);
    const slab = (this.slab = values.slab);
    const key = values.used;
    for (let i = 0; i < length; i++) slab[key + i] = path[i]!;
    values.used = key + length;
    this.nameStart = key;
    this.nameEnd = key + length;
    return true;
  }

  /** From the opening quote to behind the closing one; the text between is textStart..textEnd. */
  private scanString(): boolean {
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
        // Some readers take it, so reading goes on.
        failBody(this.tx, 'JSON: a control character in a string');
        at++;
      }
    }
    this.highBits = high;
    this.textEnd = end;
    this.at = end;
    return this.fail('JSON: ends too early');
  }

  private scanNumber(): boolean {
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
    return valid || (at === end && this.truncated) || this.fail('JSON: not a number');
  }

  /** Writes the text of a string without its escapes behind the slab; returns where it starts. */
  private unescape(start: number, end: number): number {
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
          this.fail('JSON: an unknown escape');
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
        if (plain < 0) this.fail('JSON: an unknown escape');
        slab[out++] = plain < 0 ? kind : plain;
        at += 2;
      }
    }
    values.used = out;
    return first;
  }

  /** Next byte that is not white space, not consumed; -1 at the end. */
  private nextByte(): number {
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

  /** RFC 8259 section 8.1: none may be added; readers differ, so it is recorded. */
  private skipByteOrderMark(): void {
    const { slab, at, end } = this;
    if (end - at < 3 || slab[at] !== 0xef || slab[at + 1] !== 0xbb || slab[at + 2] !== 0xbf) return;
    this.at += 3;
    failBody(this.tx, 'JSON: a byte order mark');
  }

  private checkUtf8(start: number): void {
    let end = this.end;
    // A cut may go through a character.
    for (let back = 0; this.truncated && back < 3 && end > start; back++) {
      const byte = this.slab[end - 1]!;
      if (byte < 0x80) break;
      end--;
      if (byte >= 0xc0) break;
    }
    if (!isUtf8(this.slab.subarray(start, end))) failBody(this.tx, 'JSON: not UTF-8');
  }

  /** Stops reading; at the cut of a truncated body that is no error of the client. */
  private fail(reason: string): false {
    this.failed = true;
    if (!this.truncated || this.at < this.end) failBody(this.tx, reason);
    return false;
  }

  private growStack(): void {
    const counters = new Int32Array(2 * this.counters.length);
    counters.set(this.counters);
    const marks = new Int32Array(counters.length);
    marks.set(this.marks);
    this.counters = counters;
    this.marks = marks;
  }
}

/**
 * What the names of a document may take together. Every argument repeats the names around it, so a
 * long one around a long list would be looked at once an item.
 */
function nameRoomOf(documentBytes: number): number {
  const { jsonNameBytesMin, jsonNamesPerByte, jsonNameBytesMax } = valueLimits;
  return Math.min(jsonNameBytesMax, jsonNameBytesMin + jsonNamesPerByte * documentBytes);
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

/** The 16-bit unit of four hexadecimal digits; -1 when they are not. */
function readUnit(slab: Uint8Array, at: number, end: number): number {
  if (at + 4 > end) return -1;
  const a = hexValue[slab[at]!]!;
  const b = hexValue[slab[at + 1]!]!;
  const c = hexValue[slab[at + 2]!]!;
  const d = hexValue[slab[at + 3]!]!;
  return a < 0 || b < 0 || c < 0 || d < 0 ? -1 : (a << 12) | (b << 8) | (c << 4) | d;
}

/** What stands behind a backslash, or -1 for what RFC 8259 does not know. */
function plainEscape(kind: number): number {
  switch (kind) {
    case QUOTE:
    case BACKSLASH:
    case 0x2f:
      return kind;
    case 0x62:
      return 0x08;
    case 0x66:
      return 0x0c;
    case 0x6e:
      return 0x0a;
    case 0x72:
      return 0x0d;
    case 0x74:
      return 0x09;
    default:
      return -1;
  }
}
