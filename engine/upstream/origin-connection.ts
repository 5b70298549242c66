/**
 * One connection to an origin: a socket, a strict response parser, and at most one request at a
 * time. Never chooses an endpoint and never retries.
 */

import net from 'node:net';
import tls from 'node:tls';
import { turnLimits, upstreamLimits } from '../../base/delivery-limits.ts';
import { TurnReader } from '../base/turn-reader.ts';
import { TurnWriter } from '../base/turn-writer.ts';
import type { DeadlineHolder, Deadlines } from '../base/deadlines.ts';
import { SPAN } from '../contract/message.ts';
import type { OriginTimes } from '../contract/request-times.ts';
import { BODY, SCAN } from '../http/head-scanner.ts';
import { ChunkedDecoder } from '../http/chunked-decoder.ts';
import { acceptsWebsocket } from '../http/websocket.ts';
import { ResponseHeadParser } from '../http/response-head.ts';
import { connectFailure } from './connect-failure.ts';
import { keptTrailers } from './http2-heads.ts';
import {
  ORIGIN_FAILURE,
  type OriginFailure,
  type OriginLink,
  type OriginSink,
} from './origin-sink.ts';

/** What a connection reports to the pool it belongs to. */
export interface ConnectionOwner {
  readonly deadlines: Deadlines;
  /** Connected for the first time. */
  connectionOpened(connection: OriginConnection): void;
  /** An answer has begun. */
  requestAnswered(): void;
  /** A request failed by the origin's doing. */
  requestFailed(failure: OriginFailure): void;
  /** It carries a WebSocket from now on, and serves no other request. */
  connectionUpgraded(connection: OriginConnection): void;
  /** Its answer waits for a slow client, or no longer does. */
  connectionPaused(connection: OriginConnection, paused: boolean): void;
  /** Free for the next request. */
  connectionFree(connection: OriginConnection): void;
  /** Gone; `failure` is set when it never connected, `busy` says that it had a request. */
  connectionGone(connection: OriginConnection, failure: OriginFailure | null, busy: boolean): void;
}

/** Where to connect. */
export interface ConnectTarget {
  readonly host: string;
  readonly port: number;
  readonly tls: tls.ConnectionOptions | null;
  /** Finds the addresses of a name; absent for the system's way. */
  readonly lookup?: net.LookupFunction;
}

const PHASE = { CONNECTING: 0, IDLE: 1, HEAD: 2, BODY: 3, GONE: 4 } as const;

/** Read into by every origin socket of the thread; see `OriginSink`. */
const readBuffer = Buffer.allocUnsafeSlow(upstreamLimits.readBufferBytes);

/** Where large pieces are copied to be sent; free again when a write took them all. */
let sendBuffer = newSendBuffer();

/** Room for one read and the head before it. */
function newSendBuffer(): Buffer {
  return Buffer.allocUnsafeSlow(upstreamLimits.readBufferBytes + turnLimits.waitingBytesMax);
}

/** One connection; see the header. */
export class OriginConnection implements OriginLink, DeadlineHolder {
  /** Head of the current response; valid in and after `originHead`, until the next read. */
  readonly head = new ResponseHeadParser();
  headBytes: Uint8Array = readBuffer;
  deadlineMs = Infinity;
  deadlinePlace = -1;
  /** Among the connections of its pool. */
  place = -1;
  /** The request that it was opened for, until it is connected. */
  openedFor: OriginSink | null;
  /** True when it served a request before the current one. */
  reused = false;
  /** Key of the WebSocket that the request asks for; null for every other. */
  websocketKey: string | null = null;
  keepsTrailers = false;
  /** True once bytes go both ways as they are. */
  upgraded = false;

  private readonly owner: ConnectionOwner;
  private readonly socket: net.Socket;
  private readonly out: TurnWriter;
  private readonly reader: TurnReader;
  private readonly decoder = new ChunkedDecoder();
  private sink: OriginSink | null = null;
  private times: OriginTimes;
  private phase: number = PHASE.CONNECTING;
  private pending: Buffer | null = null;
  private remaining = 0;
  private interim = 0;
  private interimBytes = 0;
  private toHead = false;
  private requestSent = false;
  private last = false;
  private responseBegun = false;
  private readPaused = false;
  private readonly secure: boolean;

  constructor(owner: ConnectionOwner, target: ConnectTarget, openedFor: OriginSink) {
    this.owner = owner;
    this.openedFor = openedFor;
    this.times = openedFor.originTimes;
    const onread = {
      buffer: readBuffer,
      callback: (count: number, buffer: Uint8Array): boolean => {
        this.onRead(buffer, count);
        return true;
      },
    };
    const { host, port, lookup } = target;
    const place = lookup === undefined ? { host, port } : { host, port, lookup };
    this.secure = target.tls !== null;
    const opened = (): void => this.onOpened();
    if (target.tls === null) {
      this.socket = net.connect({ ...place, noDelay: true, onread }, opened);
    } else {
      this.socket = tls.connect({ ...target.tls, ...place }, opened);
      this.socket.setNoDelay(true);
      this.socket.on('data', (chunk: Buffer) => this.onRead(chunk, chunk.length));
    }
    this.out = new TurnWriter(this.socket);
    this.reader = new TurnReader(this.socket);
    this.socket.on('drain', () => this.sink?.originDrain());
    this.socket.on('end', () => this.onEnd());
    this.socket.on('error', (error) => this.onGone(error));
    this.socket.on('close', () => this.onGone());
    this.deadlineMs = owner.deadlines.nowMs + this.times.connectTimeoutMs;
    owner.deadlines.add(this);
  }

  /** Where it leads; undefined while it is not connected. */
  get address(): string | undefined {
    return this.socket.remoteAddress;
  }

  /** Gives it a request; write the head next. */
  assign(sink: OriginSink, toHead: boolean): void {
    this.sink = sink;
    this.times = sink.originTimes;
    this.toHead = toHead;
    this.phase = PHASE.HEAD;
    this.interim = 0;
    this.interimBytes = 0;
    this.websocketKey = null;
    this.keepsTrailers = false;
    this.requestSent = false;
    this.last = false;
    this.responseBegun = false;
    this.head.begin(0, toHead);
    this.armFirstByte();
  }

  /**
   * Sends request bytes, which stay as they are; false when the caller should wait for
   * `originDrain`.
   */
  write(bytes: Uint8Array): boolean {
    const { length } = bytes;
    // Copied, they leave in one system call with the head that waits for them.
    const together =
      length > turnLimits.waitingBytesMax && length <= upstreamLimits.readBufferBytes;
    if (together) return this.writeCopy(bytes);
    this.armFirstByte();
    return this.out.write(bytes);
  }

  /** Like `write`, of bytes that may change after this call. */
  writeCopy(bytes: Uint8Array): boolean {
    if (bytes.length <= upstreamLimits.pooledCopyBytesMax) return this.write(Buffer.from(bytes));
    this.armFirstByte();
    const before = this.out.take();
    const length = bytes.length + (before === null ? 0 : before.length);
    const room = sendBuffer.length < length ? Buffer.allocUnsafeSlow(length) : sendBuffer;
    if (before !== null) room.set(before);
    room.set(bytes, length - bytes.length);
    const ready = this.socket.write(room.subarray(0, length));
    // What the system did not take at once is the socket's until it is sent.
    if (room === sendBuffer && this.socket.writableLength > 0) sendBuffer = newSendBuffer();
    return ready;
  }

  /** Sends a head that body bytes may follow in this turn: they leave in one system call. */
  writeHead(bytes: Uint8Array): boolean {
    this.armFirstByte();
    return this.out.write(bytes, true);
  }

  /** The request was written to its end. */
  endRequest(): void {
    this.requestSent = true;
    this.out.release();
  }

  /** The connection serves no other request after the current one. */
  closeAfterResponse(): void {
    this.last = true;
  }

  /** Stops reading the response; the client is slow. */
  pauseRead(): void {
    if (this.readPaused || this.sink === null) return;
    this.readPaused = true;
    this.deadlineMs = Infinity;
    this.reader.pause();
    this.owner.connectionPaused(this, true);
  }

  resumeRead(): void {
    if (!this.readPaused) return;
    this.readPaused = false;
    const waitMs = this.upgraded ? Infinity : this.times.readProgressTimeoutMs;
    this.deadlineMs = this.owner.deadlines.nowMs + waitMs;
    this.reader.resume();
    this.owner.connectionPaused(this, false);
  }

  /** Gives the request up and closes. */
  abandon(): void {
    this.sink = null;
    this.destroy();
  }

  /** Closes; a request still on it is not notified. */
  destroy(): void {
    this.close(ORIGIN_FAILURE.connect);
  }

  private close(whileConnecting: OriginFailure): void {
    const phase = this.phase;
    if (phase === PHASE.GONE) return;
    this.phase = PHASE.GONE;
    this.owner.deadlines.remove(this);
    this.pending = null;
    this.socket.destroy();
    const failure = phase === PHASE.CONNECTING ? whileConnecting : null;
    if (this.upgraded) return;
    this.owner.connectionGone(this, failure, phase === PHASE.HEAD || phase === PHASE.BODY);
  }

  onDeadline(): void {
    if (this.phase === PHASE.CONNECTING) this.close(ORIGIN_FAILURE.connectTimeout);
    else if (this.phase === PHASE.HEAD) this.fail(ORIGIN_FAILURE.firstByteTimeout);
    else if (this.phase === PHASE.BODY) this.fail(ORIGIN_FAILURE.readTimeout);
    else this.destroy();
  }

  private armFirstByte(): void {
    if (this.phase !== PHASE.HEAD) return;
    this.deadlineMs = this.owner.deadlines.nowMs + this.times.firstByteTimeoutMs;
  }

  private onOpened(): void {
    if (this.phase !== PHASE.CONNECTING) return;
    this.openedFor = null;
    this.becomeIdle();
    this.owner.connectionOpened(this);
  }

  private becomeIdle(): void {
    this.phase = PHASE.IDLE;
    this.deadlineMs = this.owner.deadlines.nowMs + this.idleMs;
  }

  /** How long to wait for the next request: less than the origin says, so that we close first. */
  private get idleMs(): number {
    const { idleSeconds } = this.head;
    if (idleSeconds < 0) return upstreamLimits.idleTimeoutMs;
    const saidMs = idleSeconds * 1000;
    const marginMs = Math.min(upstreamLimits.idleMarginMs, saidMs / 2);
    return Math.min(upstreamLimits.idleTimeoutMs, saidMs - marginMs);
  }

  private fail(failure: OriginFailure): void {
    const sink = this.sink;
    this.sink = null;
    this.destroy();
    if (failure !== ORIGIN_FAILURE.stale) this.owner.requestFailed(failure);
    sink?.originFailed(failure);
  }

  private onGone(error?: Error): void {
    if (this.phase === PHASE.HEAD || this.phase === PHASE.BODY) {
      const stale = this.reused && !this.responseBegun;
      this.fail(stale ? ORIGIN_FAILURE.stale : ORIGIN_FAILURE.closed);
    } else this.close(connectFailure(error, this.secure));
  }

  private onEnd(): void {
    if (this.phase === PHASE.BODY && this.head.framing === BODY.CLOSE) this.finishResponse(false);
    else this.onGone();
  }

  private onRead(buffer: Uint8Array, count: number): void {
    const sink = this.sink;
    if (sink === null) return this.destroy();
    this.responseBegun = true;
    if (!this.readPaused && !this.upgraded) {
      this.deadlineMs = this.owner.deadlines.nowMs + this.times.readProgressTimeoutMs;
    }
    if (this.phase === PHASE.BODY) this.readBody(buffer, 0, count);
    else this.readHead(buffer, count);
    if (this.sink === sink) sink.originTurnEnd();
    this.reader.took(count);
  }

  private readHead(buffer: Uint8Array, count: number): void {
    let bytes = buffer;
    let end = count;
    if (this.pending !== null) {
      bytes = Buffer.concat([this.pending, buffer.subarray(0, count)]);
      end = bytes.length;
    }
    for (;;) {
      const result = this.head.execute(bytes, end);
      if (result === SCAN.REFUSED) return this.fail(ORIGIN_FAILURE.badResponse);
      if (result === SCAN.MORE) {
        this.pending = Buffer.from(bytes.subarray(0, end));
        return;
      }
      if (this.head.status >= 200) break;
      if (this.head.status === 101 && this.upgrades(bytes)) return this.tunnel(bytes, end);
      if (!this.takeInterim(bytes)) return;
    }
    this.pending = null;
    this.beginBody(bytes, end);
  }

  /** Passes an informational answer on; false when the request is over. */
  private takeInterim(bytes: Uint8Array): boolean {
    const { head, sink } = this;
    this.interimBytes += head.headEnd - head.spans[SPAN.lineStart]!;
    const many =
      ++this.interim > upstreamLimits.interimResponsesMax ||
      this.interimBytes > upstreamLimits.interimBytesMax;
    if (head.status === 101 || many) {
      this.fail(ORIGIN_FAILURE.badResponse);
      return false;
    }
    this.headBytes = bytes;
    if (head.status !== 100) sink!.originInterim(this);
    if (this.sink !== sink) return false;
    head.begin(head.headEnd, this.toHead);
    return true;
  }

  /** True when the origin proves that it opens the WebSocket that was asked for. */
  private upgrades(bytes: Uint8Array): boolean {
    return this.websocketKey !== null && acceptsWebsocket(bytes, this.head, this.websocketKey);
  }

  /** RFC 9110 section 7.8: after the head, bytes go both ways as they are. */
  private tunnel(bytes: Uint8Array, end: number): void {
    this.pending = null;
    this.upgraded = true;
    this.owner.connectionUpgraded(this);
    this.head.framing = BODY.CLOSE;
    this.beginBody(bytes, end);
    // The client's side watches how long both are silent.
    this.deadlineMs = Infinity;
  }

  private beginBody(bytes: Uint8Array, end: number): void {
    this.phase = PHASE.BODY;
    this.headBytes = bytes;
    this.owner.requestAnswered();
    if (this.head.framing === BODY.CHUNKED) this.decoder.reset(this.keepsTrailers);
    this.remaining = this.head.framing === BODY.LENGTH ? this.head.contentLength : 0;
    this.sink!.originHead(this);
    if (this.sink === null) return;
    if (this.head.framing === BODY.NONE) this.finishResponse(this.head.headEnd === end);
    else if (this.head.headEnd < end) this.readBody(bytes, this.head.headEnd, end);
  }

  private readBody(bytes: Uint8Array, start: number, end: number): void {
    const sink = this.sink!;
    if (this.head.framing === BODY.CHUNKED) return this.readChunks(bytes, start, end);
    if (this.head.framing === BODY.CLOSE) return sink.originBody(bytes, start, end);
    const stop = Math.min(end, start + this.remaining);
    this.remaining -= stop - start;
    sink.originBody(bytes, start, stop);
    if (this.remaining === 0 && this.sink === sink) this.finishResponse(stop === end);
  }

  private readChunks(bytes: Uint8Array, start: number, end: number): void {
    const sink = this.sink!;
    const result = this.decoder.decode(bytes, start, end);
    if (result === SCAN.REFUSED) return this.fail(ORIGIN_FAILURE.badResponse);
    if (this.decoder.dataEnd > start) sink.originBody(bytes, start, this.decoder.dataEnd);
    if (result === SCAN.DONE && this.sink === sink) {
      this.finishResponse(this.decoder.consumed === end);
    }
  }

  /** The response is complete; `clean` says that no unrequested bytes followed it. */
  private finishResponse(clean: boolean): void {
    const sink = this.sink!;
    const { framing } = this.head;
    const trailers = framing === BODY.CHUNKED ? keptTrailers(this.decoder.trailers) : '';
    this.sink = null;
    if (this.readPaused) {
      this.readPaused = false;
      this.reader.resume();
      this.owner.connectionPaused(this, false);
    }
    if (clean && this.requestSent && !this.last && this.head.keepAlive && this.idleMs > 0) {
      this.reused = true;
      this.becomeIdle();
      sink.originEnd(trailers);
      if (this.phase === PHASE.IDLE) this.owner.connectionFree(this);
    } else {
      this.destroy();
      sink.originEnd(trailers);
    }
  }
}
