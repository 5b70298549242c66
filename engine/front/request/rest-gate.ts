/**
 * What follows the held part of a long body on its way to the origin: it waits until the window
 * that it is in was inspected. Never decides on a verdict.
 */

import { valueLimits } from '../../../base/rule-limits.ts';
import type { MaybePromise } from '../../contract/inspection.ts';
import { inspectionFailed, type PhaseResult } from '../../contract/inspection-failure.ts';
import type { InspectionFailure } from '../../contract/verdict.ts';

/** What inspects the windows. */
export interface RestInspection {
  /** Bytes that are still inspected. */
  readonly room: number;
  /** Bytes of the next window. */
  readonly pieceBytes: number;
  /** True where windows wait until they are full, and the last one until the body has ended. */
  readonly endsWhole: boolean;
  /** Bytes that follow the last window. */
  skip(bytes: number): void;
  /** `last`: nothing follows. */
  inspect(piece: Buffer, last: boolean): MaybePromise<PhaseResult>;
  /** Nothing more is inspected. */
  fail(reason: InspectionFailure): void;
}

/** Who decides on verdicts. */
export interface RestVerdicts {
  /** What came of a window; false where the request ends with it. */
  restDecided(result: PhaseResult): boolean;
}

/** Who carries out what the gate says. */
export interface RestOwner {
  /** Sends bytes to the origin; it copies them. */
  forward(bytes: Buffer): void;
  /** All was sent. */
  finished(): void;
  /** The gate keeps this number of bytes; false where that is more than its share. */
  holdsRest(bytes: number): boolean;
  /** The client may send on. */
  resumed(): void;
}

/** The rest of one body; see the header. */
export class RestGate {
  /** True while a window is inspected: nothing more is taken. */
  waiting = false;
  private readonly run: RestInspection;
  private readonly owner: RestOwner;
  private readonly verdicts: RestVerdicts;
  private pending: Buffer[] = [];
  private pendingBytes = 0;
  private last = false;
  private ended = false;
  /** Inspects what there is of a window whose end is late. */
  private timer: NodeJS.Timeout | null = null;

  constructor(run: RestInspection, owner: RestOwner, verdicts: RestVerdicts) {
    this.run = run;
    this.owner = owner;
    this.verdicts = verdicts;
  }

  /** Takes bytes [start, end), which may change after this call. */
  take(bytes: Buffer, start: number, end: number): void {
    if (this.ended || end === start) return;
    if (this.run.room === 0 && this.pendingBytes === 0 && !this.waiting) {
      this.run.skip(end - start);
      return this.owner.forward(bytes.subarray(start, end));
    }
    this.pending.push(Buffer.from(bytes.subarray(start, end)));
    this.pendingBytes += end - start;
    if (this.owner.holdsRest(this.pendingBytes)) return this.pump(false);
    this.run.fail('memory');
    if (this.verdicts.restDecided(inspectionFailed.memory)) this.pump(false);
    else this.drop();
  }

  /** Nothing follows. */
  end(): void {
    this.last = true;
    this.pump(false);
  }

  /** The request ended: nothing is kept. */
  drop(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.ended = true;
    this.pending = [];
    this.pendingBytes = 0;
  }

  /** `late`: a window is inspected although it is not full. */
  private pump(late: boolean): void {
    if (this.ended || this.waiting) return;
    const { run } = this;
    if (run.room === 0) this.pass();
    else if (this.last || late || this.isFull) {
      if (this.pendingBytes > 0) return this.inspect();
    } else if (this.pendingBytes > 0 && !run.endsWhole) {
      this.timer ??= setTimeout(() => this.flush(), valueLimits.restWaitMs);
    }
    if (!this.last || this.ended || this.pendingBytes > 0) return;
    this.drop();
    this.owner.finished();
  }

  private get isFull(): boolean {
    const { pieceBytes, endsWhole } = this.run;
    return this.pendingBytes >= pieceBytes + (endsWhole ? 1 : 0);
  }

  private flush(): void {
    this.timer = null;
    this.pump(true);
  }

  /** Past the last bound: bytes are counted and sent. */
  private pass(): void {
    this.run.skip(this.pendingBytes);
    const { pending } = this;
    this.pending = [];
    this.pendingBytes = 0;
    this.owner.holdsRest(0);
    for (const piece of pending) this.owner.forward(piece);
  }

  private inspect(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    const piece = this.nextPiece(Math.min(this.run.pieceBytes, this.run.room));
    const result = this.run.inspect(piece, this.last && this.pendingBytes === 0);
    this.waiting = true;
    if (result instanceof Promise) void result.then((settled) => this.resume(settled, piece));
    // Others of this thread have their turn between two windows.
    else if (this.settle(result, piece)) setImmediate(() => this.goOn());
  }

  private resume(result: PhaseResult, piece: Buffer): void {
    if (this.settle(result, piece)) this.goOn();
  }

  private goOn(): void {
    this.waiting = false;
    if (this.ended) return;
    this.pump(false);
    if (!this.waiting && !this.ended) this.owner.resumed();
  }

  /** False where the request ended. */
  private settle(result: PhaseResult, piece: Buffer): boolean {
    if (this.ended) return false;
    if (!this.verdicts.restDecided(result)) {
      this.drop();
      return false;
    }
    this.owner.holdsRest(this.pendingBytes);
    this.owner.forward(piece);
    return true;
  }

  private nextPiece(bytesMax: number): Buffer {
    const taken: Buffer[] = [];
    let bytes = 0;
    while (bytes < bytesMax && this.pending.length > 0) {
      const first = this.pending[0]!;
      const part = first.subarray(0, bytesMax - bytes);
      if (part.length === first.length) this.pending.shift();
      else this.pending[0] = first.subarray(part.length);
      bytes += part.length;
      taken.push(part);
    }
    this.pendingBytes -= bytes;
    return taken.length === 1 ? taken[0]! : Buffer.concat(taken, bytes);
  }
}
