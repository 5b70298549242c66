/**
 * Makes of a long gRPC body, piece by piece, bodies of gRPC of their own: each begins with the
 * heads of the message and of the fields in which its first byte stands. The GRPC processor thus
 * reads the fields of a piece by their names, and a text that continues as the text that it is.
 * Follows only what a decoder could read; which fields are texts is left to the processor.
 */

import { valueLimits } from '../../../../base/rule-limits.ts';

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;

const prefixBytes = 5;
const COMPRESSED = 1;
/** Flags that no message has: the processor reads the rest as text. */
const LOST = 0xff;
const lengthMax = 0xffff_ffff;
const varintBytesMax = 10;
/** With fewer bytes of a field at the end of a piece, the next piece decides what the field is. */
const peekBytes = 64;

/** A message or a field that is open where a window begins. */
interface Level {
  /** The flags of a message, or the tag of a field. */
  readonly tag: number;
  /** Offsets of its content in the bytes that are looked at. */
  readonly from: number;
  readonly end: number;
  /** Its content is not read as fields. */
  readonly leaf: boolean;
}

/** One field as it stands, or why there is none. */
type Field =
  | { readonly kind: 'field'; readonly next: number }
  | { readonly kind: 'bytes'; readonly tag: number; readonly from: number; readonly next: number }
  | { readonly kind: 'cut' }
  | { readonly kind: 'none' };

/** The windows of one body; see the header. Cost: a step a field, and one copy of all bytes. */
export class GrpcWindows {
  private readonly isText: boolean;
  /** Characters of base64 that are no whole group yet. */
  private group = '';
  private levels: Level[] = [];
  /** Bytes that the next window begins with. */
  private carried: Buffer = Buffer.alloc(0);

  /** `held`: the beginning of the body; `isText`: the body is written in base64. */
  constructor(held: Buffer, isText: boolean) {
    this.isText = isText;
    this.follow(this.decoded(held));
  }

  /** The next piece as a body, of which the end is missing. */
  push(piece: Buffer): Buffer {
    const window = Buffer.concat([this.carried, this.decoded(piece)]);
    const body = Buffer.concat([headsOf(this.levels), window]);
    this.follow(window);
    return this.isText ? Buffer.from(body.toString('base64')) : body;
  }

  private decoded(piece: Buffer): Buffer {
    if (!this.isText) return piece;
    const text = this.group + piece.toString('latin1');
    this.group = '';
    // Pieces may be encoded apart, each with padding of its own.
    const runs = text.match(/[^=]+=*/g) ?? [];
    const last = runs.at(-1) ?? '';
    if (!last.endsWith('=') && last.length % 4 > 0) {
      const whole = last.length - (last.length % 4);
      this.group = last.slice(whole);
      runs[runs.length - 1] = last.slice(0, whole);
    }
    return Buffer.concat(runs.map((run) => Buffer.from(run, 'base64')));
  }

  /** Reads on to the end of `bytes`, which begin within the open levels. */
  private follow(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      while (this.levels.length > 0 && this.levels.at(-1)!.end <= at) this.levels.pop();
      const level = this.levels.at(-1);
      if (level === undefined) at = this.message(bytes, at);
      else if (level.leaf) at = Math.min(level.end, bytes.length);
      else at = this.field(bytes, at, level);
      if (at < 0) return this.carry(bytes, -at - 1);
    }
    while (this.levels.length > 0 && this.levels.at(-1)!.end <= at) this.levels.pop();
    const last = this.levels.at(-1);
    const start = last?.leaf === true ? overlapStart(bytes, last.from) : bytes.length;
    this.carry(bytes, start);
  }

  /** Where the content of the next message begins; `~at` where its head is not whole. */
  private message(bytes: Buffer, at: number): number {
    const from = at + prefixBytes;
    if (from > bytes.length) return ~at;
    const flags = bytes[at]!;
    const length = bytes.readUInt32BE(at + 1);
    const packed = flags === COMPRESSED;
    // Packed messages are read whole or not at all.
    if (packed && from + length > bytes.length && length <= valueLimits.restWindowBytes) return ~at;
    const tag = flags > COMPRESSED ? LOST : flags;
    const end = tag === LOST ? Infinity : from + length;
    this.levels.push({ tag, from, end, leaf: packed || tag === LOST });
    return from;
  }

  /** Where the next field begins, or the content of one that is open at the end; `~at`: cut. */
  private field(bytes: Buffer, at: number, level: Level): number {
    const found = readField(bytes, at, level.end);
    if (found.kind === 'cut') return ~at;
    if (found.kind === 'none') {
      this.levels[this.levels.length - 1] = { ...level, leaf: true };
      return at;
    }
    const { next } = found;
    if (found.kind === 'field' || next <= bytes.length) return next;
    const { from, tag } = found;
    if (bytes.length - from < peekBytes) return ~at;
    const deep = this.levels.length > valueLimits.grpcDepthMax;
    this.levels.push({ tag, from, end: next, leaf: deep || !isMessage(bytes, from, next) });
    return from;
  }

  /** The next window begins at `start`. */
  private carry(bytes: Buffer, start: number): void {
    this.carried = Buffer.from(bytes.subarray(start));
    this.levels = this.levels.map((level) => {
      return { ...level, from: level.from - start, end: level.end - start };
    });
  }
}

/** The heads of open levels, from the outermost, for content that begins after them. */
function headsOf(levels: readonly Level[]): Buffer {
  let heads = Buffer.alloc(0);
  for (let i = levels.length - 1; i >= 0; i--) {
    const { tag, end } = levels[i]!;
    const length = Math.min(lengthMax, end + heads.length);
    heads = Buffer.concat([i === 0 ? messageHead(tag, length) : fieldHead(tag, length), heads]);
  }
  return heads;
}

function messageHead(flags: number, length: number): Buffer {
  const head = Buffer.alloc(prefixBytes);
  head[0] = flags;
  head.writeUInt32BE(length, 1);
  return head;
}

const fieldHead = (tag: number, length: number): Buffer =>
  Buffer.from([...varintBytes(tag), ...varintBytes(length)]);

function varintBytes(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  bytes.push(rest);
  return bytes;
}

/** All fields up to the end of the bytes, of which the last may be cut. */
function isMessage(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < bytes.length;) {
    const found = readField(bytes, at, end);
    if (found.kind === 'none') return false;
    if (found.kind === 'cut') return true;
    at = found.next;
  }
  return true;
}

/** The field at `at` of what ends at `end`, which may be after the bytes. */
function readField(bytes: Buffer, at: number, end: number): Field {
  const tag = readVarint(bytes, at, end);
  if (tag === null) return { kind: isCut(bytes, at, end) ? 'cut' : 'none' };
  const wireType = tag.value & 7;
  if (tag.value >>> 3 === 0 || wireType > FIXED32) return { kind: 'none' };
  let next = tag.next;
  if (wireType === VARINT || wireType === BYTES) {
    const read = readVarint(bytes, next, end);
    if (read === null) return { kind: isCut(bytes, next, end) ? 'cut' : 'none' };
    next = read.next;
    if (wireType === BYTES) {
      const stop = next + read.value;
      return stop > end
        ? { kind: 'none' }
        : { kind: 'bytes', tag: tag.value, from: next, next: stop };
    }
  } else if (wireType === FIXED64) next += 8;
  else if (wireType === FIXED32) next += 4;
  if (next > end) return { kind: 'none' };
  return next > bytes.length ? { kind: 'cut' } : { kind: 'field', next };
}

/** Whether the bytes, and not what they are a part of, end within a varint at `at`. */
function isCut(bytes: Buffer, at: number, end: number): boolean {
  return bytes.length < end && bytes.length - at < varintBytesMax;
}

/** The low 32 bits, as decoders take them; null for none. */
function readVarint(
  bytes: Buffer,
  start: number,
  end: number,
): { readonly value: number; readonly next: number } | null {
  const last = Math.min(bytes.length, end, start + varintBytesMax);
  let value = 0;
  for (let at = start, shift = 0; at < last; at++, shift += 7) {
    const byte = bytes[at]!;
    if (shift < 32) value = (value | ((byte & 0x7f) << shift)) >>> 0;
    if (byte < 0x80) return { value, next: at + 1 };
  }
  return null;
}

/** Where the end of a text begins that two windows have, not within a character of UTF-8. */
function overlapStart(bytes: Buffer, from: number): number {
  let start = Math.max(0, from, bytes.length - valueLimits.restOverlapBytes);
  for (let i = 0; i < 3 && start < bytes.length && (bytes[start]! & 0xc0) === 0x80; i++) start++;
  return start;
}
