/**
 * The response side of one request: the origin's answer in framing of our own, held where the
 * policy inspects it, then paid out as fast as the client takes it, or streamed, in as few pieces
 * as possible. What is held counts into the thread's budget until the client has it; the origin is
 * not read meanwhile. Says what comes of each call, and never decides what that leads to.
 */

import { frontLimits } from '../../../base/delivery-limits.ts';
import type { AnswerCompression } from '../../contract/delivery.ts';
import type { BodySnapshot, ResponseSnapshot } from '../../contract/message.ts';
import type { ByteWriter } from '../../http/byte-writer.ts';
import { BODY } from '../../http/head-scanner.ts';
import type { ResponseHeadParser } from '../../http/response-head.ts';
import type { OriginLink } from '../../upstream/origin-sink.ts';
import type { ClientPort } from '../client-port.ts';
import { upgradeLines, writeInterimHead, writeResponseHead } from '../wire/forward-heads.ts';
import { HeldAnswer } from '../wire/held-answer.ts';
import { AnswerCoder, coderFree, type CodedSink } from './answer-coder.ts';
import { codeAnswer } from './answer-coding.ts';
import type { RequestState } from './request-state.ts';

const chunkedLine = 'Transfer-Encoding: chunked\r\n';
const closeLine = 'Connection: close\r\n';
const keepLine = 'Connection: keep-alive\r\n';

/** Where the response is. */
const DOWN = { NONE: 0, VERDICT: 1, HOLD: 2, STREAM: 3 } as const;

/** What comes of a call. */
export const ANSWER = {
  /** More is to come. */
  WAIT: 0,
  /** Enough of the body is held to be inspected. */
  ENOUGH: 1,
  /** There is no room for what is to be held. */
  NO_ROOM: 2,
  /** All of it was sent. */
  SENT: 3,
  /** The rest cannot be compressed. */
  FAILED: 4,
} as const;
/** One of them. */
export type AnswerEvent = (typeof ANSWER)[keyof typeof ANSWER];

/** Who carries out what they lead to. */
export interface AnswerSink {
  answerCame(event: AnswerEvent): void;
}

/** The response to one request; see the header. */
export class ResponseSide implements CodedSink {
  /** Whether the client may send another request afterwards; known from `begin` on. */
  keepAlive = false;
  hasBody = false;
  private readonly request: RequestState;
  private readonly client: ClientPort;
  private readonly writer: ByteWriter;
  private readonly sink: AnswerSink;
  /** Null while no answer comes, and once it has come. */
  private origin: OriginLink | null = null;
  private state: number = DOWN.NONE;
  /** The origin has said all. */
  private complete = false;
  private coder: AnswerCoder | null = null;
  /** What came is sent on at once: nobody knows when more comes. */
  private flushes = false;
  /** Null where nothing waits. */
  private held: HeldAnswer | null = null;
  /** Longest part of the body that is inspected. */
  private heldBytesMax = 0;
  /** True while what was held is paid out. */
  private releasing = false;
  /** Trailer lines with their ends, sent where chunks or frames carry them. */
  private trailers = '';
  /** Content bytes written, and paid out of what was held before. */
  private written = 0;
  private sent = false;
  private chunked = false;
  private upgraded = false;
  private contentLength = -1;

  /** `sink` hears what comes of coded content, which no call waits for. */
  constructor(request: RequestState, sink: AnswerSink) {
    this.request = request;
    this.client = request.client;
    this.writer = request.front.writer;
    this.sink = sink;
  }

  /** True while the origin has not begun its answer. */
  get unbegun(): boolean {
    return this.state === DOWN.NONE;
  }

  /** True once the answer goes to the client, so that no other can take its place. */
  get streaming(): boolean {
    return this.state === DOWN.STREAM;
  }

  /** Content bytes written so far. */
  get bodyBytes(): number {
    return this.held === null ? this.written : this.written + this.held.paidBytes;
  }

  /** Content bytes held back. */
  get heldBytes(): number {
    return this.held === null ? 0 : this.held.bytes;
  }

  // ---- what comes of the origin

  /** RFC 9110 section 15.2: to the client at once; HTTP/1.0 knows none. */
  interim(origin: OriginLink, rateLines: string): void {
    const { answerFields: fields, head, strictTransport } = this.request;
    if (head.version < 11 || this.state !== DOWN.NONE) return;
    this.origin = origin;
    const replaced = { strictTransport, rateLines, fields };
    writeInterimHead(this.writer, origin.headBytes, origin.head, replaced);
    if (!this.client.send(this.writer.take())) origin.pauseRead();
  }

  /**
   * The head is complete: gives it where it is inspected, null where the answer streams. `keep`:
   * the client may send another request.
   */
  begin(
    origin: OriginLink,
    keep: boolean,
    rateLines: string,
    inspected: boolean,
  ): ResponseSnapshot | null {
    const { head, headBytes } = origin;
    this.origin = origin;
    const { compression } = this.request;
    const coded = compression !== null && this.beginCoding(origin, compression);
    this.chooseFraming(head, keep, coded);
    this.writeHead(headBytes, head, rateLines);
    if (!inspected) {
      this.state = DOWN.STREAM;
      return null;
    }
    this.held = new HeldAnswer(this.writer.take(), this.request.holder());
    this.state = DOWN.VERDICT;
    const bytes = Buffer.from(headBytes.subarray(0, head.headEnd));
    return { status: head.status, head: { bytes, spans: head.copySpans() } };
  }

  /** Decides the framing towards the client; the length of `coded` content is not known. */
  private chooseFraming(head: ResponseHeadParser, keep: boolean, coded: boolean): void {
    const { framing } = head;
    const unknown =
      framing === BODY.CHUNKED || framing === BODY.CLOSE || (coded && framing !== BODY.NONE);
    const http10 = this.request.head.version < 11;
    this.upgraded = head.status === 101;
    this.chunked = unknown && !http10 && !this.upgraded;
    this.keepAlive = keep && !(unknown && http10) && !this.upgraded;
    // What a WebSocket carries is no content of the answer.
    this.hasBody = framing !== BODY.NONE && !this.upgraded;
    // RFC 9110 section 8.6: none in 204; in HEAD and 304 it tells what a GET would have got.
    const unsaid = unknown || coded || head.status === 204;
    this.contentLength = unsaid ? -1 : head.contentLength;
  }

  private get closingLines(): string {
    if (this.upgraded) return upgradeLines;
    if (!this.keepAlive) return this.chunked ? chunkedLine + closeLine : closeLine;
    if (this.request.head.version < 11) return keepLine;
    return this.chunked ? chunkedLine : '';
  }

  private writeHead(bytes: Uint8Array, head: ResponseHeadParser, rateLines: string): void {
    const { request, writer } = this;
    const before = writer.length;
    writeResponseHead(writer, bytes, head, {
      requestId: request.requestId,
      closingLines: this.closingLines,
      contentLength: this.contentLength,
      fields: request.answerFields,
      nowMs: head.hasDate ? 0 : request.front.clock.nowMs(),
      strictTransport: request.strictTransport,
      rateLines,
      trailers: this.chunked && request.head.wantsTrailers,
    });
    if (request.keepsAnswerHead) request.sentHead = writer.copyFrom(before);
  }

  /** True where the content is compressed; its fields are then written. */
  private beginCoding({ head, headBytes }: OriginLink, compression: AnswerCompression): boolean {
    const wanted = coderFree() ? compression : { ...compression, coding: '' as const };
    const answer = codeAnswer(headBytes, head, wanted, this.request.answerFields);
    if (answer === null) return false;
    this.request.answerFields = answer.fields;
    if (answer.coding === '') return false;
    if (head.framing !== BODY.NONE) {
      this.coder = new AnswerCoder(answer.coding, this);
      this.flushes = head.framing !== BODY.LENGTH;
    }
    return true;
  }

  /** Body content came. */
  take(bytes: Uint8Array, start: number, end: number): AnswerEvent {
    const { held } = this;
    if (held === null) {
      if (this.coder === null) this.write(bytes, start, end);
      else if (!this.coder.write(bytes, start, end)) this.origin?.pauseRead();
      return ANSWER.WAIT;
    }
    if (!held.add(bytes, start, end)) return ANSWER.NO_ROOM;
    if (this.state === DOWN.HOLD) return this.isEnough ? ANSWER.ENOUGH : ANSWER.WAIT;
    this.origin?.pauseRead();
    return ANSWER.WAIT;
  }

  /** The origin has said all; `trailers` are lines with their ends. */
  end(trailers: string): AnswerEvent {
    this.complete = true;
    this.origin = null;
    this.trailers = trailers;
    if (this.state === DOWN.STREAM) return this.releasing ? ANSWER.WAIT : this.finish();
    return this.state === DOWN.HOLD ? ANSWER.ENOUGH : ANSWER.WAIT;
  }

  /** Nothing more comes of the origin. */
  originGone(): void {
    this.origin = null;
  }

  /** What was gathered may be sent. */
  turnEnd(): void {
    if (this.state !== DOWN.STREAM || this.releasing) return;
    if (this.flushes && !this.complete) this.coder!.flush();
    if (!this.sendWritten()) this.origin?.pauseRead();
  }

  // ---- what is held

  /** The body is to be inspected, `bytesMax` of it: holds it until there is enough. */
  hold(bytesMax: number): AnswerEvent {
    this.state = DOWN.HOLD;
    this.heldBytesMax = bytesMax;
    if (this.isEnough) return ANSWER.ENOUGH;
    this.origin?.resumeRead();
    return ANSWER.WAIT;
  }

  private get isEnough(): boolean {
    return this.complete || this.heldBytes > this.heldBytesMax;
  }

  /** What is held, at most `limitBytes` of it; the rest stays held as well. */
  takeHeld(limitBytes: number): BodySnapshot {
    const held = this.held!;
    const truncated = held.bytes > limitBytes;
    const whole = held.join();
    this.state = DOWN.VERDICT;
    return { bytes: truncated ? whole.subarray(0, limitBytes) : whole, truncated };
  }

  /** Nothing is left to decide: the client may have it. */
  release(): AnswerEvent {
    const held = this.held!;
    this.state = DOWN.STREAM;
    this.releasing = true;
    if (this.coder !== null) return this.codeHeld(this.coder);
    if (held.bytes > frontLimits.releasedAtOnceBytesMax) return this.pay();
    const head = held.takeHead();
    if (head !== null) this.writer.bytes(head, 0, head.length);
    for (let piece = held.takeContent(); piece !== null; piece = held.takeContent()) {
      this.write(piece, 0, piece.length);
    }
    return this.released();
  }

  /** Pays out what was held, as far as the client takes it. */
  private pay(): AnswerEvent {
    const held = this.held!;
    for (;;) {
      const piece = held.next(frontLimits.releasedPieceBytes, this.chunked);
      if (piece === null) return this.released();
      this.sent = true;
      if (this.client.send(piece)) continue;
      // The pieces after it wait, and so does the origin.
      this.origin?.pauseRead();
      return ANSWER.WAIT;
    }
  }

  /** Sends the head, and has coded what was held, as far as the coder takes it. */
  private codeHeld(coder: AnswerCoder): AnswerEvent {
    const held = this.held!;
    const head = held.takeHead();
    if (head !== null) {
      this.sent = true;
      if (!this.client.send(head)) coder.pause();
    }
    for (;;) {
      const piece = held.takeContent();
      if (piece === null) break;
      if (coder.write(piece, 0, piece.length)) continue;
      this.origin?.pauseRead();
      return ANSWER.WAIT;
    }
    if (this.flushes && !this.complete) coder.flush();
    return this.released();
  }

  /** What was held is with the client. */
  private released(): AnswerEvent {
    this.dropHeld();
    if (this.complete) return this.finish();
    this.origin?.resumeRead();
    return ANSWER.WAIT;
  }

  private dropHeld(): void {
    const { held } = this;
    this.releasing = false;
    this.held = null;
    if (held === null) return;
    this.written += held.paidBytes;
    held.drop();
  }

  // ---- what the client and the coder say

  /** The client takes more. */
  drained(): AnswerEvent {
    const { coder } = this;
    if (coder !== null) {
      coder.resume();
      return coder.full ? ANSWER.WAIT : this.codeOn(coder);
    }
    if (this.releasing) return this.pay();
    this.origin?.resumeRead();
    return ANSWER.WAIT;
  }

  coded(piece: Buffer): void {
    this.write(piece, 0, piece.length);
    if (!this.sendWritten()) this.coder?.pause();
  }

  private codeOn(coder: AnswerCoder): AnswerEvent {
    if (this.releasing) return this.codeHeld(coder);
    this.origin?.resumeRead();
    return ANSWER.WAIT;
  }

  coderDrained(): void {
    this.sink.answerCame(this.codeOn(this.coder!));
  }

  codedAll(): void {
    this.sink.answerCame(this.sendEnd());
  }

  coderFailed(): void {
    this.sink.answerCame(ANSWER.FAILED);
  }

  // ---- what goes to the client

  private write(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (length === 0) return;
    this.written += length;
    if (!this.chunked) return this.writer.bytes(bytes, start, end);
    this.writer.chunkSize(length);
    this.writer.bytes(bytes, start, end);
    this.writer.crlf();
  }

  /** Sends what was gathered; false when the client is to be waited for. */
  private sendWritten(): boolean {
    if (this.writer.length === 0) return true;
    this.sent = true;
    return this.client.send(this.writer.take());
  }

  private finish(): AnswerEvent {
    if (this.coder === null) return this.sendEnd();
    // The writer is that of the thread: other requests use it before the first coded bytes come.
    if (!this.sendWritten()) this.coder.pause();
    this.coder.end();
    return ANSWER.WAIT;
  }

  private sendEnd(): AnswerEvent {
    if (this.chunked) this.writer.text(`0\r\n${this.trailers}\r\n`);
    this.sendWritten();
    return ANSWER.SENT;
  }

  /** Sends the end of a WebSocket after all that came before it. */
  sendLast(frame: Buffer): void {
    if (this.state !== DOWN.STREAM || this.releasing) return;
    this.write(frame, 0, frame.length);
    this.turnEnd();
  }

  /** Throws away what was gathered; false when some of the answer has been sent already. */
  takeBack(): boolean {
    if (this.sent) return false;
    this.writer.discard();
    this.coder?.destroy();
    this.coder = null;
    this.flushes = false;
    return true;
  }

  /** The request ended: nothing more is sent. */
  drop(): void {
    this.coder?.destroy();
    this.origin = null;
    this.dropHeld();
    this.writer.discard();
  }
}
