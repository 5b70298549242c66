/**
 * The bytes of a body that waits: copied into slabs, so that a body that comes byte by byte costs
 * no more memory than one that comes at once, and one that comes at once is one piece.
 */

import { frontLimits } from '../../../base/delivery-limits.ts';

const { heldSlabBytes, heldAnnouncedBytesMax, heldFreeBytesMax } = frontLimits;
/** A slab is made as large as was announced once this share of it is there. */
const believedShare = 4;

/** Slabs of this thread that nobody uses, in bytes too: new memory would wait for a collection. */
const free = { slabs: [] as Buffer[], bytes: 0 };

/** The size of a slab with room for `length` bytes; large ones come in few sizes. */
function slabSize(length: number): number {
  return length < heldSlabBytes ? length : 2 ** Math.ceil(Math.log2(length));
}

function newSlab(size: number): Buffer {
  if (size < heldSlabBytes) return Buffer.allocUnsafe(size);
  const at = free.slabs.findIndex((slab) => slab.length === size);
  if (at < 0) return Buffer.allocUnsafeSlow(size);
  free.bytes -= size;
  return free.slabs.splice(at, 1)[0]!;
}

/** Bytes in order; what is added is copied. */
export class HeldBytes {
  private readonly announced: number;
  private pieces: Buffer[] = [];
  /** Slabs that serve again after `recycle`. */
  private used: Buffer[] = [];
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

  /**
   * Its first `bytesMin` bytes or more in one piece, all of it where there are fewer; it stays
   * held.
   * Cost: the pieces that are joined are copied.
   */
  join(bytesMin = Infinity): Buffer {
    this.closePiece();
    let count = 0;
    for (let bytes = 0; count < this.pieces.length && bytes < bytesMin; count++) {
      bytes += this.pieces[count]!.length;
    }
    if (count === 0) return Buffer.alloc(0);
    const first = this.pieces.splice(0, count);
    const joined = count === 1 ? first[0]! : Buffer.concat(first);
    this.pieces.unshift(joined);
    return joined;
  }

  /** All of it, in order; nothing is held any more. */
  take(): Buffer[] {
    this.closePiece();
    const { pieces } = this;
    this.pieces = [];
    this.slab = null;
    return pieces;
  }

  /** Nothing reads any more what was held: other bodies may lie there. */
  recycle(): void {
    this.take();
    for (const slab of this.used) {
      if (free.bytes + slab.length > heldFreeBytesMax) continue;
      free.slabs.push(slab);
      free.bytes += slab.length;
    }
    this.used = [];
  }

  /** Begins a slab with room for `length` bytes. */
  private open(length: number, last: boolean): void {
    this.closePiece();
    const all = slabSize(Math.max(length, this.announced));
    const likely = all <= heldSlabBytes || length * believedShare >= all;
    const believed = this.slab === null && this.announced > 0 && likely;
    const size = believed ? all : slabSize(last ? length : Math.max(length, heldSlabBytes));
    this.slab = newSlab(size);
    if (this.slab.length >= heldSlabBytes) this.used.push(this.slab);
    this.from = 0;
    this.at = 0;
  }

  private closePiece(): void {
    if (this.slab === null || this.at === this.from) return;
    this.pieces.push(this.slab.subarray(this.from, this.at));
    this.from = this.at;
  }
}
