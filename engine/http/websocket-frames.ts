/**
 * Reads the frames of one side of a WebSocket (RFC 6455 section 5), strictly: what two readers
 * could take differently is a fault. Pure; keeps no payload but that of no frame.
 */

import { Utf8Reader } from '../base/utf8-reader.ts';

/** What `FrameReader.next` found. */
export const FRAME = {
  /** All bytes were read. */
  MORE: 0,
  /** The head of a frame is complete. */
  HEAD: 1,
  /** Payload [payloadStart, at), masked as it came. */
  PAYLOAD: 2,
  /** The frame is complete. */
  END: 3,
  /** Nothing after it can be read; `fault` says why. */
  FAULT: 4,
} as const;

/** Opcodes of RFC 6455 section 5.2. */
export const OPCODE = { CONTINUATION: 0, TEXT: 1, BINARY: 2, CLOSE: 8, PING: 9, PONG: 10 } as const;

/** Status codes of closing frames (RFC 6455 section 7.4.1). */
export const CLOSE_CODE = {
  PROTOCOL: 1002,
  INVALID_TEXT: 1007,
  POLICY: 1008,
  TOO_LARGE: 1009,
  INTERNAL: 1011,
} as const;

/** Why frames are not read on: the code for closing, and a stable reason for events. */
export interface FrameFault {
  readonly code: number;
  readonly reason: string;
}

const fault = (reason: string, code: number = CLOSE_CODE.PROTOCOL): FrameFault => ({
  code,
  reason: `websocket_${reason}`,
});

/** Every reason there is. */
export const FRAME_FAULT = {
  reserved: fault('reserved_bits'),
  opcode: fault('opcode'),
  mask: fault('mask'),
  length: fault('length'),
  control: fault('control_frame'),
  continuation: fault('continuation'),
  afterClose: fault('after_close'),
  closing: fault('close_frame'),
  text: fault('invalid_text', CLOSE_CODE.INVALID_TEXT),
} as const;

const headBytesMax = 14;
/** Payload of a control frame (RFC 6455 section 5.5). */
export const controlBytesMax = 125;
/** A length past it is no exact number here. */
const highWordMax = 0x1f_ffff;

/** Reads frames, whose heads may come in pieces. */
export class FrameReader {
  /** Offset after what was read. */
  at = 0;
  payloadStart = 0;
  opcode = 0;
  final = false;
  /** Payload bytes of the current frame that are still to come. */
  remaining = 0;
  /** Opcode of the message that the current data frame belongs to. */
  messageOpcode: number = OPCODE.CONTINUATION;
  fault: FrameFault | null = null;
  private readonly masked: boolean;
  private readonly head = Buffer.alloc(headBytesMax);
  private have = 0;
  private need = 2;
  private inFrame = false;
  /** A message was begun and not ended. */
  private inMessage = false;
  private closed = false;
  private maskAt = 0;

  /** `masked`: frames of a client, which have to be masked; those of an origin must not be. */
  constructor(masked: boolean) {
    this.masked = masked;
  }

  /** True between two frames. */
  get betweenFrames(): boolean {
    return !this.inFrame && this.have === 0;
  }

  get isControl(): boolean {
    return this.opcode >= OPCODE.CLOSE;
  }

  /** The head of the current frame as it came; valid from `HEAD` until the next `HEAD`. */
  get headBytes(): Buffer {
    return this.head.subarray(0, this.need);
  }

  /** Reads on in bytes [start, end) until something was found. */
  next(bytes: Uint8Array, start: number, end: number): number {
    this.at = start;
    if (this.fault !== null) return FRAME.FAULT;
    if (!this.inFrame) return this.readHead(bytes, end);
    if (this.remaining === 0) {
      this.endFrame();
      return FRAME.END;
    }
    if (start === end) return FRAME.MORE;
    this.payloadStart = start;
    this.at = Math.min(end, start + this.remaining);
    this.remaining -= this.at - start;
    return FRAME.PAYLOAD;
  }

  /** Copies the payload that `next` found to `target` at `offset`, unmasked. */
  unmask(bytes: Uint8Array, target: Uint8Array, offset: number): void {
    const { head, need } = this;
    const mask = need - 4;
    let { maskAt } = this;
    for (let p = this.payloadStart, to = offset; p < this.at; p++) {
      target[to++] = bytes[p]! ^ (this.masked ? head[mask + maskAt]! : 0);
      maskAt = (maskAt + 1) & 3;
    }
    this.maskAt = maskAt;
  }

  private readHead(bytes: Uint8Array, end: number): number {
    while (this.have < this.need || this.have === 0) {
      if (this.at === end) return FRAME.MORE;
      if (this.have === 0) this.need = 2;
      this.head[this.have++] = bytes[this.at++]!;
      if (this.have === 2) this.need = this.lengthOfHead();
    }
    this.fault = this.begin();
    if (this.fault !== null) return FRAME.FAULT;
    this.inFrame = true;
    this.have = 0;
    this.maskAt = 0;
    return FRAME.HEAD;
  }

  private lengthOfHead(): number {
    const second = this.head[1]!;
    const length = second & 0x7f;
    const extended = length === 127 ? 8 : length === 126 ? 2 : 0;
    return 2 + extended + ((second & 0x80) === 0 ? 0 : 4);
  }

  /** Checks a whole head, and takes what it says. */
  private begin(): FrameFault | null {
    const first = this.head[0]!;
    const opcode = first & 0x0f;
    const final = (first & 0x80) !== 0;
    if (this.closed) return FRAME_FAULT.afterClose;
    if ((first & 0x70) !== 0) return FRAME_FAULT.reserved;
    if (!known.has(opcode)) return FRAME_FAULT.opcode;
    if (((this.head[1]! & 0x80) !== 0) !== this.masked) return FRAME_FAULT.mask;
    const length = this.readLength();
    if (length < 0) return FRAME_FAULT.length;
    if (opcode >= OPCODE.CLOSE) {
      if (!final || length > controlBytesMax) return FRAME_FAULT.control;
    } else if ((opcode === OPCODE.CONTINUATION) !== this.inMessage) return FRAME_FAULT.continuation;
    if (opcode === OPCODE.TEXT || opcode === OPCODE.BINARY) this.messageOpcode = opcode;
    this.opcode = opcode;
    this.final = final;
    this.remaining = length;
    return null;
  }

  /** The shortest form is the only one (RFC 6455 section 5.2); -1 for any other. */
  private readLength(): number {
    const { head } = this;
    const short = head[1]! & 0x7f;
    if (short < 126) return short;
    if (short === 126) {
      const length = head.readUInt16BE(2);
      return length < 126 ? -1 : length;
    }
    const high = head.readUInt32BE(2);
    const length = high * 0x1_0000_0000 + head.readUInt32BE(6);
    return high > highWordMax || length < 0x1_0000 ? -1 : length;
  }

  private endFrame(): void {
    this.inFrame = false;
    if (this.opcode === OPCODE.CLOSE) this.closed = true;
    if (!this.isControl) this.inMessage = !this.final;
  }
}

const known: ReadonlySet<number> = new Set(Object.values(OPCODE));

/** What is wrong with the payload of a closing frame (RFC 6455 sections 5.5.1 and 7.4); or null. */
export function closingFault(payload: Uint8Array): FrameFault | null {
  if (payload.length === 0) return null;
  if (payload.length === 1) return FRAME_FAULT.closing;
  const code = payload[0]! * 256 + payload[1]!;
  const standard = code >= 1000 && code <= 1014 && !unsent.has(code);
  if (!standard && (code < 3000 || code > 4999)) return FRAME_FAULT.closing;
  const text = new Utf8Reader();
  return text.read(payload, 2, payload.length) && text.whole ? null : FRAME_FAULT.text;
}

/** Codes that no frame carries (RFC 6455 section 7.4.1). */
const unsent: ReadonlySet<number> = new Set([1004, 1005, 1006]);

/** A closing frame of a server. */
export function closingFrame(code: number): Buffer {
  return Buffer.from([0x80 | OPCODE.CLOSE, 2, code >> 8, code & 0xff]);
}
