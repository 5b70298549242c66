/**
 * ClickHouse's RowBinary format: rows without names, numbers little endian, texts of any bytes
 * after their length. Pure. Source: ClickHouse documentation, "RowBinary".
 */

import { AppError } from '../../../base/errors.ts';

/** Writes rows into memory that grows. */
export class RowWriter {
  #buffer = Buffer.allocUnsafe(64 * 1024);
  #length = 0;

  uint8(value: number): void {
    const at = this.#grow(1);
    this.#buffer.writeUInt8(value, at);
  }

  uint16(value: number): void {
    const at = this.#grow(2);
    this.#buffer.writeUInt16LE(value, at);
  }

  uint32(value: number): void {
    const at = this.#grow(4);
    this.#buffer.writeUInt32LE(value, at);
  }

  uint64(value: bigint | number): void {
    const at = this.#grow(8);
    if (typeof value === 'bigint') {
      this.#buffer.writeBigUInt64LE(value, at);
      return;
    }
    this.#buffer.writeUInt32LE(value % 2 ** 32, at);
    this.#buffer.writeUInt32LE(Math.floor(value / 2 ** 32), at + 4);
  }

  text(value: string): void {
    const size = Buffer.byteLength(value);
    this.length(size);
    const at = this.#grow(size);
    this.#buffer.write(value, at, size);
  }

  bytes(value: Uint8Array): void {
    this.length(value.length);
    this.fixed(value);
  }

  /** Bytes of a column of fixed length. */
  fixed(value: Uint8Array): void {
    const at = this.#grow(value.length);
    this.#buffer.set(value, at);
  }

  /** The length of a text or list, seven bits a byte. */
  length(value: number): void {
    let rest = value;
    for (; rest > 0x7f; rest >>>= 7) this.uint8((rest & 0x7f) | 0x80);
    this.uint8(rest);
  }

  /** What was written, in memory of its own. */
  finish(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.#length));
  }

  /** Where the next bytes go. The buffer may be another one afterwards. */
  #grow(count: number): number {
    const at = this.#length;
    this.#length += count;
    if (this.#length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#length, this.#buffer.length * 2));
      this.#buffer.copy(larger, 0, 0, at);
      this.#buffer = larger;
    }
    return at;
  }
}

/** Reads rows. Errors: AppError events_unreadable where they end in the middle of a value. */
export class RowReader {
  readonly #buffer: Buffer;
  #at = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
  }

  get done(): boolean {
    return this.#at >= this.#buffer.length;
  }

  uint8(): number {
    return this.#buffer.readUInt8(this.#skip(1));
  }

  /** Numbers below 2^53. */
  uint64(): number {
    return Number(this.#buffer.readBigUInt64LE(this.#skip(8)));
  }

  text(): string {
    return this.bytes().toString('utf8');
  }

  bytes(): Buffer {
    const length = this.#length();
    const start = this.#skip(length);
    return this.#buffer.subarray(start, start + length);
  }

  #length(): number {
    let value = 0;
    for (let shift = 0; shift < 32; shift += 7) {
      const byte = this.uint8();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw cutOff();
  }

  #skip(count: number): number {
    const start = this.#at;
    if (start + count > this.#buffer.length) throw cutOff();
    this.#at = start + count;
    return start;
  }
}

function cutOff(): AppError {
  const message = 'an answer of ClickHouse ended in the middle of a row: ask again';
  return new AppError('events_unreadable', message, { source: 'storage', retryable: true });
}
