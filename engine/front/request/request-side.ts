/**
 * The request side of one request: whether body bytes are welcome, held for inspection, or flow to
 * the origin, after a head of our own and in framing of our own. What is held counts into the
 * thread's budget. Says what comes of each piece, and never decides what that leads to.
 */

import { frontLimits, turnLimits } from '../../../base/delivery-limits.ts';
import { SPAN, type BodySnapshot } from '../../contract/message.ts';
import type { ByteWriter } from '../../http/byte-writer.ts';
import { BODY } from '../../http/head-scanner.ts';
import type { Refusal } from '../../http/refusal.ts';
import type { RequestHeadParser } from '../../http/request-head.ts';
import type { OriginLink } from '../../upstream/origin-sink.ts';
import type { ClientPort } from '../client-port.ts';
import { BodyReader } from '../wire/body-reader.ts';
import { LENGTH, writeRequestHead, type RequestHeadFacts } from '../wire/forward-heads.ts';
import type { Holder } from '../wire/held-budget.ts';
import { HeldBytes } from '../wire/held-bytes.ts';
import type { WebsocketGate } from '../websocket/websocket-gate.ts';
import type { RequestState } from './request-state.ts';
import type { RestGate, RestOwner } from './rest-gate.ts';

/** What happens to the body. */
const UP = { WAIT: 0, HOLD: 1, FLOW: 2, DONE: 3 } as const;

/** What comes of a piece of the body. */
export const TAKEN = {
  /** More is to come, or nothing waits for it. */
  WAIT: 0,
  /** Enough is held to be inspected. */
  ENOUGH: 1,
  /** It cannot be taken: see `refusal`. */
  REFUSED: 2,
} as const;
/** One of them. */
export type BodyEvent = (typeof TAKEN)[keyof typeof TAKEN];

/** What a body that cannot be taken is answered with. */
export type BodyRefusal = Pick<Refusal, 'status' | 'reason'>;

/** What waits has no room. */
export const noRoom: BodyRefusal = { status: 503, reason: 'memory' };

/** Methods whose content every origin reads; what others have may be left lying. */
const withContent = ['POST', 'PUT', 'PATCH'].map((name) => Buffer.from(name));

const continueLine = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');
/** Never added to. */
const noPieces: Buffer[] = [];

/** The request to one response; see the header. */
export class RequestSide implements RestOwner {
  /** Why the body cannot be taken, as far as it was read. */
  refusal: BodyRefusal | null = null;
  private readonly request: RequestState;
  private readonly writer: ByteWriter;
  private readonly head: RequestHeadParser;
  private readonly client: ClientPort;
  /** Null where there is no body. */
  private readonly reader: BodyReader | null;
  /** Null while nothing was held. */
  private held: HeldBytes | null = null;
  /** The place in the budget for what is held; null before. */
  private holder: Holder | null = null;
  private origin: OriginLink | null = null;
  private state: number;
  /** True while the origin takes no more. */
  private stuck = false;
  /** Longest part of the body that is inspected. */
  private heldBytesMax = 0;
  /** Bytes of the body that need not wait for `rest`. */
  private cleared = 0;
  /** What was held of a body that was read to its end, and is not sent yet; see `sendHeld`. */
  private unsent: Buffer[] = noPieces;
  /** Bytes sent through a WebSocket; -1 while there is none. */
  private tunnelled = -1;
  private tunnelEnd = 0;
  /** What the rest of a long body passes; null where all that is inspected is held. */
  private rest: RestGate | null = null;
  /** What frames of the WebSocket pass; null where none are read. */
  private gate: WebsocketGate | null = null;

  constructor(request: RequestState) {
    const { front, client, head } = request;
    this.request = request;
    this.writer = front.writer;
    this.client = client;
    this.head = head;
    const { framing, contentLength } = head;
    this.reader = framing === BODY.NONE ? null : new BodyReader(framing, contentLength);
    this.state = this.reader === null ? UP.DONE : UP.WAIT;
  }

  get hasBody(): boolean {
    return this.reader !== null;
  }

  /** Content bytes read so far. */
  get bodyBytes(): number {
    return this.tunnelled < 0 ? (this.reader?.total ?? 0) : this.tunnelled;
  }

  /** True while body bytes from the client are welcome. */
  get wantsBody(): boolean {
    if (this.state !== UP.FLOW) return this.state === UP.HOLD;
    return !this.stuck && this.gate?.waiting !== true && this.rest?.waiting !== true;
  }

  /** True while the origin takes no more body bytes. */
  get blocked(): boolean {
    return this.state === UP.FLOW && this.stuck;
  }

  get complete(): boolean {
    return this.state === UP.DONE;
  }

  /** True when the body was read to its end. */
  private get bodyRead(): boolean {
    return this.tunnelled < 0 && (this.reader === null || this.reader.done);
  }

  // ---- what comes of the client

  /**
   * Takes framing off bytes [start, end), in place; says where what follows the body begins.
   * The bytes may change after `accept` took what it found.
   */
  read(bytes: Buffer, start: number, end: number): number {
    if (this.tunnelled >= 0) {
      this.tunnelEnd = end;
      return end;
    }
    const reader = this.reader!;
    this.refusal = reader.read(bytes, start, end, this.request.bodyBytesMax);
    return this.refusal === null ? reader.next : end;
  }

  /** Handles what `read` found from `start` on. */
  accept(bytes: Buffer, start: number): BodyEvent {
    if (this.refusal !== null) return TAKEN.REFUSED;
    if (this.tunnelled >= 0) {
      this.forwardTunnel(bytes, start);
      return TAKEN.WAIT;
    }
    const end = this.reader!.dataEnd;
    this.request.captured?.add(bytes, start, end);
    const holds = this.state === UP.HOLD;
    if (!holds) this.forwardBody(bytes, start, end);
    else if (!this.keep(bytes, start, end)) {
      this.refusal = noRoom;
      return TAKEN.REFUSED;
    }
    const { bodyRead } = this;
    if (bodyRead) {
      this.state = UP.DONE;
      this.client.bodyWanted(false);
    }
    if (!holds) return TAKEN.WAIT;
    return bodyRead || this.bodyBytes > this.heldBytesMax ? TAKEN.ENOUGH : TAKEN.WAIT;
  }

  private keep(bytes: Buffer, start: number, end: number): boolean {
    const holder = this.holder!;
    if (!holder.hold(holder.bytes + end - start)) return false;
    this.held!.add(bytes, start, end, this.bodyRead);
    return true;
  }

  /** The body is to be inspected, `bytesMax` of it: holds it until there is enough. */
  hold(bytesMax: number): void {
    const { framing, contentLength } = this.head;
    this.sendContinue();
    this.state = UP.HOLD;
    this.heldBytesMax = bytesMax;
    this.holder ??= this.request.holder();
    this.held ??= new HeldBytes(framing === BODY.LENGTH ? contentLength : 0);
    this.client.bodyWanted(true);
  }

  /** What is held, at most `limitBytes` of it; the rest stays held as well. */
  takeHeld(limitBytes: number): BodySnapshot {
    const truncated = this.bodyBytes > limitBytes;
    // Rules read the beginning only: joining the rest as well would take several milliseconds.
    const joined = this.held!.join(truncated ? limitBytes : Infinity);
    if (this.state === UP.HOLD) this.state = UP.WAIT;
    this.client.bodyWanted(false);
    return { bytes: truncated ? joined.subarray(0, limitBytes) : joined, truncated };
  }

  // ---- what goes to the origin

  /** What follows the first `cleared` bytes waits for `gate`; to be called before `open`. */
  openRest(gate: RestGate, cleared: number): void {
    this.rest = gate;
    this.cleared = cleared;
  }

  /** Sends the head and what is held; what is missing of the body flows from now on. */
  open(origin: OriginLink, facts: RequestHeadFacts): void {
    this.origin = origin;
    this.sendHead(origin, facts);
    if (this.state === UP.DONE) return;
    this.state = UP.FLOW;
    this.sendContinue();
    this.client.bodyWanted(true);
  }

  private sendHead(origin: OriginLink, facts: RequestHeadFacts): void {
    const { writer } = this;
    const { bytes } = this.request;
    const held = this.held?.take() ?? noPieces;
    this.holder?.hold(0);
    const length = this.announcedLength(held);
    // Content that an origin leaves lying would be its next request, unseen by any rule.
    const last = length !== LENGTH.ABSENT && length !== 0 && this.isWithoutContent(bytes);
    writeRequestHead(writer, bytes, this.head, facts, length, last);
    if (last) origin.closeAfterResponse();
    if (this.rest !== null) return this.sendRest(held, this.rest);
    if (this.bodyRead) return this.sendWhole(held);
    this.stuck = !origin.writeHead(writer.take());
    for (const piece of held) this.write(piece, 0, piece.length);
  }

  /** Sends the head and what was inspected; what is held after that waits like what follows. */
  private sendRest(held: readonly Buffer[], rest: RestGate): void {
    this.stuck = !this.origin!.writeHead(this.writer.take());
    let { cleared } = this;
    for (const piece of held) {
      const sent = Math.min(cleared, piece.length);
      this.write(piece, 0, sent);
      cleared -= sent;
      rest.take(piece, sent, piece.length);
    }
    if (this.bodyRead) rest.end();
  }

  /** Sends the head and a body that was read to its end: together where they are small. */
  private sendWhole(held: Buffer[]): void {
    const { writer } = this;
    const origin = this.origin!;
    const length = bytesOf(held);
    const oneWrite = length <= frontLimits.readBufferBytes;
    this.unsent = oneWrite && held.length > 1 ? [Buffer.concat(held)] : held;
    const small = length <= turnLimits.waitingBytesMax;
    if (small && length > 0) writer.bytes(this.unsent[0]!, 0, length);
    if (small) this.unsent = noPieces;
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
    while (this.unsent.length > 0 && !this.stuck && room > 0) {
      const piece = this.unsent[0]!;
      const sent = piece.subarray(0, frontLimits.readBufferBytes);
      if (sent.length === piece.length) this.unsent.shift();
      else this.unsent[0] = piece.subarray(sent.length);
      room -= sent.length;
      this.stuck = !origin.writeCopy(sent);
    }
    if (this.unsent.length === 0) origin.endRequest();
    else if (!this.stuck) setImmediate(() => this.sendOn());
  }

  /** Others had their turn; the request may be over. */
  private sendOn(): void {
    if (this.unsent.length > 0 && !this.stuck) this.sendHeld();
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
    return this.bodyRead && this.rest === null ? bytesOf(held) : LENGTH.CHUNKED;
  }

  /** Sends content, and the end if it was the last. */
  private forwardBody(bytes: Buffer, start: number, end: number): void {
    if (this.rest === null) this.write(bytes, start, end);
    else this.rest.take(bytes, start, end);
    if (!this.bodyRead) return;
    if (this.rest === null) this.finished();
    else this.rest.end();
  }

  private write(bytes: Buffer, start: number, end: number): void {
    if (end === start) return;
    const origin = this.origin!;
    if (this.head.framing === BODY.LENGTH) {
      if (!origin.writeCopy(bytes.subarray(start, end))) this.stuck = true;
      return;
    }
    const { writer } = this;
    writer.chunkSize(end - start);
    writer.bytes(bytes, start, end);
    writer.crlf();
    if (!origin.write(writer.take())) this.stuck = true;
  }

  /** The origin takes more. */
  drained(): void {
    this.stuck = false;
    if (this.unsent.length > 0) this.sendHeld();
    this.resumed();
  }

  // ---- a WebSocket

  /** It is open: bytes flow until one side closes, through `gate` where there is one. */
  openTunnel(gate: WebsocketGate | null): void {
    this.tunnelled = 0;
    this.gate = gate;
    this.state = UP.FLOW;
    this.client.tunnelOpened();
  }

  private forwardTunnel(bytes: Buffer, start: number): void {
    this.tunnelled += this.tunnelEnd - start;
    if (this.gate !== null) this.gate.take(bytes, start, this.tunnelEnd);
    else this.stuck = !this.origin!.writeCopy(bytes.subarray(start, this.tunnelEnd));
  }

  /** Sends frames that passed, which stay as they are. */
  forwardFrames(bytes: Buffer): void {
    this.stuck = !this.origin!.write(bytes);
  }

  // ---- what the gate of a long body asks

  /** Sends bytes of the rest, which stay as they are. */
  forward(bytes: Buffer): void {
    this.write(bytes, 0, bytes.length);
  }

  /** All of the body was written. */
  finished(): void {
    if (this.head.framing === BODY.CHUNKED) {
      this.writer.text('0\r\n\r\n');
      this.origin!.write(this.writer.take());
    }
    this.origin!.endRequest();
  }

  /** Of the budget, as what is held. */
  holdsRest(bytes: number): boolean {
    return this.holder!.hold(bytes);
  }

  /** An inspection of frames or of a window is over: the client may send on. */
  resumed(): void {
    if (this.state === UP.FLOW) this.client.bodyWanted(true);
  }

  // ---- the end

  /** The origin answered without waiting for the whole body: nobody is left to take the rest. */
  abandon(): void {
    if (this.state === UP.FLOW) this.state = UP.WAIT;
    this.stopSending();
  }

  /** The origin is gone. */
  stopSending(): void {
    this.unsent = noPieces;
    this.rest?.drop();
  }

  /** Gives up what is held. */
  drop(): void {
    this.stopSending();
    this.holder?.hold(0);
    this.held?.take();
  }

  /** Nothing reads any more what was held. */
  recycle(): void {
    this.held?.recycle();
  }

  private sendContinue(): void {
    if (!this.head.expectContinue || this.head.version !== 11) return;
    this.head.expectContinue = false;
    this.client.send(continueLine);
  }
}

function bytesOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}
