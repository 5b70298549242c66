/**
 * Cuts what follows the held part of a long body into windows, each with the end of the one before,
 * so that nothing hides between two.
 */

import { valueLimits } from '../../base/rule-limits.ts';
import type { BodySnapshot } from '../contract/message.ts';
import type { BodyRestNeed } from '../contract/verdict.ts';
import { GrpcWindows } from '../rules/features/bodies/grpc-windows.ts';
import type { RestReader } from './rest-reader.ts';

/** Offsets of windows are multiples of it: characters of UTF-16 and UTF-32 stay whole. */
const alignment = 4;

/** The windows of one body; see the header. */
export class WindowReader implements RestReader {
  readonly first: BodySnapshot;
  readonly pieceBytes = valueLimits.restWindowBytes;
  readonly endsWhole = false;
  readonly over = null;
  private readonly begins: Uint8Array;
  /** The last bytes that were inspected, for the next window. */
  private tail: Buffer;
  private inCdata: boolean;
  /** Bytes of the body up to the end of `tail`. */
  private reached: number;

  private readonly messages: GrpcWindows | null;

  /** `held`: what was inspected of the body so far; `grpc`: it is read as messages of gRPC. */
  constructor(held: Buffer, grpc?: BodyRestNeed['grpc']) {
    this.messages = grpc === undefined ? null : new GrpcWindows(held, grpc === 'base64');
    this.first = { bytes: held, truncated: true };
    this.begins = beginsOf(held);
    this.reached = held.length;
    this.inCdata = endsInCdata(held, false);
    this.tail = tailOf(held, held.length);
  }

  next(piece: Buffer): BodySnapshot {
    const window = Buffer.concat([this.tail, piece]);
    const { inCdata, begins, messages } = this;
    this.reached += piece.length;
    this.inCdata = endsInCdata(piece, inCdata);
    const inside = inCdata && !window.subarray(0, this.tail.length).includes(']]>');
    this.tail = tailOf(window, this.reached);
    const rest = { begins, inCdata: inside };
    if (messages === null) return { bytes: window, truncated: true, rest };
    const body = messages.push(piece);
    const bytes = Buffer.concat([body, window]);
    return { bytes, truncated: true, rest: { ...rest, messageBytes: body.length } };
  }
}

/** From the first byte that says something on, so that blanks in front do not hide it. */
function beginsOf(bytes: Buffer): Uint8Array {
  let first = 0;
  while (first < bytes.length && bytes[first]! <= 0x20) first++;
  if (first === bytes.length || first < valueLimits.restOverlapBytes) first = 0;
  first -= first % alignment;
  return new Uint8Array(bytes.subarray(first, first + valueLimits.bodyBeginBytes));
}

/** The end of what was inspected, which begins at a multiple of `alignment` in the body. */
function tailOf(bytes: Buffer, reached: number): Buffer {
  const length = Math.min(bytes.length, valueLimits.restOverlapBytes);
  const start = reached - length;
  const from = bytes.length - length - Math.min(start % alignment, bytes.length - length);
  return Buffer.from(bytes.subarray(from));
}

function endsInCdata(bytes: Buffer, before: boolean): boolean {
  const opened = bytes.lastIndexOf('<![CDATA[');
  const closed = bytes.lastIndexOf(']]>');
  return opened < 0 && closed < 0 ? before : opened > closed;
}
