/**
 * The requests of one HTTP/2 connection that were answered before they ended. RFC 9113 section 8.1
 * lets a server reset them at once, yet clients that still send drop the answer then: what comes of
 * them is read away first, for a while and up to a size.
 */

import { http2Limits } from '../../../base/delivery-limits.ts';
import type { DeadlineHolder, Deadlines } from '../../base/deadlines.ts';

interface Remainder {
  readonly untilMs: number;
  bytes: number;
}

/** Remainders of one connection; see the header. At most as many as it may have streams. */
export class Http2Remainders implements DeadlineHolder {
  deadlineMs = Infinity;
  deadlinePlace = -1;
  private readonly deadlines: Deadlines;
  private readonly giveUp: (stream: number) => void;
  /** By stream, the one that is given up first in front. */
  private readonly open = new Map<number, Remainder>();

  /** `giveUp` resets a stream. */
  constructor(deadlines: Deadlines, giveUp: (stream: number) => void) {
    this.deadlines = deadlines;
    this.giveUp = giveUp;
  }

  /** The answer is sent whole, the request is not complete. */
  begin(stream: number): void {
    if (this.open.size === 0) this.deadlines.add(this);
    const untilMs = this.deadlines.nowMs + http2Limits.remainderMs;
    this.open.set(stream, { untilMs, bytes: http2Limits.remainderBytesMax });
    this.next();
  }

  /** Content of a stream came. */
  received(stream: number, bytes: number): void {
    const remainder = this.open.get(stream);
    if (remainder === undefined) return;
    remainder.bytes -= bytes;
    if (remainder.bytes >= 0) return;
    this.end(stream);
    this.giveUp(stream);
  }

  /** The stream is gone. */
  end(stream: number): void {
    if (this.open.delete(stream)) this.next();
  }

  onDeadline(nowMs: number): void {
    for (const [stream, { untilMs }] of this.open) {
      if (untilMs > nowMs) break;
      this.open.delete(stream);
      this.giveUp(stream);
    }
    this.next();
  }

  /** The connection is gone. */
  close(): void {
    this.open.clear();
    this.next();
  }

  private next(): void {
    const [first] = this.open.values();
    this.deadlineMs = first?.untilMs ?? Infinity;
    if (first === undefined) this.deadlines.remove(this);
  }
}
