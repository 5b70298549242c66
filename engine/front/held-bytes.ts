/**
 * Owns the bytes of a body that waits: copied into slabs, so that a body that comes byte by byte
 * costs no more memory than one that comes at once, and one that comes at once is one piece.
 */

import { frontLimits } from '../base/limits.ts';

const { heldSlabBytes, heldAnnouncedBytesMax } = frontLimits;
/** A slab is made as large as was announced once this share of it is there. */
const believedShare = 4;

/** Bytes in order; what is added is copied. */
export class HeldBytes {
  private readonly announced: number;
  private pieces: Buffer[] = [];
  private slab: Buffer | null = null;
  /** What the slab holds and is not among the pieces yet is [from, at). */
  private from = 0;
  private at = 0;

  /** `announced`: bytes that are said to come in all; 0 when nobody knows. */
  constructor(announced = 0) {
    this.announced = Math.min(announced, heldAnnouncedBytesMax);
  }

  /** Keeps bytes [start, end). `last` says that nothing follows. */
  add(bytes: Buffer, start: number, end: number, last: boolean): void {
    const length = end - start;
    if (length <= 0) return;
    if (this.slab === null || this.at + length > this.slab.length) this.open(length, last);
    bytes.copy(this.slab!, this.at, start, end);
    this.at += length;
  }

  /** All of it in one piece; it stays held. */
  join(): Buffer {
    this.closePiece();
    const whole = this.pieces.length === 1 ? this.pieces[0]! : Buffer.concat(this.pieces);
    this.pieces = whole.length > 0 ? [whole] : [];
    return whole;
  }

  /** All of it, in order; nothing is held any more. */
  take(): Buffer[] {
    this.closePiece();
    const { pieces } = this;
    this.pieces = [];
    this.slab = null;
    return pieces;
  }

  /** Begins a slab with room for `length` bytes. */
  private open(length: number, last: boolean): void {
    this.closePiece();
    let size = last ? length : Math.max(length, heldSlabBytes);
    if (this.slab === null && length * believedShare >= this.announced && this.announced > 0) {
      size = Math.max(length, this.announced);
    }
    this.slab = Buffer.allocUnsafe(size);
    this.from = 0;
    this.at = 0;
  }

  private closePiece(): void {
    if (this.slab === null || this.at === this.from) return;
    this.pieces.push(this.slab.subarray(this.from, this.at));
    this.from = this.at;
  }
}
