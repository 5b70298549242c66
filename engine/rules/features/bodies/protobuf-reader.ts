/**
 * Reads messages of Protocol Buffers without their schema: each length-delimited field that is text
 * becomes an argument named by its path, each that has the form of a message is read as one, and a
 * field that is both is read both ways. Accepts what any decoder accepts. Never throws on its own.
 */

import { isUtf8 } from 'node:buffer';

import { valueLimits } from '../../../../base/rule-limits.ts';
import { reachLimit } from '../../transaction/inspection-limits.ts';
import type { Transaction } from '../../transaction/transaction.ts';
import { SOURCE } from '../../transaction/values.ts';
import { hasArgumentRoom, isPastArgumentLimit } from './arguments.ts';
import { addRawText } from './raw-text.ts';

/** Wire types. Source: Protocol Buffers, Encoding. */
const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const GROUP_START = 3;
const GROUP_END = 4;
const FIXED32 = 5;

const varintBytesMax = 10;
const root = 'grpc';

/** Shorter texts are left out past the limit of arguments. */
const shortTextBytes = 4;

/** 1 for control bytes that are no white space of a text. */
const controlByte = Uint8Array.from({ length: 256 }, (_, byte) => {
  const space = byte === 0x09 || byte === 0x0a || byte === 0x0d || byte === 0x0c;
  return (byte < 0x20 && !space) || byte === 0x7f ? 1 : 0;
});

/** One a thread; `begin`, then one `read` a message. */
export class ProtobufReader {
  private tx!: Transaction;
  private fieldsLeft = 0;
  private bytesLeft = 0;
  private nameBytesLeft = 0;
  private exhausted = false;
  /** Where names stand in the slab; offsets stay when it grows. */
  private readonly names = new Map<string, number>();
  /** What `field` and `varint` found last. */
  private number = 0;
  private wireType = 0;
  private from = 0;
  private to = 0;
  private result = 0;

  /** True once a limit ended the reading: what follows is not read as a message. */
  get spent(): boolean {
    return this.exhausted;
  }

  /** Begins with a request; its messages share the limits. */
  begin(tx: Transaction): void {
    this.tx = tx;
    this.exhausted = false;
    this.names.clear();
    this.fieldsLeft = valueLimits.grpcFieldsMax;
    this.bytesLeft = valueLimits.grpcTextsMin;
    this.nameBytesLeft = valueLimits.grpcNameBytesMax;
  }

  /**
   * Reads the message in [start, end) of the slab, of which the end is missing when `cut`. Returns
   * where it stopped: `end`, or the offset of the field that is none or came after a limit. Cost:
   * two passes over the fields; texts that are messages too are copied.
   */
  read(start: number, end: number, cut: boolean): number {
    this.bytesLeft += valueLimits.grpcTextsPerByte * (end - start);
    return this.message(start, end, cut, root, 0);
  }

  private message(start: number, end: number, cut: boolean, path: string, depth: number): number {
    const outer: string[] = [];
    let name = path;
    for (let at = start; at < end;) {
      const next = this.field(at, end, cut);
      if (next < 0 || !this.takeField()) return at;
      const { number, wireType, from, to } = this;
      if (wireType === BYTES) {
        const inner = depth + outer.length + 1;
        if (!this.bytes(from, to, cut && to === end, `${name}.${number}`, inner)) return at;
      } else if (wireType === GROUP_START) {
        if (depth + outer.length >= valueLimits.grpcDepthMax) return this.stopAtDepth(at);
        outer.push(name);
        name = `${name}.${number}`;
      } else if (wireType === GROUP_END) {
        const before = outer.pop();
        if (before === undefined) return at;
        name = before;
      }
      at = next;
    }
    return end;
  }

  private stopAtDepth(at: number): number {
    reachLimit(this.tx, 'grpc-depth');
    this.exhausted = true;
    return at;
  }

  private takeField(): boolean {
    if (this.fieldsLeft-- > 0) return true;
    reachLimit(this.tx, 'grpc-fields');
    this.exhausted = true;
    return false;
  }

  /** One length-delimited field; false once a limit ended the reading. */
  private bytes(from: number, to: number, cut: boolean, path: string, depth: number): boolean {
    const nests = to > from && this.isMessage(from, to, cut);
    const isText = isUtf8(this.tx.values.slab.subarray(from, to));
    if (isText && !this.text(from, to, path, nests)) return false;
    if (!nests) {
      if (!isText) this.raw(from, to);
      return true;
    }
    if (depth > valueLimits.grpcDepthMax) {
      reachLimit(this.tx, 'grpc-depth');
      this.raw(from, to);
      return true;
    }
    this.message(from, to, cut, path, depth);
    return !this.exhausted;
  }

  private text(from: number, to: number, path: string, nests: boolean): boolean {
    const { tx } = this;
    if (!hasArgumentRoom(tx)) {
      this.exhausted = true;
      return false;
    }
    if (to - from < shortTextBytes && isPastArgumentLimit(tx)) return true;
    let at = from;
    if (nests) {
      this.bytesLeft -= to - from;
      if (this.bytesLeft < 0) {
        reachLimit(tx, 'grpc-bytes');
        return true;
      }
      at = this.spaced(from, to);
    }
    const name = this.withinNames(path);
    let key = this.names.get(name);
    if (key === undefined) {
      key = tx.values.appendText(name);
      this.names.set(name, key);
    }
    tx.values.add(SOURCE.argPost, key, key + name.length, at, at + to - from);
    return true;
  }

  /** Names must not multiply a body: past their limit they have no path. */
  private withinNames(path: string): string {
    this.nameBytesLeft -= path.length;
    if (this.nameBytesLeft >= 0) return path;
    reachLimit(this.tx, 'grpc-bytes');
    return root;
  }

  /**
   * Text that is also a message, with spaces for control bytes: those of messages, which numbers
   * and lengths are full of, are no violation of what texts may hold.
   */
  private spaced(from: number, to: number): number {
    const { values } = this.tx;
    let at = from;
    while (at < to && controlByte[values.slab[at]!] === 0) at++;
    if (at === to) return from;
    values.reserve(to - from);
    const { slab } = values;
    const copy = values.used;
    for (let i = from, out = copy; i < to; i++, out++) {
      slab[out] = controlByte[slab[i]!] === 1 ? 0x20 : slab[i]!;
    }
    values.used = copy + to - from;
    return copy;
  }

  private raw(from: number, to: number): void {
    if (this.tx.settings.inspectsUnparsed) addRawText(this.tx, SOURCE.argPost, from, to);
  }

  /** True when all of [from, to) are fields; looks at none of what they hold. */
  private isMessage(from: number, to: number, cut: boolean): boolean {
    let open = 0;
    for (let at = from; at < to;) {
      at = this.field(at, to, cut);
      if (at < 0) return false;
      if (this.wireType === GROUP_START) open++;
      else if (this.wireType === GROUP_END && --open < 0) return false;
    }
    return true;
  }

  /** Reads one field's tag and finds its content; returns where the next begins, -1 for none. */
  private field(start: number, end: number, cut: boolean): number {
    let at = this.varint(start, end, cut);
    if (at < 0) return -1;
    this.number = this.result >>> 3;
    this.wireType = this.result & 7;
    if (this.number === 0) return -1;
    if (this.wireType === BYTES) {
      at = this.varint(at, end, cut);
      if (at < 0) return -1;
      this.from = at;
      at += this.result;
    } else if (this.wireType === VARINT) at = this.varint(at, end, cut);
    else if (this.wireType === FIXED64) at += 8;
    else if (this.wireType === FIXED32) at += 4;
    else if (this.wireType > FIXED32) return -1;
    if (at > end) {
      if (!cut) return -1;
      at = end;
    }
    this.to = at;
    return at;
  }

  /** Leaves the low 32 bits in `result`, as decoders do of tags and lengths; -1 for none. */
  private varint(start: number, end: number, cut: boolean): number {
    const { slab } = this.tx.values;
    this.result = 0;
    const last = Math.min(end, start + varintBytesMax);
    for (let at = start, shift = 0; at < last; at++, shift += 7) {
      const byte = slab[at]!;
      if (shift < 32) this.result = (this.result | ((byte & 0x7f) << shift)) >>> 0;
      if (byte < 0x80) return at + 1;
    }
    return cut && last === end ? end : -1;
  }
}
