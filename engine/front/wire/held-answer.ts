/**
 * An inspected answer that waits for its verdict, or for a slow client: its head as the client gets
 * it, and content that counts into the thread's budget until it is taken.
 */

import type { Holder } from './held-budget.ts';

const crlf = Buffer.from('\r\n');

/** Parts of a chunk that is paid out. */
const CHUNK = { SIZE: 0, DATA: 1, END: 2 } as const;

/** See the header. */
export class HeldAnswer {
  /** Content bytes held back. */
  bytes = 0;
  /** Content bytes that `next` gave. */
  paidBytes = 0;
  private readonly holder: Holder;
  private head: Buffer | null;
  private pieces: Buffer[] = [];
  /** Offset of the unsent rest of the first piece. */
  private paidOut = 0;
  /** The part of the current chunk that comes next. */
  private part: number = CHUNK.SIZE;

  constructor(head: Buffer, holder: Holder) {
    this.head = head;
    this.holder = holder;
  }

  /** Keeps a copy; false when that is more than the budget has room for. */
  add(bytes: Uint8Array, start: number, end: number): boolean {
    const all = this.bytes + end - start;
    if (!this.holder.hold(all)) return false;
    this.pieces.push(Buffer.from(bytes.subarray(start, end)));
    this.bytes = all;
    return true;
  }

  /** All content, in one piece; it stays held. */
  join(): Buffer {
    const whole = this.pieces.length === 1 ? this.pieces[0]! : Buffer.concat(this.pieces);
    this.pieces = whole.length > 0 ? [whole] : [];
    return whole;
  }

  /** The head, to be sent before what is held; null once it was taken. */
  takeHead(): Buffer | null {
    const { head } = this;
    this.head = null;
    return head;
  }

  /** The next content without framing; null when all was taken. */
  takeContent(): Buffer | null {
    return this.pieces.shift() ?? null;
  }

  /**
   * The next piece to be sent, on the wire as it is; null when all was sent. Content is not copied:
   * output memory that a slow client keeps would keep that of others.
   */
  next(bytesMax: number, chunked: boolean): Buffer | null {
    if (this.head !== null) return this.takeHead();
    if (this.part === CHUNK.END) {
      this.part = CHUNK.SIZE;
      return crlf;
    }
    const first = this.pieces[0];
    if (first === undefined) return null;
    const length = Math.min(bytesMax, first.length - this.paidOut);
    if (chunked && this.part === CHUNK.SIZE) {
      this.part = CHUNK.DATA;
      return Buffer.from(`${length.toString(16)}\r\n`);
    }
    this.part = chunked ? CHUNK.END : CHUNK.SIZE;
    const piece = first.subarray(this.paidOut, this.paidOut + length);
    this.paidOut += length;
    this.paidBytes += length;
    if (this.paidOut === first.length) {
      this.pieces.shift();
      this.paidOut = 0;
    }
    return piece;
  }

  /** Nothing of it is held any more. */
  drop(): void {
    this.head = null;
    this.pieces = [];
    this.holder.hold(0);
  }
}
