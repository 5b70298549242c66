/**
 * Writes fields of a protobuf message one after another into one buffer that is used again. For
 * messages of every request: the library makes an object and an array for each of their fields.
 * Fields at their default are left out, as proto3 has it. Source: protobuf.dev, "Encoding".
 */

const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const firstBytes = 16 * 1024;
/** A buffer that one long message made larger is not kept. */
const keptBytesMax = 256 * 1024;
const varintBytesMax = 10;
/** Tag and length. */
const frontBytesMax = 2 * varintBytesMax;
/** Shorter strings are written here; a call into native code costs more. */
const shortText = 24;

/** Writes one message at a time. */
export class FlatWriter {
  private buffer = Buffer.allocUnsafeSlow(firstBytes);
  private at = 0;

  /** A copy of what was written; the next message begins. */
  take(): Uint8Array<ArrayBuffer> {
    const bytes = new Uint8Array(this.buffer.subarray(0, this.at));
    this.at = 0;
    if (this.buffer.length > keptBytesMax) this.buffer = Buffer.allocUnsafeSlow(firstBytes);
    return bytes;
  }

  /** A field of type `string`. */
  text(field: number, value: string): void {
    if (value !== '') this.textAlways(field, value);
  }

  /** An element of a repeated field of type `string`. */
  textAlways(field: number, value: string): void {
    const { length } = value;
    this.reserve(frontBytesMax + length * 3);
    if (length <= shortText && isAscii(value)) return this.short(field, value);
    const bytes = Buffer.byteLength(value);
    this.front(field, bytes);
    this.at += this.buffer.write(value, this.at, bytes, 'utf8');
  }

  /** A field of type `bytes`, from a byte string. */
  byteString(field: number, value: string): void {
    const { length } = value;
    if (length === 0) return;
    this.reserve(frontBytesMax + length);
    if (length <= shortText) return this.short(field, value);
    this.front(field, length);
    this.at += this.buffer.write(value, this.at, length, 'latin1');
  }

  /** A field of type `bytes`, or an embedded message that is encoded already. */
  bytes(field: number, value: Uint8Array): void {
    this.reserve(frontBytesMax + value.length);
    this.front(field, value.length);
    this.buffer.set(value, this.at);
    this.at += value.length;
  }

  /** A field of an integer type without zigzag; up to 2^53, and negative ones of 32 bits. */
  integer(field: number, value: number): void {
    if (value === 0) return;
    this.reserve(2 * varintBytesMax);
    this.varint(field * 8 + VARINT);
    if (value > 0) this.varint(value);
    else this.negative(value);
  }

  /** A field of type `bool`. */
  flag(field: number, value: boolean): void {
    if (value) this.integer(field, 1);
  }

  /** A field of type `fixed64`, up to 2^53. */
  fixed64(field: number, value: number): void {
    if (value === 0) return;
    this.reserve(varintBytesMax + 8);
    this.varint(field * 8 + FIXED64);
    this.buffer.writeUInt32LE(value % 2 ** 32, this.at);
    this.buffer.writeUInt32LE(Math.floor(value / 2 ** 32), this.at + 4);
    this.at += 8;
  }

  private front(field: number, length: number): void {
    this.varint(field * 8 + LENGTH);
    this.varint(length);
  }

  private short(field: number, value: string): void {
    this.front(field, value.length);
    const { buffer } = this;
    for (let index = 0; index < value.length; index++) buffer[this.at++] = value.charCodeAt(index);
  }

  private varint(value: number): void {
    const { buffer } = this;
    let rest = value;
    while (rest >= 2 ** 31) {
      buffer[this.at++] = (rest % 128) + 128;
      rest = Math.floor(rest / 128);
    }
    while (rest > 127) {
      buffer[this.at++] = (rest & 127) | 128;
      rest >>>= 7;
    }
    buffer[this.at++] = rest;
  }

  /** Ten bytes: sign-extended to 64 bits. */
  private negative(value: number): void {
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 127n; rest >>= 7n) this.buffer[this.at++] = Number(rest & 127n) | 128;
    this.buffer[this.at++] = Number(rest);
  }

  private reserve(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.at + bytes, this.buffer.length * 2));
    this.buffer.copy(larger, 0, 0, this.at);
    this.buffer = larger;
  }
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false;
  return true;
}
