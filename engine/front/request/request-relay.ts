/**
 * How a request is put on the wire for an origin: its body read off the client's framing, held
 * while it is inspected, and framed anew after a head of our own.
 */

import { frontLimits, turnLimits } from '../../../base/delivery-limits.ts';
import { SPAN } from '../../contract/message.ts';
import type { ByteWriter } from '../../http/byte-writer.ts';
import { BODY } from '../../http/head-scanner.ts';
import type { Refusal } from '../../http/refusal.ts';
import type { RequestHeadParser } from '../../http/request-head.ts';
import type { OriginLink } from '../../upstream/origin-sink.ts';
import type { BodyCapture } from '../facts/body-capture.ts';
import { BodyReader } from '../wire/body-reader.ts';
import type { FrontContext } from '../front-context.ts';
import type { Holder } from '../wire/held-budget.ts';
import { HeldBytes } from '../wire/held-bytes.ts';
import type { RestGate } from './rest-gate.ts';
import type { WebsocketGate } from '../websocket/websocket-gate.ts';
import { LENGTH, writeRequestHead, type RequestHeadFacts } from '../wire/forward-heads.ts';

/** Methods whose content every origin reads; what others have may be left lying. */
const withContent = ['POST', 'PUT', 'PATCH'].map((name) => Buffer.from(name));

/** Relays one request; holds its body until `open`. */
export class RequestRelay {
  /** True while the origin takes no more. */
  blocked = false;
  /** Why the body is refused, as far as `read` saw it. */
  fault: Refusal | null = null;
  /** The place in the budget for what is held; to be set before `hold`. */
  holder: Holder | null = null;

  private readonly writer: ByteWriter;
  private readonly head: RequestHeadParser;
  private readonly reader: BodyReader | null;
  private readonly held: HeldBytes;
  private origin: OriginLink | null = null;
  /** Bytes of the body that need not wait for `rest`. */
  private cleared = 0;
  /** What was held of a body that was read to its end, and is not sent yet; see `sendHeld`. */
  private unsent: Buffer[] = [];
  /** Bytes sent through a WebSocket; -1 while there is none. */
  private tunnelled = -1;
  private tunnelEnd = 0;
  /** What the rest of a long body passes; null where all that is inspected is held. */
  private rest: RestGate | null = null;
  /** What frames of the WebSocket pass; null where none are read. */
  private gate: WebsocketGate | null = null;

  constructor({ writer, settings }: FrontContext, head: RequestHeadParser) {
    this.writer = writer;
    this.head = head;
    const { framing, contentLength } = head;
    this.held = new HeldBytes(framing === BODY.LENGTH ? contentLength : 0);
    const bytesMax = settings.requestBodyBytesMax;
    this.reader = framing === BODY.NONE ? null : new BodyReader(framing, contentLength, bytesMax);
  }

  /** The body is refused where it is longer than this. */
  limitBody(bytesMax: number): void {
    if (this.reader !== null) this.reader.bytesMax = bytesMax;
  }

  get hasBody(): boolean {
    return this.reader !== null;
  }

  /** Content bytes read so far. */
  get bodyBytes(): number {
    return this.tunnelled < 0 ? (this.reader?.total ?? 0) : this.tunnelled;
  }

  /** True when the body was read to its end. */
  get bodyRead(): boolean {
    return this.tunnelled < 0 && (this.reader === null || this.reader.done);
  }

  /**
   * Takes framing off bytes [start, end), in place; says where what follows the body begins.
   * The bytes may change after `hold` or `forward` took what it found.
   */
  read(bytes: Buffer, start: number, end: number): number {
    if (this.tunnelled >= 0) {
      this.tunnelEnd = end;
      return end;
    }
    const reader = this.reader!;
    this.fault = reader.read(bytes, start, end);
    return this.fault === null ? reader.next : end;
  }

  /** Copies the content that `read` found from `start` on; what a WebSocket carries is none. */
  capture(copy: BodyCapture, bytes: Buffer, start: number): void {
    if (this.tunnelled < 0) copy.add(bytes, start, this.reader!.dataEnd);
  }

  /** Keeps the content that `read` found from `start` on; false when that is over its share. */
  hold(bytes: Buffer, start: number): boolean {
    const end = this.reader!.dataEnd;
    const holder = this.holder!;
    if (!holder.hold(holder.bytes + end - start)) return false;
    this.held.add(bytes, start, end, this.bodyRead);
    return true;
  }

  /** Gives up what is held and what is not sent. */
  drop(): void {
    this.holder?.hold(0);
    this.held.take();
    this.unsent = [];
  }

  /** Nobody is left to take what is not sent. */
  stopSending(): void {
    this.unsent = [];
    this.rest?.drop();
  }

  /** What follows the first `cleared` bytes waits for `gate`; to be called before `open`. */
  openRest(gate: RestGate, cleared: number): void {
    this.rest = gate;
    this.cleared = cleared;
  }

  /** Sends bytes of the rest, which stay as they are. */
  forwardRest(bytes: Buffer): void {
    this.write(bytes, 0, bytes.length);
  }

  /** The origin takes more. */
  drained(): void {
    this.blocked = false;
    if (this.unsent.length > 0) this.sendHeld();
  }

  /** Nothing reads any more what was held. */
  recycle(): void {
    this.held.recycle();
  }

  /** The first `bytesMin` bytes that are held, or more, in one piece; all stays held. */
  joinHeld(bytesMin: number): Buffer {
    return this.held.join(bytesMin);
  }

  /** Writes the head and what is held; the rest of the body follows by `forward`. */
  open(origin: OriginLink, bytes: Buffer, facts: RequestHeadFacts): void {
    const { writer } = this;
    this.origin = origin;
    const held = this.held.take();
    this.drop();
    const length = this.announcedLength(held);
    // Content that an origin leaves lying would be its next request, unseen by any rule.
    const last = length !== LENGTH.ABSENT && length !== 0 && this.isWithoutContent(bytes);
    writeRequestHead(writer, bytes, this.head, facts, length, last);
    if (last) origin.closeAfterResponse();
    if (this.rest !== null) return this.sendRest(held, this.rest);
    if (this.bodyRead) return this.sendWhole(held);
    this.blocked = !origin.writeHead(writer.take());
    for (const piece of held) this.write(piece, 0, piece.length);
  }

  /** Sends the head and what was inspected; what is held after that waits like what follows. */
  private sendRest(held: readonly Buffer[], rest: RestGate): void {
    this.blocked = !this.origin!.writeHead(this.writer.take());
    let cleared = this.cleared;
    for (const piece of held) {
      const sent = Math.min(cleared, piece.length);
      this.write(piece, 0, sent);
      cleared -= sent;
      rest.take(piece, sent, piece.length);
    }
    if (this.bodyRead) rest.end();
  }

  /** Sends the head and a body that was read to its end: together where they are small. */
  private sendWhole(held: readonly Buffer[]): void {
    const { writer } = this;
    const origin = this.origin!;
    const length = held.reduce((sum, piece) => sum + piece.length, 0);
    const oneWrite = length <= frontLimits.readBufferBytes;
    this.unsent = oneWrite && held.length > 1 ? [Buffer.concat(held)] : [...held];
    const small = length <= turnLimits.waitingBytesMax;
    if (small && length > 0) writer.bytes(this.unsent[0]!, 0, length);
    if (small) this.unsent = [];
    origin.writeHead(writer.take());
    this.sendHeld();
  }

  /**
   * Sends as much as the origin takes, and no more than a share of a turn at once: copying all of
   * a body of many megabytes would keep every other client waiting.
   */
  private sendHeld(): void {
    const origin = this.origin!;
    let room: number = turnLimits.aloneReadBytesMax;
    while (this.unsent.length > 0 && !this.blocked && room > 0) {
      const piece = this.unsent[0]!;
      const sent = piece.subarray(0, frontLimits.readBufferBytes);
      if (sent.length === piece.length) this.unsent.shift();
      else this.unsent[0] = piece.subarray(sent.length);
      room -= sent.length;
      this.blocked = !origin.writeCopy(sent);
    }
    if (this.unsent.length === 0) origin.endRequest();
    else if (!this.blocked) setImmediate(() => this.sendOn());
  }

  /** Others had their turn; the request may be over. */
  private sendOn(): void {
    if (this.unsent.length > 0 && !this.blocked) this.sendHeld();
  }

  private isWithoutContent(bytes: Buffer): boolean {
    const { spans } = this.head;
    const [start, end] = [spans[SPAN.firstStart], spans[SPAN.firstEnd]];
    return withContent.every((name) => name.compare(bytes, start, end) !== 0);
  }

  /** The length announced to the origin; a body that is complete gets its length. */
  private announcedLength(held: readonly Buffer[]): number {
    if (this.reader === null) return this.head.contentLength < 0 ? LENGTH.ABSENT : 0;
    if (this.head.framing === BODY.LENGTH) return this.head.contentLength;
    if (!this.bodyRead || this.rest !== null) return LENGTH.CHUNKED;
    return held.reduce((sum, piece) => sum + piece.length, 0);
  }

  /** From now on every byte goes to the origin as it is, once `gate` lets it. */
  openTunnel(gate: WebsocketGate | null): void {
    this.tunnelled = 0;
    this.gate = gate;
  }

  /** True while a message or a window of a body is inspected. */
  get waiting(): boolean {
    return this.gate?.waiting === true || this.rest?.waiting === true;
  }

  /** Sends frames, which stay as they are. */
  forwardFrames(bytes: Buffer): void {
    this.blocked = !this.origin!.write(bytes);
  }

  /** Sends the content that `read` found from `start` on, and the end if it was the last. */
  forward(bytes: Buffer, start: number): void {
    if (this.tunnelled >= 0) {
      this.tunnelled += this.tunnelEnd - start;
      if (this.gate !== null) return this.gate.take(bytes, start, this.tunnelEnd);
      this.blocked = !this.origin!.writeCopy(bytes.subarray(start, this.tunnelEnd));
      return;
    }
    if (this.rest !== null) {
      this.rest.take(bytes, start, this.reader!.dataEnd);
      if (this.bodyRead) this.rest.end();
      return;
    }
    this.write(bytes, start, this.reader!.dataEnd);
    if (this.bodyRead) this.endBody();
  }

  /** All of the body was written. */
  endBody(): void {
    if (this.head.framing === BODY.CHUNKED) {
      this.writer.text('0\r\n\r\n');
      this.origin!.write(this.writer.take());
    }
    this.origin!.endRequest();
  }

  private write(bytes: Buffer, start: number, end: number): void {
    if (end === start) return;
    const origin = this.origin!;
    if (this.head.framing === BODY.LENGTH) {
      if (!origin.writeCopy(bytes.subarray(start, end))) this.blocked = true;
      return;
    }
    const { writer } = this;
    writer.chunkSize(end - start);
    writer.bytes(bytes, start, end);
    writer.crlf();
    if (!origin.write(writer.take())) this.blocked = true;
  }
}
