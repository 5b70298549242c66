/**
 * Owns the bytes of a body that waits: large pieces as they came, small ones gathered, so that a
 * body that comes byte by byte costs no more memory than one that comes at once.
 */

import { frontLimits } from '../base/limits.ts';

const { heldSlabBytes, heldPieceCopiedMax } = frontLimits;

/** Bytes in order; whoever adds a piece leaves its memory alone. */
export class HeldBytes {
  private pieces: Buffer[] = [];
  private slab: Buffer | null = null;
  /** What the slab holds and is not among the pieces yet is [from, at). */
  private from = 0;
  private at = 0;

  /** Keeps bytes [start, end). `last` says that nothing follows, so that nothing is gathered. */
  add(bytes: Buffer, start: number, end: number, last: boolean): void {
    const length = end - start;
    if (length <= 0) return;
    if (length > heldPieceCopiedMax || (last && this.slab === null)) {
      this.closePiece();
      this.pieces.push(bytes.subarray(start, end));
      return;
    }
    if (this.slab === null || this.at + length > this.slab.length) {
      this.closePiece();
      this.slab = Buffer.allocUnsafeSlow(heldSlabBytes);
      this.from = 0;
      this.at = 0;
    }
    bytes.copy(this.slab, this.at, start, end);
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

  private closePiece(): void {
    if (this.slab === null || this.at === this.from) return;
    this.pieces.push(this.slab.subarray(this.from, this.at));
    this.from = this.at;
  }
}
