/**
 * Reads JSON (RFC 8259) in the slab: every scalar becomes an ARGS_POST row named by its path
 * (`json.a.b`, `json.list.array_0`; a member's list also one by its plain name, empty: CRS looks at
 * the end of names). Values without escapes stay where they are. Keeps reading what it can: depth,
 * argument and length limits are recorded and do not hide what follows.
 */

import { isUtf8 } from 'node:buffer';

import { valueLimits } from '../../../../base/rule-limits.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { SOURCE } from '../../transaction/values.ts';
import { reachLimit } from '../../transaction/inspection-limits.ts';
import { failBody, hasArgumentRoom, isPastArgumentLimit } from './arguments.ts';
import { isSeparator } from './json-bytes.ts';
import { JsonWords } from './json-words.ts';

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DOT = 0x2e;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** What stands for a member without a name, as in ModSecurity 3. */
const emptyKey = Buffer.from('empty-key');

const listStep: Uint8Array = Buffer.from('.array_');
const rootName: Uint8Array = Buffer.from('json');

/** Longer paths are compared natively. */
const longPathBytes = 128;

/** Shorter items of lists are left out past the limit of arguments. */
const shortValueBytes = 4;

/** Marks an object on the stack of counters; lists hold the index of their next element. */
const IN_OBJECT = -1;

/**
 * Reads one document at a time; reused, so that reading allocates nothing. Not re-entrant.
 * Cost: one pass over the bytes, and for each scalar a copy of its path.
 */
export class JsonReader extends JsonWords {
  // Where we are: the name of the value that comes next, and the containers around it.
  private readonly path = Buffer.alloc(valueLimits.jsonPathBytesMax + 16);
  private pathLength = 0;
  // The last argument's name in the slab, and the bytes that names may still take.
  private nameStart = 0;
  private nameEnd = 0;
  private nameRoom = 0;
  // The path of the last argument, where its name is shortened.
  private readonly lastPath = new Uint8Array(valueLimits.jsonPathBytesMax + 16);
  private lastPathLength = 0;
  private depth = 0;
  private counters = new Int32Array(64);
  private marks = new Int32Array(64);

  /**
   * Reads [start, end) of the slab; errors go to REQBODY_ERROR. `truncated`: more was cut off. Says
   * where reading stopped.
   */
  read(tx: Transaction, start: number, end: number, truncated: boolean): number {
    this.begin(tx, start, end, truncated);
    this.named = false;
    this.depth = 0;
    this.path.set(rootName);
    this.pathLength = rootName.length;
    this.nameStart = 0;
    this.nameEnd = 0;
    this.nameRoom = nameRoomOf(end - start);
    this.lastPathLength = 0;
    this.skipByteOrderMark();
    this.readValues();
    if (this.highBits >= 0x80) this.checkUtf8(start);
    return this.at;
  }

  /**
   * The parent loop: one turn reads one value, or closes one container.
   */
  private readValues(): void {
    let expectValue = true;
    while (!this.failed) {
      const byte = this.nextByte();
      if (byte < 0) {
        if (this.named) this.addLeaf(this.at, this.at);
        if (expectValue || this.depth > 0) this.fail('JSON: ends too early');
        return;
      }
      expectValue = expectValue ? this.readValue(byte) : this.readSeparator(byte);
    }
  }

  /** At the first byte of a value; true when another value comes next. */
  private readValue(byte: number): boolean {
    if (byte === OPEN_OBJECT || byte === OPEN_LIST) {
      const isList = byte === OPEN_LIST;
      if (!this.open(isList) || (isList && !this.addListName())) return false;
      return this.enter(isList);
    }
    if (this.lenient && isSeparator(byte)) return this.readStray(byte);
    this.readScalar(byte);
    return false;
  }

  /** After a value; true when another one comes next. */
  private readSeparator(byte: number): boolean {
    if (this.depth === 0) {
      if (!this.broken('JSON: bytes after the document')) return false;
      this.pathLength = rootName.length;
      if (isSeparator(byte)) this.at++;
      return true;
    }
    const inList = this.counters[this.depth]! !== IN_OBJECT;
    const right = byte === (inList ? CLOSE_LIST : CLOSE_OBJECT);
    if (!right && byte !== COMMA) {
      if (!this.broken('JSON: a comma or a closing bracket is missing')) return false;
    }
    if (right || byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      this.at++;
      this.close();
      return false;
    }
    if (byte === COMMA || byte === COLON) this.at++;
    return this.nextName(inList);
  }

  /** A separator where a value should be. */
  private readStray(byte: number): boolean {
    this.broken('JSON: a value is missing');
    if (this.named) this.addLeaf(this.at, this.at);
    this.at++;
    if (this.depth === 0 || byte === COLON) return true;
    if (byte === COMMA) return this.nextName(this.counters[this.depth]! !== IN_OBJECT);
    this.close();
    return false;
  }

  private nextName(inList: boolean): boolean {
    if (inList) this.nextElement();
    else this.readKey();
    return true;
  }

  /** After an opening bracket: false when the container is empty and closed. */
  private enter(isList: boolean): boolean {
    const byte = this.nextByte();
    if (byte === (isList ? CLOSE_LIST : CLOSE_OBJECT)) {
      this.at++;
      this.close();
      return false;
    }
    return this.nextName(isList);
  }

  private open(isList: boolean): boolean {
    this.at++;
    const depth = ++this.depth;
    if (depth >= valueLimits.jsonStackMax) {
      reachLimit(this.tx, 'json-nesting');
      return this.fail('JSON: nesting too deep');
    }
    this.named = false;
    if (depth > this.tx.settings.jsonDepthMax) {
      failBody(this.tx, 'JSON depth limit exceeded');
      reachLimit(this.tx, 'json-depth');
    }
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
    // Names that repeat cost less to inspect; past the limit nobody counts.
    if (!isPastArgumentLimit(this.tx)) this.counters[this.depth]!++;
    let index = Math.max(0, this.counters[this.depth]! - 1);
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
    const byte = this.nextByte();
    this.named = false;
    if (byte === QUOTE) {
      if (!this.scanString() && !this.lenient) return false;
    } else {
      if (!this.broken('JSON: a member name is missing')) return false;
      if (byte < 0 || (isSeparator(byte) && byte !== COLON)) return true;
      this.scanBare(byte, COLON);
    }
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
    if (size > room) this.noteLongName(start, end);
    if (room >= 0) path[length++] = DOT;
    const from = end === start ? emptyKey : slab;
    const first = end === start ? 0 : start;
    const kept = Math.min(size, Math.max(0, room));
    for (let i = 0; i < kept; i++) path[length++] = from[first + i]!;
    this.pathLength = length;
    this.named = this.lenient;
    if (this.nextByte() !== COLON) return this.broken('JSON: a colon is missing');
    this.at++;
    return true;
  }

  /** The rest of a name that does not fit is inspected as a value. */
  private noteLongName(start: number, end: number): void {
    failBody(this.tx, 'JSON: names too long');
    reachLimit(this.tx, 'json-names');
    if (!this.lenient || !hasArgumentRoom(this.tx)) return;
    this.values.add(SOURCE.argPost, start, start, start, end);
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
      const start = this.at;
      if (!this.scanNumber()) return this.readBare(start);
      return this.addLeaf(this.textStart, this.textEnd);
    }
    if (byte === 0x74) return this.readWord('true');
    if (byte === 0x66) return this.readWord('false');
    if (byte === 0x6e) return this.readWord('null');
    return this.broken('JSON: a value is missing') && this.readBare(this.at);
  }

  /** A value that JSON does not know, from `start` on; false where reading stops at such. */
  private readBare(start: number): boolean {
    if (!this.lenient) return false;
    this.at = start;
    this.scanBare(this.slab[start]!, COMMA);
    let from = this.textStart;
    let to = this.textEnd;
    if (this.escaped) {
      from = this.unescape(from, to);
      to = this.values.used;
    }
    return this.addLeaf(from, to);
  }

  private readWord(word: string): boolean {
    const start = this.at;
    for (let i = 0; i < word.length; i++) {
      if (this.at === this.end) {
        return this.broken('JSON: ends too early') && this.readBare(start);
      }
      if (this.slab[this.at] !== word.charCodeAt(i)) {
        return this.broken('JSON: unknown word') && this.readBare(start);
      }
      this.at++;
    }
    return this.addLeaf(start, word === 'null' ? start : this.at);
  }

  private addLeaf(start: number, end: number): boolean {
    if (!hasArgumentRoom(this.tx)) {
      this.failed = true;
      return false;
    }
    this.named = false;
    const inList = this.depth > 0 && this.counters[this.depth] !== IN_OBJECT;
    // Too short for any attack; its list's name is an argument already.
    if (inList && end - start < shortValueBytes && isPastArgumentLimit(this.tx)) return true;
    if (!this.isLastName() && !this.writeName()) return false;
    this.values.add(SOURCE.argPost, this.nameStart, this.nameEnd, start, end);
    return true;
  }

  /** True when the path is the name that was written last: members may repeat it. */
  private isLastName(): boolean {
    const { path, pathLength, lastPath, nameStart, slab } = this;
    const shortened = this.nameRoom < 0;
    const last = shortened ? this.lastPathLength : this.nameEnd - nameStart;
    if (last !== pathLength) return false;
    if (pathLength > longPathBytes) {
      const from = shortened ? 0 : nameStart;
      const written = shortened ? lastPath : slab;
      return path.compare(written, from, from + pathLength, 0, pathLength) === 0;
    }
    // Names mostly differ at their ends.
    for (let i = pathLength - 1; i >= 0; i--) {
      if ((shortened ? lastPath[i] : slab[nameStart + i]) !== path[i]) return false;
    }
    return true;
  }

  /** Writes the path to the slab as a name. False when the document's names take too much. */
  private writeName(): boolean {
    const { values, path, pathLength: length } = this;
    this.nameRoom -= length;
    const from = this.nameRoom < 0 ? this.shortenName() : 0;
    if (from < 0) return this.fail('JSON: names too long together');
    values.reserve(length - from);
    const slab = (this.slab = values.slab);
    const key = values.used;
    for (let i = from; i < length; i++) slab[key + i - from] = path[i]!;
    values.used = key + length - from;
    this.nameStart = key;
    this.nameEnd = values.used;
    return true;
  }

  /**
   * Past the bytes that names may take together, a name is only the new end of its path; the rest
   * was inspected with the names before. Returns where that begins; -1 where reading ends here.
   */
  private shortenName(): number {
    const { path, pathLength, lastPath } = this;
    failBody(this.tx, 'JSON: names too long together');
    reachLimit(this.tx, 'json-name-bytes');
    if (!this.lenient) return -1;
    const most = Math.min(pathLength, this.lastPathLength);
    let common = 0;
    while (common < most && path[common] === lastPath[common]) common++;
    for (let i = common; i < pathLength; i++) lastPath[i] = path[i]!;
    this.lastPathLength = pathLength;
    return common;
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
