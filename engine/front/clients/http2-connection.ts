/**
 * One HTTP/2 connection: its socket, its session, its streams, and how much useless work a client
 * may ask for before the connection ends. Knows nothing of origins.
 */

import type net from 'node:net';
import type { DeadlineHolder } from '../../base/deadlines.ts';
import { floodLimits, http2Limits, turnLimits } from '../../../base/delivery-limits.ts';
import { TurnReader } from '../../base/turn-reader.ts';
import { firstOfTurn, type TurnMember } from '../../base/turn-writer.ts';
import type { ConnectionFacts } from '../../contract/message.ts';
import type { TlsFacts } from '../../contract/tls.ts';
import { HTTP2_CODE, HTTP2_EVENT, Http2Session } from '../../http2/session.ts';
import { forwardedLines, type AcceptedClient } from '../client-facts.ts';
import type { FrontContext } from '../front-context.ts';
import type { Holder } from '../wire/held-budget.ts';
import { Http2Remainders } from './http2-remainders.ts';
import { Http2Stream, type StreamOwner } from './http2-stream.ts';

/** What the session writes into before it is copied for the socket. */
const outBuffer = Buffer.allocUnsafeSlow(http2Limits.outBytes);

/** One connection; see the header. */
export class Http2Connection implements StreamOwner, DeadlineHolder, TurnMember {
  readonly facts: ConnectionFacts;
  readonly tls: TlsFacts | null;
  readonly forwardedLines: string;
  deadlineMs: number;
  deadlinePlace = -1;
  /** Among the clients of its listener. */
  place = -1;
  closed = false;

  private readonly front: FrontContext;
  private readonly socket: net.Socket;
  private readonly reader: TurnReader;
  private readonly onClosed: (connection: Http2Connection) => void;
  private readonly session: Http2Session;
  /** At most as many as it may have at once, in no order. */
  private readonly streams: Http2Stream[] = [];
  /** How long it waits for a request: what the path of the last one says. */
  private keepAliveMs: number;
  /** Those whose requests have not begun, in their order. */
  private unbegun: Http2Stream[] = [];
  private beginDue = false;
  private readonly remainders: Http2Remainders;
  private readonly holder: Holder;
  /** Content that waits in streams, of all of them. */
  private waiting = 0;
  /** Bytes of the heads of all streams. */
  private headBytes = 0;
  private flushing = false;
  private flushDue = false;
  private blocked = false;
  private ending = false;
  /** It is a proxy's, which brings the requests of many: one of them does not speak for all. */
  private shared = false;
  /** What the client may still do without use, and when it was last raised. */
  private patience: number;
  private patienceMs: number;

  constructor(
    front: FrontContext,
    { socket, facts, tls }: AcceptedClient,
    onClosed: (connection: Http2Connection) => void,
  ) {
    this.front = front;
    this.socket = socket;
    this.reader = new TurnReader(socket, turnLimits.frameReadBytesMax);
    this.tls = tls;
    this.facts = facts;
    this.forwardedLines = forwardedLines(this.facts);
    this.onClosed = onClosed;
    this.session = new Http2Session({ ...http2Limits, headBytesMax: front.settings.headBytesMax });
    this.remainders = new Http2Remainders(front.deadlines, (stream) =>
      this.reset(stream, HTTP2_CODE.NO_ERROR),
    );
    this.holder = front.held.holder(this.facts.clientIp, '');
    const { uselessFramesMax } = front.floods.remembers(facts.peerIp) ? floodLimits : http2Limits;
    this.patience = uselessFramesMax;
    this.patienceMs = front.deadlines.nowMs;
    this.deadlineMs = front.deadlines.nowMs + front.settings.headTimeoutMs;
    this.keepAliveMs = front.settings.keepAliveTimeoutMs;
    front.deadlines.add(this);
    socket.on('drain', () => this.onDrain());
    socket.on('end', () => this.destroy());
    socket.on('error', () => this.destroy());
    socket.on('close', () => this.onClose());
    this.flushSoon();
  }

  /** True while no request runs. */
  get idle(): boolean {
    return this.streams.length === 0;
  }

  /** Takes the first `count` bytes of `buffer`, which is read into again after this call. */
  onRead(buffer: Buffer, count: number): void {
    if (this.closed) return;
    this.raisePatience();
    const error = this.session.receive(buffer, count);
    this.handleEvents(buffer);
    this.patience -= this.session.glitches();
    if (error !== 0 || this.patience < 0) return this.endCalmly(error === 0);
    if (this.unbegun.length > 0 && !this.beginDue) {
      // Streams that the session resets end here, before they cost anything.
      this.flush();
      this.beginSome();
    }
    this.flushSoon();
    this.reader.took(count);
  }

  /**
   * Begins requests of streams that are still open: one that was given up by the same read never
   * begins, and many leave others their turn.
   */
  private beginSome(): void {
    this.beginDue = false;
    let at = 0;
    for (let begun = 0; at < this.unbegun.length && !this.closed; at++) {
      if (begun === http2Limits.begunPerTurnMax) break;
      const stream = this.unbegun[at]!;
      if (stream.begin()) begun++;
      this.learn(stream);
    }
    this.unbegun = this.closed ? [] : this.unbegun.slice(at);
    if (this.unbegun.length === 0) return;
    this.beginDue = true;
    setImmediate(() => this.beginSome());
  }

  private handleEvents(input: Buffer): void {
    const events = this.session.events();
    if (events === null) return;
    let heads: Buffer | null = null;
    let headAt = 0;
    for (let at = 0; at < events.length && !this.closed; at += 4) {
      const id = events[at + 1]!;
      const a = events[at + 2]!;
      const b = events[at + 3]!;
      switch (events[at]!) {
        case HTTP2_EVENT.HEAD: {
          heads ??= Buffer.from(this.session.heads());
          if (this.patience >= 0) this.open(id, ownHead(heads, headAt, headAt + a), b);
          headAt += a;
          break;
        }
        case HTTP2_EVENT.DATA:
          this.content(id, input, a, a + b);
          break;
        case HTTP2_EVENT.END:
          this.find(id)?.contentEnded();
          break;
        case HTTP2_EVENT.CLOSE:
          this.streamClosed(id);
          break;
        case HTTP2_EVENT.ANSWERED:
          this.remainders.begin(id);
          break;
        case HTTP2_EVENT.DRAINED:
          this.find(id)?.drained();
          break;
        default:
          // A refused frame; the session answers it, and counts it.
          this.givenUp(this.find(id), (stream) => stream.givenUp());
      }
    }
  }

  private open(id: number, head: Buffer, flags: number): void {
    const stream = new Http2Stream(this.front, this, id, head, flags);
    this.streams.push(stream);
    this.deadlineMs = Infinity;
    this.headBytes += stream.headBytes;
    if (this.hold()) this.unbegun.push(stream);
    else stream.crowdedOut();
  }

  /** Not by a Map, whose members of the past would be kept (`places.ts`). */
  private find(id: number): Http2Stream | undefined {
    return this.streams.find((stream) => stream.id === id);
  }

  /** False where what streams keep is more than this client's share of what a thread holds. */
  private hold(): boolean {
    return this.holder.hold(this.waiting + Math.max(0, this.headBytes - http2Limits.freeHeadBytes));
  }

  private content(id: number, input: Buffer, start: number, end: number): void {
    const stream = this.find(id);
    this.remainders.received(id, end - start);
    if (stream === undefined) return this.session.consume(id, end - start);
    this.waiting += end - start;
    if (!this.hold()) stream.crowdedOut();
    stream.content(input, start, end);
  }

  private streamClosed(id: number): void {
    this.remainders.end(id);
    this.givenUp(this.find(id), (stream) => stream.closed());
  }

  /** A request that was given up, as `ends` says, costs what it cost until then. */
  private givenUp(stream: Http2Stream | undefined, ends: (stream: Http2Stream) => boolean): void {
    if (stream === undefined || !ends(stream)) return;
    this.patience -= http2Limits.framesPerCancelledRequest;
    this.learn(stream);
  }

  private learn({ viaProxies }: Http2Stream): void {
    this.shared ||= viaProxies;
  }

  private raisePatience(): void {
    const { nowMs } = this.front.deadlines;
    const raised = ((nowMs - this.patienceMs) * http2Limits.uselessFramesPerSecond) / 1000;
    this.patienceMs = nowMs;
    this.raise(raised);
  }

  private raise(frames: number): void {
    this.patience = Math.min(this.patience + frames, http2Limits.uselessFramesMax);
  }

  /** Ends because of what the client did; the last frame says why. */
  private endCalmly(tooMuch: boolean): void {
    if (!this.shared) this.front.floods.note(this.facts.peerIp);
    if (tooMuch) this.session.terminate(HTTP2_CODE.ENHANCE_YOUR_CALM);
    this.ending = true;
    this.flush();
    this.destroy();
  }

  // ---- what streams ask

  respond(stream: number, bytes: Uint8Array, start: number, end: number, last: boolean): void {
    if (last) this.raise(http2Limits.framesPerAnswer);
    if (!this.session.respond(stream, bytes, start, end, last)) {
      this.session.reset(stream, HTTP2_CODE.INTERNAL_ERROR);
    }
    this.flushSoon();
  }

  data(stream: number, bytes: Uint8Array, start: number, end: number, last: boolean): boolean {
    if (last) this.raise(http2Limits.framesPerAnswer);
    const free = this.session.data(stream, bytes, start, end, last);
    this.flushSoon();
    return free;
  }

  trailers(stream: number, bytes: Uint8Array, start: number, end: number): void {
    this.session.trailers(stream, bytes, start, end);
  }

  consumed(stream: number, bytes: number): void {
    if (this.closed) return;
    this.waiting -= bytes;
    this.hold();
    this.session.consume(stream, bytes);
    this.flushSoon();
  }

  reset(stream: number, code: number): void {
    if (this.closed) return;
    this.session.reset(stream, code);
    this.flushSoon();
  }

  streamLeft(stream: Http2Stream): void {
    const last = this.streams.pop();
    if (last !== stream) this.streams[this.streams.indexOf(stream)] = last!;
    this.headBytes -= stream.headBytes;
    if (this.closed) return;
    this.hold();
    if (this.streams.length > 0) return;
    this.keepAliveMs = stream.times.keepAliveTimeoutMs;
    this.deadlineMs = this.front.deadlines.nowMs + this.keepAliveMs;
    if (this.front.draining) this.drain();
  }

  // ---- the socket

  /** What streams say in one turn leaves together: at once where they are the turn's first. */
  private flushSoon(): void {
    if (this.flushDue || this.closed) return;
    this.flushDue = true;
    if (firstOfTurn(this)) queueMicrotask(() => this.endTurn());
  }

  /** Sends what streams have said. */
  endTurn(): void {
    this.flushDue = false;
    this.flush();
  }

  private flush(): void {
    if (this.flushing || this.closed) return;
    this.flushing = true;
    while (!this.blocked && !this.closed) {
      const count = this.session.pull(outBuffer);
      if (count <= 0) {
        if (count < 0) this.destroy();
        break;
      }
      if (!this.socket.write(Buffer.from(outBuffer.subarray(0, count)))) this.onBlocked();
      this.handleEvents(outBuffer);
    }
    this.flushing = false;
    if (!this.closed && !this.ending && this.patience < 0) return this.endCalmly(true);
    if (!this.closed && !this.blocked && this.session.finished) this.finish();
  }

  private onBlocked(): void {
    this.blocked = true;
    const { deadlines, settings } = this.front;
    // The most patient of its requests decides: all share the socket.
    const pauses = this.streams.map(({ times }) => times.sendProgressTimeoutMs);
    const waitMs = pauses.length === 0 ? settings.sendProgressTimeoutMs : Math.max(...pauses);
    this.deadlineMs = deadlines.nowMs + waitMs;
  }

  private onDrain(): void {
    this.blocked = false;
    this.deadlineMs = this.idle ? this.front.deadlines.nowMs + this.keepAliveMs : Infinity;
    this.flush();
  }

  onDeadline(): void {
    if (this.blocked || !this.idle || this.ending) return this.destroy();
    this.drain();
  }

  /** Takes no new requests; closes when those that run have ended. */
  drain(): void {
    if (this.closed) return;
    if (!this.ending) this.session.shutdown();
    this.ending = true;
    this.deadlineMs = this.front.deadlines.nowMs + this.front.settings.lingerTimeoutMs;
    this.flush();
    if (this.idle) this.finish();
  }

  private finish(): void {
    if (this.closed) return;
    this.socket.end();
    this.deadlineMs = this.front.deadlines.nowMs + this.front.settings.lingerTimeoutMs;
    this.ending = true;
  }

  destroy(): void {
    if (this.closed) return;
    this.socket.destroySoon();
    this.onClose();
  }

  private onClose(): void {
    if (this.closed) return;
    this.closed = true;
    this.deadlineMs = Infinity;
    this.front.deadlines.remove(this);
    this.remainders.close();
    for (const stream of [...this.streams]) stream.closed();
    this.holder.hold(0);
    this.session.close();
    this.onClosed(this);
  }
}

/** A head [start, end) of several; where they are many, one that stays must not keep all. */
function ownHead(heads: Buffer, start: number, end: number): Buffer {
  const head = heads.subarray(start, end);
  const shared = heads.length <= http2Limits.sharedHeadBytesMax || head.length === heads.length;
  return shared ? head : Buffer.from(head);
}
