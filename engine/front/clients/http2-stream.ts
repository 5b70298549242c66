/**
 * One request of an HTTP/2 connection, seen as a client: its head goes through the same parser and
 * exchange as every other, its answer is read back off our own wire bytes.
 */

import { randomBytes } from 'node:crypto';
import type { DeadlineHolder } from '../../base/deadlines.ts';
import type { ConnectionFacts } from '../../contract/message.ts';
import type { ClientTimes } from '../../contract/request-times.ts';
import type { TlsFacts } from '../../contract/tls.ts';
import { BODY, SCAN } from '../../http/head-scanner.ts';
import type { RequestHeadParser } from '../../http/request-head.ts';
import { routingHost } from '../../http/routing-host.ts';
import { HTTP2_CODE, HTTP2_HEAD } from '../../http2/session.ts';
import type { AnswerReader } from '../wire/answer-reader.ts';
import type { ClientPort } from '../client-port.ts';
import { Exchange } from '../request/exchange.ts';
import { upgradeLines } from '../wire/forward-heads.ts';
import type { FrontContext } from '../front-context.ts';
import type { Readers } from '../wire/spare-readers.ts';

/** What a stream needs of its connection. */
export interface StreamOwner {
  readonly facts: ConnectionFacts;
  readonly tls: TlsFacts | null;
  readonly forwardedLines: string;
  respond(stream: number, bytes: Uint8Array, start: number, end: number, last: boolean): void;
  /** False until `drained`. */
  data(stream: number, bytes: Uint8Array, start: number, end: number, last: boolean): boolean;
  /** Trailer lines for the end of the answer; before its last `data`. */
  trailers(stream: number, bytes: Uint8Array, start: number, end: number): void;
  /** The request took bytes of its body. */
  consumed(stream: number, bytes: number): void;
  reset(stream: number, code: number): void;
  /** Nothing of the stream is used any more. */
  streamLeft(stream: Http2Stream): void;
}

const nothing = Buffer.alloc(0);
/** Where a status line has its status: after `HTTP/1.1 `. */
const statusAt = 9;

/**
 * The head that opens a WebSocket over HTTP/1.1, of one that does so over HTTP/2: there is one
 * reading of both. The key is ours (RFC 8441 section 5.1 has none), and origins prove it.
 */
function openingHead(head: Buffer): Buffer {
  const key = randomBytes(16).toString('base64');
  const lines = `${upgradeLines}Sec-WebSocket-Key: ${key}\r\n\r\n`;
  return Buffer.concat([head.subarray(0, head.length - 2), Buffer.from(lines, 'latin1')]);
}

const lastChunk = Buffer.from('0\r\n\r\n');

/** One request; see the header. */
export class Http2Stream implements ClientPort, DeadlineHolder {
  readonly id: number;
  readonly parser: RequestHeadParser;
  deadlineMs: number;
  deadlinePlace = -1;
  /** Content received and not yet taken by the request, in bytes. */
  waiting = 0;
  /** How long its parts may take. */
  times: ClientTimes;

  private readonly front: FrontContext;
  private readonly owner: StreamOwner;
  private readonly bytes: Buffer;
  private readonly exchange: Exchange;
  private totalDeadlineMs: number;
  private readonly readers: Readers;
  private readonly answer: AnswerReader;
  private readonly received: Buffer[] = [];
  private readonly flags: number;
  /** RFC 8441: the stream carries a WebSocket once the origin takes it. */
  private readonly websocket: boolean;
  /** It does: bytes flow until one side closes. */
  private tunnel = false;
  private complete: boolean;
  private blocked = false;
  private gone = false;
  private ended = false;
  private begun = false;
  /** True when the parser refused the head. */
  private readonly refused: boolean;

  /** `flags` are those of its head event. */
  constructor(front: FrontContext, owner: StreamOwner, id: number, head: Buffer, flags: number) {
    this.front = front;
    this.owner = owner;
    this.id = id;
    this.websocket = (flags & HTTP2_HEAD.WEBSOCKET) !== 0;
    this.bytes = this.websocket ? openingHead(head) : head;
    this.readers = front.readers.take(true, this.websocket);
    ({ parser: this.parser, answer: this.answer } = this.readers);
    this.times = front.settings;
    this.totalDeadlineMs = front.deadlines.nowMs + this.times.requestTotalTimeoutMs;
    this.deadlineMs = this.totalDeadlineMs;
    const result = this.parser.execute(this.bytes, this.bytes.length);
    this.refused = result !== SCAN.DONE;
    this.flags = flags;
    this.complete = (flags & HTTP2_HEAD.END) !== 0;
    // The frames of the stream delimit a body whose length is not announced.
    const framed = !this.complete && !this.websocket && this.parser.contentLength < 0;
    if (framed) this.parser.framing = BODY.CHUNKED;
    this.exchange = new Exchange(front, this, this.bytes, front.clock.monotonicUs());
    front.deadlines.add(this);
  }

  get facts(): ConnectionFacts {
    return this.owner.facts;
  }

  get tls(): TlsFacts | null {
    return this.owner.tls;
  }

  get forwardedLines(): string {
    return this.owner.forwardedLines;
  }

  /** Begins its request, unless it has ended before; says whether it did. */
  begin(): boolean {
    if (this.begun || this.gone || this.ended) return false;
    this.begun = true;
    this.start();
    return true;
  }

  private start(): void {
    const { parser, exchange, flags } = this;
    if ((flags & HTTP2_HEAD.TOO_LARGE) !== 0) return exchange.refuse(431, 'head_too_large');
    if ((flags & HTTP2_HEAD.ODD_SCHEME) !== 0) return exchange.refuse(400, 'scheme');
    if (this.refused) {
      const { refusal } = parser;
      return exchange.refuse(refusal?.status ?? 400, refusal?.reason ?? 'head');
    }
    exchange.start();
  }

  /** Proxies that a trust profile proves sent it on; known once it began or was given up. */
  get viaProxies(): boolean {
    return this.exchange.proved;
  }

  /** Bytes of its head, which stay until it has ended. */
  get headBytes(): number {
    return this.bytes.length;
  }

  /** There is no room for what waits of it: it is answered, and nothing more is taken. */
  crowdedOut(): void {
    if (!this.gone && !this.ended) this.exchange.crowdedOut();
  }

  host(): string {
    const { hostStart, hostEnd } = this.parser;
    return routingHost(this.bytes.toString('latin1', hostStart, hostEnd));
  }

  /** Takes content [start, end) of `bytes`, which are reused after this call. */
  content(bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    if (this.ended || this.gone || length === 0) return this.owner.consumed(this.id, length);
    const content = bytes.subarray(start, end);
    if (this.parser.framing !== BODY.CHUNKED) return this.take(Buffer.from(content), length);
    const size = Buffer.from(`${length.toString(16)}\r\n`);
    this.take(Buffer.concat([size, content, lastChunk.subarray(1, 3)]), length);
  }

  /** The client has sent the whole request. */
  contentEnded(): void {
    if (this.complete) return;
    this.complete = true;
    if (this.ended || this.gone) return;
    if (this.tunnel) return this.closeTunnel();
    if (this.parser.framing === BODY.CHUNKED) this.take(lastChunk, 0);
  }

  private take(piece: Buffer, length: number): void {
    this.received.push(piece);
    this.waiting += length;
    if (this.exchange.wantsBody) this.bodyWanted(true);
  }

  limitTimes(times: ClientTimes): void {
    this.times = times;
    this.totalDeadlineMs = this.front.deadlines.nowMs + times.requestTotalTimeoutMs;
    this.deadlineMs = this.totalDeadlineMs;
  }

  bodyWanted(wanted: boolean): void {
    if (this.gone || this.ended) return;
    this.awaitBody(wanted);
    while (wanted && this.received.length > 0 && this.exchange.wantsBody) {
      const piece = this.received.shift()!;
      this.exchange.readBody(piece, 0, piece.length);
      this.exchange.acceptBody(piece, 0);
      if (this.received.length === 0) this.consume();
    }
    if (this.tunnel && this.complete) this.closeTunnel();
  }

  /** The client closed its side of a WebSocket; what it sent before goes first. */
  private closeTunnel(): void {
    if (this.received.length === 0 && !this.gone && !this.ended) this.exchange.clientGone();
  }

  private awaitBody(wanted: boolean): void {
    const { nowMs } = this.front.deadlines;
    if (this.tunnel) {
      this.deadlineMs = nowMs + this.times.websocketIdleMs;
      return;
    }
    const progressMs = nowMs + this.times.bodyProgressTimeoutMs;
    this.deadlineMs = wanted ? Math.min(progressMs, this.totalDeadlineMs) : this.totalDeadlineMs;
  }

  private consume(): void {
    if (this.waiting > 0) this.owner.consumed(this.id, this.waiting);
    this.waiting = 0;
  }

  send(bytes: Uint8Array): boolean {
    if (this.gone || this.answer.done) return true;
    const { answer, owner, id } = this;
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    answer.read(piece, this.parser.isHead);
    const { headEnd, start, end, done } = answer;
    // RFC 8441 section 5: what HTTP/1.1 answers with 101 is a 200.
    if (answer.open && headEnd > 0) piece.write('200', statusAt, 'latin1');
    if (this.tunnel) this.awaitBody(true);
    const content = end > start;
    const trailers = answer.trailerEnd > answer.trailerStart;
    if (headEnd > 0) owner.respond(id, piece, 0, headEnd, done && !content && !trailers);
    if (!content && !trailers && (headEnd > 0 || !done)) return true;
    if (trailers) owner.trailers(id, piece, answer.trailerStart, answer.trailerEnd);
    const free = owner.data(id, piece, start, end, done);
    if (free || done) return true;
    this.blocked = true;
    this.deadlineMs = this.front.deadlines.nowMs + this.times.sendProgressTimeoutMs;
    return false;
  }

  /** What was sent has room again. */
  drained(): void {
    if (!this.blocked || this.gone) return;
    this.blocked = false;
    this.awaitBody(!this.ended && this.exchange.wantsBody);
    if (!this.ended) this.exchange.clientDrained();
  }

  onDeadline(nowMs: number): void {
    if (this.ended) return this.destroy();
    const { exchange } = this;
    if (this.blocked) return exchange.timedOut(true);
    if (this.tunnel) return exchange.bodyTimedOut();
    if (nowMs < this.totalDeadlineMs && exchange.wantsBody) return exchange.bodyTimedOut();
    if (nowMs < this.totalDeadlineMs) this.deadlineMs = this.totalDeadlineMs;
    else exchange.timedOut(false);
  }

  /** A WebSocket is open. */
  tunnelOpened(): void {
    this.tunnel = true;
    this.bodyWanted(true);
  }

  exchangeEnded(): void {
    this.ended = true;
    if (this.gone) return;
    const { done, open } = this.answer;
    if (!done && !open) return this.destroy();
    // RFC 8441 section 5: the end of a side is the end of its stream.
    if (open) this.owner.data(this.id, nothing, 0, 0, true);
    this.leave();
  }

  destroy(): void {
    if (this.gone) return;
    this.owner.reset(this.id, HTTP2_CODE.CANCEL);
    this.leave();
  }

  /** The client has given the request up before it began; true when it had not. */
  givenUp(): boolean {
    return !this.begun && this.closed();
  }

  /** The stream is closed; true when that cut the request off. */
  closed(): boolean {
    const cut = !this.ended;
    this.leave();
    if (cut && this.begun) this.exchange.clientGone();
    else if (cut) {
      this.exchange.abandoned(!this.refused && (this.flags & HTTP2_HEAD.TOO_LARGE) === 0);
      this.front.readers.give(this.readers);
    }
    return cut;
  }

  private leave(): void {
    if (this.gone) return;
    this.gone = true;
    this.deadlineMs = Infinity;
    this.front.deadlines.remove(this);
    this.received.length = 0;
    this.consume();
    if (this.ended) this.front.readers.give(this.readers);
    this.owner.streamLeft(this);
  }
}
