/**
 * The output memory of a thread: pieces are written one after another into a slab and handed out
 * without a copy. Never reuses a byte that was handed out, so a socket may keep a piece as long as
 * it likes.
 */

import { frontLimits } from '../../base/delivery-limits.ts';

const CRLF = 0x0d0a;

/**
 * Writes one piece at a time. Cost: one slab allocation per `outputSlabBytes` of output, one view
 * object per piece.
 */
export class ByteWriter {
  private slab: Buffer = Buffer.allocUnsafeSlow(frontLimits.outputSlabBytes);
  private start = 0;
  private at = 0;

  /** Bytes in the open piece. */
  get length(): number {
    return this.at - this.start;
  }

  /** Makes sure that `bytes` more fit into the open piece. */
  reserve(bytes: number): void {
    if (this.at + bytes <= this.slab.length) return;
    const open = this.at - this.start;
    const size = Math.max(frontLimits.outputSlabBytes, open + bytes);
    const next = Buffer.allocUnsafeSlow(size);
    this.slab.copy(next, 0, this.start, this.at);
    this.slab = next;
    this.start = 0;
    this.at = open;
  }

  /** Appends ASCII or latin-1 text. */
  text(text: string): void {
    const length = text.length;
    this.reserve(length);
    if (length > 24) {
      this.at += this.slab.write(text, this.at, length, 'latin1');
      return;
    }
    for (let i = 0; i < length; i++) this.slab[this.at + i] = text.charCodeAt(i);
    this.at += length;
  }

  /** Appends bytes [start, end) of `source`. */
  bytes(source: Uint8Array, start: number, end: number): void {
    const length = end - start;
    this.reserve(length);
    const slab = this.slab;
    const at = this.at;
    if (length <= 48) {
      for (let i = 0; i < length; i++) slab[at + i] = source[start + i]!;
    } else {
      slab.set(start === 0 && end === source.length ? source : source.subarray(start, end), at);
    }
    this.at = at + length;
  }

  /** Appends a non-negative integer in decimal. */
  decimal(value: number): void {
    this.text(String(value));
  }

  /** Appends the line `size CRLF` that opens a chunk. */
  chunkSize(size: number): void {
    this.text(size.toString(16));
    this.crlf();
  }

  crlf(): void {
    this.reserve(2);
    this.slab.writeUInt16BE(CRLF, this.at);
    this.at += 2;
  }

  /** A copy of the open piece from an offset on. */
  copyFrom(offset: number): Buffer {
    return Buffer.from(this.slab.subarray(this.start + offset, this.at));
  }

  /** Closes the piece and hands it out. */
  take(): Buffer {
    const piece = this.slab.subarray(this.start, this.at);
    this.start = this.at;
    return piece;
  }

  /** Throws the open piece away. */
  discard(): void {
    this.at = this.start;
  }
}
