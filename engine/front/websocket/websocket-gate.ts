/**
 * Owns which frames of a client reach the origin: those of a text message wait until its
 * beginning was inspected, all others pass when they are well-formed. Never decides on a message.
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

/** Who carries out what the gate says. */
export interface GateOwner {
  /** Inspects the beginning of a message; null where it may pass. `whole`: that is all of it. */
  inspect(text: Buffer, whole: boolean): MaybePromise<FrameFault | null>;
  /** Sends bytes to the origin; they stay as they are. */
  forward(bytes: Buffer): void;
  /** The gate keeps this number of bytes; false where that is more than its share. */
  hold(bytes: number): boolean;
  /** Nothing more of the client is taken. */
  fail(fault: FrameFault): void;
  /** An inspection that took its time is over. */
  resumed(): void;
}

/** A message whose frames are too many to wait for its inspection. */
const fragments: FrameFault = { code: CLOSE_CODE.TOO_LARGE, reason: 'websocket_fragments' };
const noRoom: FrameFault = { code: CLOSE_CODE.INTERNAL, reason: 'memory' };

/** Text that is only checked; used synchronously. */
const scratch = Buffer.allocUnsafeSlow(websocketLimits.stepBytes);

/** The frames of one client; see the header. */
export class WebsocketGate {
  /** True while an inspection runs: nothing more is taken. */
  waiting = false;
  private readonly owner: GateOwner;
  private readonly reader = new FrameReader(true);
  private ended = false;
  /** What may go to the origin. */
  private out: Buffer[] = [];
  /** Frames of the current message that wait, and what is inspected of them, unmasked. */
  private held: Buffer[] = [];
  private heldBytes = 0;
  private text: Buffer[] = [];
  private textBytes = 0;
  /** The current message passes: it is binary, or its beginning was inspected. */
  private cleared = true;
  private utf8 = new Utf8Reader();
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
    }
    this.flush();
  }

  /** The WebSocket ended: nothing is kept. */
  drop(): void {
    this.ended = true;
    this.out = [];
    this.held = [];
    this.text = [];
    this.owner.hold(0);
  }

  /** Text is read up to the end of what is inspected, and then in steps. */
  private stepEnd(at: number, end: number): number {
    const { reader, cleared } = this;
    if (reader.betweenFrames || (cleared && reader.messageOpcode === OPCODE.BINARY)) return end;
    const { inspectedBytes, stepBytes } = websocketLimits;
    return Math.min(end, at + (cleared ? stepBytes : inspectedBytes - this.textBytes));
  }

  private onFound(found: number, bytes: Buffer): FrameFault | null {
    if (found === FRAME.FAULT) return this.reader.fault;
    if (found === FRAME.HEAD) return this.onHead();
    if (found === FRAME.PAYLOAD) return this.onPayload(bytes);
    return found === FRAME.END ? this.onEnd() : null;
  }

  private onHead(): FrameFault | null {
    const { reader } = this;
    const head = Buffer.from(reader.headBytes);
    if (reader.isControl) {
      this.control = [head];
      this.controlBytes = 0;
      return null;
    }
    if (reader.opcode !== OPCODE.CONTINUATION) {
      this.cleared = reader.opcode === OPCODE.BINARY;
      this.utf8 = new Utf8Reader();
    }
    return this.pass(head);
  }

  private onPayload(bytes: Buffer): FrameFault | null {
    const { reader, cleared } = this;
    const piece = bytes.subarray(reader.payloadStart, reader.at);
    if (reader.isControl) {
      this.control.push(Buffer.from(piece));
      this.controlText ??= Buffer.allocUnsafe(controlBytesMax);
      reader.unmask(bytes, this.controlText, this.controlBytes);
      this.controlBytes += piece.length;
      return null;
    }
    if (reader.messageOpcode === OPCODE.BINARY) return this.pass(piece);
    const text = cleared ? scratch : Buffer.allocUnsafe(piece.length);
    reader.unmask(bytes, text, 0);
    if (!this.utf8.read(text, 0, piece.length)) return FRAME_FAULT.text;
    if (!cleared) {
      this.text.push(text);
      this.textBytes += text.length;
    }
    return this.pass(piece);
  }

  private onEnd(): FrameFault | null {
    const { reader } = this;
    if (!reader.isControl) {
      const done = reader.final && reader.messageOpcode === OPCODE.TEXT;
      return done && !this.utf8.whole ? FRAME_FAULT.text : null;
    }
    if (reader.opcode === OPCODE.CLOSE) {
      const payload = this.controlText?.subarray(0, this.controlBytes) ?? scratch.subarray(0, 0);
      const fault = closingFault(payload);
      if (fault !== null) return fault;
    }
    // Also between the frames of a message that waits (RFC 6455 section 5.4).
    this.out.push(...this.control);
    this.control = [];
    return null;
  }

  /** Sends a piece of a data frame, or has it wait. */
  private pass(piece: Buffer): FrameFault | null {
    if (this.cleared) {
      this.out.push(piece);
      return null;
    }
    this.heldBytes += piece.length;
    if (this.heldBytes > websocketLimits.heldBytesMax) return fragments;
    if (!this.owner.hold(this.heldBytes + this.textBytes)) return noRoom;
    this.held.push(Buffer.from(piece));
    return null;
  }

  /** True when enough of a message is here. */
  private isDue(found: number): boolean {
    const { reader } = this;
    if (this.cleared || reader.isControl) return false;
    if (found === FRAME.END && reader.final) return true;
    return this.textBytes === websocketLimits.inspectedBytes;
  }

  private inspect(bytes: Buffer, at: number, end: number): void {
    const { reader } = this;
    if (this.textBytes === 0) return this.clear();
    const whole = reader.final && reader.remaining === 0;
    const result = this.owner.inspect(Buffer.concat(this.text), whole);
    if (!(result instanceof Promise)) return this.settle(result);
    this.waiting = true;
    const rest = Buffer.from(bytes.subarray(at, end));
    if (!this.owner.hold(this.heldBytes + this.textBytes + rest.length)) return this.fail(noRoom);
    void result.then((fault) => this.resume(fault, rest));
  }

  private resume(fault: FrameFault | null, rest: Buffer): void {
    this.waiting = false;
    if (this.ended) return;
    this.settle(fault);
    this.take(rest, 0, rest.length);
    this.owner.resumed();
  }

  private settle(fault: FrameFault | null): void {
    if (fault === null) this.clear();
    else this.fail(fault);
  }

  /** The message passes. */
  private clear(): void {
    this.out.push(...this.held);
    this.held = [];
    this.heldBytes = 0;
    this.text = [];
    this.textBytes = 0;
    this.cleared = true;
    this.owner.hold(0);
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
    this.owner.forward(Buffer.concat(out));
  }
}
