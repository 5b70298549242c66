/**
 * Which frames of a client reach the origin: those of a message wait until it was inspected, longer
 * ones piece by piece, control frames pass when they are well-formed. Text and binary messages are
 * treated alike, as servers do. Never decides on a message.
 */

import { websocketLimits } from '../../../base/delivery-limits.ts';
import { Utf8Reader } from '../../base/utf8-reader.ts';
import type { MaybePromise } from '../../contract/inspection.ts';
import {
  CLOSE_CODE,
  closingFault,
  controlBytesMax,
  FRAME,
  FRAME_FAULT,
  FrameReader,
  OPCODE,
  type FrameFault,
} from '../../http/websocket-frames.ts';
import { HeldBytes } from '../wire/held-bytes.ts';

/** Who carries out what the gate says. */
export interface GateOwner {
  /** False where the inspection has to wait for its turn; `proceed` of the gate follows. */
  takesMessage(bytes: number): boolean;
  /** The same for frames that end no message. */
  takesFrame(): boolean;
  /** Inspects a piece of a message; null where it may pass. `whole`: that is all of it. */
  inspect(piece: Buffer, whole: boolean): MaybePromise<FrameFault | null>;
  /** Sends bytes to the origin; they stay as they are. */
  forward(bytes: Buffer): void;
  /** The gate keeps this number of bytes; false where that is more than its share. */
  hold(bytes: number): boolean;
  /** Nothing more of the client is taken. */
  fail(fault: FrameFault): void;
  /** What was waited for is over. */
  resumed(): void;
}

/** A message whose frames are too many to wait for its inspection. */
const fragments: FrameFault = { code: CLOSE_CODE.TOO_LARGE, reason: 'websocket_fragments' };
const noRoom: FrameFault = { code: CLOSE_CODE.INTERNAL, reason: 'memory' };

/** Payload without its mask; used synchronously. */
const scratch = Buffer.allocUnsafeSlow(websocketLimits.stepBytes);
const noBytes = Buffer.alloc(0);

/** The frames of one client; see the header. */
export class WebsocketGate {
  /** True while an inspection runs, or something waits for its turn: nothing more is taken. */
  waiting = false;
  /** What waits for its turn is an inspection. */
  private due = false;
  private readonly owner: GateOwner;
  private readonly reader = new FrameReader(true);
  private ended = false;
  /** What may go to the origin. */
  private out: Buffer[] = [];
  /** Frames of the current piece that wait, and what is inspected of them, unmasked. */
  private held = new HeldBytes();
  private heldBytes = 0;
  private heldHeadBytes = 0;
  private text = new HeldBytes();
  private textBytes = 0;
  /** Bytes at the beginning of `text` that the piece before had, too. */
  private repeatedBytes = 0;
  /** A piece of the current message was inspected before. */
  private continued = false;
  private utf8 = new Utf8Reader();
  /** What came after the piece that is waited for; its own memory. */
  private rest: Buffer = noBytes;
  /** The current control frame, and its payload. */
  private control: Buffer[] = [];
  private controlText: Buffer | null = null;
  private controlBytes = 0;

  constructor(owner: GateOwner) {
    this.owner = owner;
  }

  /** Takes bytes [start, end) of the client, which may change after this call. */
  take(bytes: Buffer, start: number, end: number): void {
    const { reader } = this;
    let at = start;
    while (!this.ended && !this.waiting) {
      const found = reader.next(bytes, at, this.stepEnd(at, end));
      at = reader.at;
      if (found === FRAME.MORE && at === end) break;
      const fault = this.onFound(found, bytes);
      if (fault !== null) this.fail(fault);
      else if (this.isDue(found)) this.inspect(bytes, at, end);
      else if (found === FRAME.END && !this.owner.takesFrame()) this.wait(bytes, at, end);
    }
    this.flush();
  }

  /** The turn of a piece has come, or of frames, that had to wait for it. */
  proceed(): void {
    if (this.ended) return;
    this.waiting = false;
    const { rest, due } = this;
    this.due = false;
    if (due) this.decide(rest, 0, rest.length);
    if (!this.waiting) this.takeRest();
  }

  /** The WebSocket ended: nothing is kept. */
  drop(): void {
    this.ended = true;
    this.out = [];
    this.rest = noBytes;
    this.held = new HeldBytes();
    this.text = new HeldBytes();
    this.owner.hold(0);
  }

  /** Payload is read up to the end of what is inspected together, in steps. */
  private stepEnd(at: number, end: number): number {
    if (this.reader.betweenFrames) return end;
    const { pieceBytesMax, stepBytes } = websocketLimits;
    return Math.min(end, at + stepBytes, at + pieceBytesMax - this.textBytes);
  }

  private onFound(found: number, bytes: Buffer): FrameFault | null {
    if (found === FRAME.FAULT) return this.reader.fault;
    if (found === FRAME.HEAD) return this.onHead();
    if (found === FRAME.PAYLOAD) return this.onPayload(bytes);
    return found === FRAME.END ? this.onEnd() : null;
  }

  private onHead(): FrameFault | null {
    const { reader } = this;
    const head = reader.headBytes;
    if (reader.isControl) {
      this.control = [Buffer.from(head)];
      this.controlBytes = 0;
      return null;
    }
    if (reader.opcode !== OPCODE.CONTINUATION) {
      this.utf8 = new Utf8Reader();
      this.held = new HeldBytes(head.length + reader.remaining);
      this.text = new HeldBytes(reader.remaining);
    }
    this.heldHeadBytes += head.length;
    if (this.heldHeadBytes > websocketLimits.heldHeadBytesMax) return fragments;
    return this.keep(head, 0, head.length, reader.final && reader.remaining === 0);
  }

  private onPayload(bytes: Buffer): FrameFault | null {
    const { reader } = this;
    const { payloadStart, at } = reader;
    const length = at - payloadStart;
    if (reader.isControl) {
      this.control.push(Buffer.from(bytes.subarray(payloadStart, at)));
      this.controlText ??= Buffer.allocUnsafe(controlBytesMax);
      reader.unmask(bytes, this.controlText, this.controlBytes);
      this.controlBytes += length;
      return null;
    }
    reader.unmask(bytes, scratch, 0);
    const isText = reader.messageOpcode === OPCODE.TEXT;
    if (isText && !this.utf8.read(scratch, 0, length)) return FRAME_FAULT.text;
    const last = reader.final && reader.remaining === 0;
    this.textBytes += length;
    const fault = this.keep(bytes, payloadStart, at, last);
    if (fault === null) this.text.add(scratch, 0, length, last);
    return fault;
  }

  private onEnd(): FrameFault | null {
    const { reader } = this;
    if (!reader.isControl) {
      const done = reader.final && reader.messageOpcode === OPCODE.TEXT;
      return done && !this.utf8.whole ? FRAME_FAULT.text : null;
    }
    if (reader.opcode === OPCODE.CLOSE) {
      const payload = this.controlText?.subarray(0, this.controlBytes) ?? noBytes;
      const fault = closingFault(payload);
      if (fault !== null) return fault;
    }
    // Also between the frames of a message that waits (RFC 6455 section 5.4).
    this.out.push(...this.control);
    this.control = [];
    return null;
  }

  /** Has bytes of a data frame wait. */
  private keep(bytes: Buffer, start: number, end: number, last: boolean): FrameFault | null {
    this.heldBytes += end - start;
    if (!this.owner.hold(this.heldBytes + this.textBytes)) return noRoom;
    this.held.add(bytes, start, end, last);
    return null;
  }

  /** True when a message ended, or enough of it is here. */
  private isDue(found: number): boolean {
    const { reader } = this;
    if (reader.isControl) return false;
    if (found === FRAME.END) return reader.final;
    return this.textBytes === websocketLimits.pieceBytesMax;
  }

  private inspect(bytes: Buffer, at: number, end: number): void {
    if (this.textBytes === this.repeatedBytes) {
      this.clear();
      if (!this.owner.takesFrame()) this.wait(bytes, at, end);
      return;
    }
    this.due = !this.owner.takesMessage(this.textBytes);
    if (this.due) this.wait(bytes, at, end);
    else this.decide(bytes, at, end);
  }

  private decide(bytes: Buffer, at: number, end: number): void {
    const whole = this.ends && !this.continued;
    const result = this.owner.inspect(this.text.join(), whole);
    if (!(result instanceof Promise)) return this.settle(result);
    this.wait(bytes, at, end);
    void result.then((fault) => this.resume(fault));
  }

  /** True where the current piece is the last of its message. */
  private get ends(): boolean {
    return this.reader.final && this.reader.remaining === 0;
  }

  /** Keeps what came after the piece that is waited for. */
  private wait(bytes: Buffer, at: number, end: number): void {
    this.waiting = true;
    const piece = bytes.subarray(at, end);
    const isOwn = bytes === this.rest;
    this.rest = isOwn ? piece : Buffer.from(piece);
    if (!this.owner.hold(this.heldBytes + this.textBytes + piece.length)) this.fail(noRoom);
  }

  private resume(fault: FrameFault | null): void {
    this.waiting = false;
    if (this.ended) return;
    this.settle(fault);
    this.takeRest();
  }

  private takeRest(): void {
    const { rest } = this;
    this.take(rest, 0, rest.length);
    if (this.waiting) return;
    this.rest = noBytes;
    this.owner.resumed();
  }

  private settle(fault: FrameFault | null): void {
    if (fault === null) this.clear();
    else this.fail(fault);
  }

  /** The piece passes. */
  private clear(): void {
    this.out.push(...this.held.take());
    this.heldBytes = 0;
    this.heldHeadBytes = 0;
    this.continued = !this.ends;
    const repeated = this.continued
      ? this.text.join().subarray(-websocketLimits.overlapBytes)
      : noBytes;
    this.text = new HeldBytes();
    this.text.add(repeated, 0, repeated.length, false);
    this.textBytes = repeated.length;
    this.repeatedBytes = repeated.length;
    this.owner.hold(repeated.length);
  }

  private fail(fault: FrameFault): void {
    if (this.ended) return;
    this.flush();
    this.drop();
    this.owner.fail(fault);
  }

  private flush(): void {
    const { out } = this;
    if (out.length === 0) return;
    this.out = [];
    this.owner.forward(out.length === 1 ? out[0]! : Buffer.concat(out));
  }
}
