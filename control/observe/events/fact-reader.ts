/**
 * Reads protobuf fields of a fact where they lie, without a view of each: the index needs a few
 * fields of many facts. Never reads past the end it was given. Pure.
 */

/** Kinds of values on the wire. Source: the protobuf encoding manual. */
export const wire = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

const decoder = new TextDecoder();
const { latin1Slice } = Buffer.prototype;
const highBit = 0x80;

/** A place in a message; one reader can go over many messages. */
export class FactReader {
  bytes: Uint8Array = new Uint8Array();
  /** The next byte to read, and the end of the message. */
  at = 0;
  end = 0;
  /** Field and kind of the value that `next` came to. */
  field = 0;
  type = 0;
  /** The span of the bytes that `span` came over. */
  from = 0;
  to = 0;

  /** Begins with a message: a part of `bytes`. */
  open(bytes: Uint8Array, from = 0, to = bytes.length): this {
    this.bytes = bytes;
    this.at = from;
    this.end = to;
    return this;
  }

  /** Goes to the next field; false at the end. Errors: RangeError where the message is damaged. */
  next(): boolean {
    if (this.at >= this.end) return false;
    const tag = this.varint();
    this.field = Math.floor(tag / 8);
    this.type = tag & 7;
    if (this.field === 0 || tag > 0xffffffff) throw damaged();
    return true;
  }

  /** A number without sign; beyond 53 bits it is not exact. Errors: as `next`. */
  varint(): number {
    const { bytes, end } = this;
    let value = 0;
    let factor = 1;
    for (let count = 0; count < 10; count++) {
      if (this.at >= end) throw damaged();
      const byte = bytes[this.at++]!;
      value += (byte & 0x7f) * factor;
      if (byte < highBit) return value;
      factor *= 128;
    }
    throw damaged();
  }

  /** The span of a value of the kind `bytes`, as `from` and `to`. Errors: as `next`. */
  span(): void {
    const length = this.varint();
    this.from = this.at;
    this.to = this.at + length;
    if (this.to > this.end) throw damaged();
    this.at = this.to;
  }

  /** Passes over the value of the field. Errors: as `next`, also for groups, which facts lack. */
  skip(): void {
    if (this.type === wire.varint) this.varint();
    else if (this.type === wire.bytes) this.span();
    else if (this.type === wire.fixed64) this.at += 8;
    else if (this.type === wire.fixed32) this.at += 4;
    else throw damaged();
    if (this.at > this.end) throw damaged();
  }
}

/** UTF-8 as a TextDecoder reads it, which takes a mark of byte order away. */
export function textOfBytes(bytes: Uint8Array, from: number, to: number): string {
  for (let at = from; at < to; at++) {
    if (bytes[at]! >= highBit) return decoder.decode(bytes.subarray(from, to));
  }
  return latin1Slice.call(bytes, from, to);
}

function damaged(): RangeError {
  return new RangeError('a fact ends in the middle of a field');
}
