/**
 * One client connection: its socket, the bytes not yet read, the order of its requests and its
 * deadlines. One request runs at a time; pipelined ones wait as bytes. Knows nothing of origins.
 */

import type net from 'node:net';
import type { DeadlineHolder } from '../../base/deadlines.ts';
import { frontLimits } from '../../../base/delivery-limits.ts';
import { TurnReader } from '../../base/turn-reader.ts';
import { TurnWriter } from '../../base/turn-writer.ts';
import type { ConnectionFacts } from '../../contract/message.ts';
import type { ClientTimes } from '../../contract/request-times.ts';
import type { TlsFacts } from '../../contract/tls.ts';
import { SCAN } from '../../http/head-scanner.ts';
import { RequestHeadParser } from '../../http/request-head.ts';
import { routingHost } from '../../http/routing-host.ts';
import { forwardedLines, type AcceptedClient } from '../client-facts.ts';
import type { ClientPort } from '../client-port.ts';
import { Exchange } from '../request/exchange.ts';
import type { FrontContext } from '../front-context.ts';
import type { Holder } from '../wire/held-budget.ts';

const empty = Buffer.alloc(0);

/** What a client sends first that speaks HTTP/2 without being asked (RFC 9113 section 3.3). */
const http2Preface = Buffer.from('PRI * HTTP/2.0\r\n\r\n');

/** Who hears what becomes of a connection. */
export interface ConnectionOwner {
  onClosed(connection: ClientConnection): void;
  /** It began with HTTP/2 instead; these are all its bytes. Null where that is not spoken. */
  readonly onHttp2: ((buffer: Buffer, count: number) => void) | null;
}

/** What a deadline means when it comes. */
const WAIT = { IDLE: 0, HEAD: 1, BODY: 2, SEND: 3, LINGER: 4, GRACE: 5, NONE: 6 } as const;

/** One client connection; see the header. */
export class ClientConnection implements ClientPort, DeadlineHolder {
  readonly parser: RequestHeadParser;
  readonly facts: ConnectionFacts;
  readonly tls: TlsFacts | null;
  /** Ready header lines about this connection for origins. */
  readonly forwardedLines: string;
  deadlineMs = Infinity;
  deadlinePlace = -1;
  /** Among the clients of its listener. */
  place = -1;
  /** True while the socket has taken more than it can send. */
  blocked = false;
  closed = false;

  private readonly front: FrontContext;
  private readonly socket: net.Socket;
  private readonly out: TurnWriter;
  private readonly reader: TurnReader;
  private readonly owner: ConnectionOwner;
  private exchange: Exchange | null = null;
  private input: Buffer = empty;
  /** True while `input` is the memory that all sockets are read into. */
  private borrowed = false;
  private inputAt = 0;
  private inputEnd = 0;
  private headStartedUs = 0;
  private totalDeadlineMs = Infinity;
  /** Those of the request that runs, or ran last. */
  private times: ClientTimes;
  private wait: number = WAIT.IDLE;
  /** True while the running request is a WebSocket. */
  private tunnel = false;
  /** True once a request began. */
  private begun = false;
  private running = false;
  private paused = false;
  private ended = false;
  private lingering = false;
  private lingered = 0;
  /** What this connection has in the thread's budget of held bytes. */
  private holder: Holder | null = null;
  private burst = 0;
  /** True after a burst, until others had their turn. */
  private yielding = false;
  private lastAuthority: Buffer = empty;
  private lastHost = '';

  constructor(front: FrontContext, { socket, facts, tls }: AcceptedClient, owner: ConnectionOwner) {
    this.front = front;
    this.times = front.settings;
    this.socket = socket;
    this.tls = tls;
    this.out = new TurnWriter(socket);
    this.reader = new TurnReader(socket);
    this.owner = owner;
    this.parser = new RequestHeadParser(front.settings);
    this.parser.mayUpgrade = true;
    this.parser.reset(0);
    this.facts = facts;
    this.forwardedLines = forwardedLines(this.facts);
    socket.on('drain', () => this.onDrain());
    socket.on('end', () => this.onEnd());
    socket.on('error', () => this.destroy());
    socket.on('close', () => this.onClose());
    this.await(WAIT.HEAD, front.settings.headTimeoutMs);
    front.deadlines.add(this);
  }

  /** True while no request runs and no byte of one has come. */
  get idle(): boolean {
    return this.exchange === null && this.inputAt === this.inputEnd;
  }

  /** Lower-case host without port of the current head. Cost: no string while it does not change. */
  host(): string {
    const { hostStart, hostEnd } = this.parser;
    const last = this.lastAuthority;
    let same = last.length === hostEnd - hostStart;
    for (let i = 0; same && i < last.length; i++) same = last[i] === this.input[hostStart + i];
    if (!same) {
      this.lastAuthority = Buffer.from(this.input.subarray(hostStart, hostEnd));
      this.lastHost = routingHost(this.lastAuthority.toString('latin1'));
    }
    return this.lastHost;
  }

  /** Sends bytes; false when the caller should wait for `clientDrained`. */
  send(bytes: Uint8Array): boolean {
    if (this.closed) return true;
    if (this.wait === WAIT.GRACE) this.await(WAIT.NONE, Infinity);
    if (this.tunnel) this.await(WAIT.BODY, Infinity);
    if (this.out.write(bytes)) return true;
    this.blocked = true;
    this.await(WAIT.SEND, this.times.sendProgressTimeoutMs);
    return false;
  }

  /** The running request wants its body, or wants it no longer. */
  bodyWanted(wanted: boolean): void {
    if (wanted) {
      this.await(WAIT.BODY, this.times.bodyProgressTimeoutMs);
      this.run();
    } else if (this.wait === WAIT.BODY) this.await(WAIT.NONE, Infinity);
    this.updatePause();
  }

  limitTimes(times: ClientTimes): void {
    this.times = times;
    this.totalDeadlineMs = this.front.deadlines.nowMs + times.requestTotalTimeoutMs;
    this.await(WAIT.NONE, Infinity);
  }

  /** A WebSocket is open. */
  tunnelOpened(): void {
    this.tunnel = true;
    this.totalDeadlineMs = Infinity;
    this.bodyWanted(true);
  }

  /** The running request ended. `keep` allows another; else the connection closes. */
  exchangeEnded(keep: boolean): void {
    this.exchange = null;
    this.tunnel = false;
    this.totalDeadlineMs = Infinity;
    if (this.closed) return;
    if (!keep || (this.ended && this.inputAt === this.inputEnd)) return this.linger();
    this.parser.reset(this.inputAt);
    const { draining, settings } = this.front;
    this.await(WAIT.IDLE, draining ? settings.drainIdleMs : this.times.keepAliveTimeoutMs);
    if (this.inputAt < this.inputEnd && !this.running) queueMicrotask(() => this.run());
  }

  /** Closes at once, without an answer. */
  destroy(): void {
    if (this.closed) return;
    this.socket.destroy();
    this.onClose();
  }

  /** Closes after one more request; a client without one gets a moment, it may be on its way. */
  drain(): void {
    if (this.idle && !this.lingering) this.await(this.wait, this.front.settings.drainIdleMs);
  }

  onDeadline(nowMs: number): void {
    const exchange = this.exchange;
    if (exchange !== null) {
      if (this.wait === WAIT.BODY && nowMs < this.totalDeadlineMs) {
        if (exchange.wantsBody || this.tunnel) return exchange.bodyTimedOut();
        // The origin is what is slow; its own deadlines watch it.
        return this.await(WAIT.NONE, Infinity);
      }
      exchange.timedOut(this.wait === WAIT.GRACE || this.wait === WAIT.SEND);
      return;
    }
    if (this.wait === WAIT.HEAD && !this.parser.untouched) {
      this.begin((started) => started.refuse(408, 'head_timeout'));
    } else this.destroy();
  }

  private await(wait: number, ms: number): void {
    // Who closed its side may be gone altogether: until it takes something, there is little time.
    const grace = this.ended && (wait === WAIT.BODY || wait === WAIT.NONE);
    this.wait = grace ? WAIT.GRACE : wait;
    const openMs = this.tunnel && wait === WAIT.BODY ? this.times.websocketIdleMs : ms;
    const forMs = grace ? this.front.settings.halfCloseGraceMs : openMs;
    this.deadlineMs = Math.min(this.front.deadlines.nowMs + forMs, this.totalDeadlineMs);
  }

  /** Takes the first `count` bytes of `buffer`, which is read into again after this call. */
  onRead(buffer: Buffer, count: number): void {
    if (this.lingering) {
      this.lingered += count;
      if (this.lingered > frontLimits.lingerBytesMax) this.destroy();
      return;
    }
    if (this.closed) return;
    if (this.inputAt === this.inputEnd && this.exchange === null && this.parser.untouched) {
      this.headStartedUs = this.front.clock.monotonicUs();
    }
    this.append(buffer, count);
    this.burst = 0;
    this.run();
    if (!this.closed) this.reader.took(count);
  }

  /** Appends bytes to the input; an unfinished head keeps its place or moves to the front. */
  private append(buffer: Buffer, count: number): void {
    if (this.inputAt === this.inputEnd && (this.exchange !== null || this.parser.untouched)) {
      if (this.exchange === null) this.parser.reset(0);
      this.input = buffer;
      this.borrowed = true;
      this.inputAt = 0;
      this.inputEnd = count;
      return;
    }
    const kept = this.inputEnd - this.inputAt;
    const needed = kept + count;
    if (this.inputAt > 0 || needed > this.input.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, Math.min(kept * 2, 262_144)));
      this.input.copy(grown, 0, this.inputAt, this.inputEnd);
      if (this.exchange === null && this.inputAt > 0) this.parser.reset(0);
      this.input = grown;
      this.inputAt = 0;
    }
    buffer.copy(this.input, kept, 0, count);
    this.inputEnd = needed;
  }

  /** Copies what is left of a borrowed input. */
  private own(): void {
    if (!this.borrowed) return;
    this.borrowed = false;
    const { inputAt, inputEnd } = this;
    this.input = inputAt < inputEnd ? Buffer.from(this.input.subarray(inputAt, inputEnd)) : empty;
    // A head that was begun began at the front.
    if (this.exchange === null && inputAt > 0) this.parser.reset(0);
    this.inputAt = 0;
    this.inputEnd = inputEnd - inputAt;
  }

  /** Works through the input: bodies to the running request, heads to new ones. */
  private run(): void {
    if (this.running) return;
    this.running = true;
    while (!this.closed && !this.lingering && this.step());
    this.running = false;
    if (this.ended && this.bodyMissing) this.destroy();
    this.own();
    if (!this.updateHeld()) this.begin((started) => started.refuse(503, 'memory'));
    this.updatePause();
  }

  /** Tells the budget what waits as input; false when a head is no longer to be waited for. */
  private updateHeld(): boolean {
    const bytes = this.inputAt < this.inputEnd ? this.input.length : 0;
    if (bytes === 0 && this.holder === null) return true;
    // Which site it is for is not known yet.
    this.holder ??= this.front.held.holder(this.facts.clientIp, '');
    return this.holder.hold(bytes) || this.exchange !== null || this.closed || this.lingering;
  }

  /** One piece of input; false when it has to wait. */
  private step(): boolean {
    if (this.inputAt === this.inputEnd) return false;
    const exchange = this.exchange;
    if (exchange !== null) {
      if (!exchange.wantsBody) return false;
      if (!this.blocked) this.await(WAIT.BODY, this.times.bodyProgressTimeoutMs);
      const from = this.inputAt;
      this.inputAt = exchange.readBody(this.input, from, this.inputEnd);
      exchange.acceptBody(this.input, from);
      return true;
    }
    // A client that does not take its answers gets no more of them.
    if (this.blocked || this.yielding) return false;
    if (this.burst >= frontLimits.pipelineBurstMax) {
      this.burst = 0;
      this.yielding = true;
      setImmediate(() => this.goOn());
      return false;
    }
    if (this.inputAt > 0) this.own();
    if (this.wait === WAIT.IDLE) this.await(WAIT.HEAD, this.front.settings.headTimeoutMs);
    const result = this.parser.execute(this.input, this.inputEnd);
    if (result === SCAN.MORE) {
      if (this.ended) this.linger();
      return false;
    }
    this.burst++;
    if (result === SCAN.REFUSED) {
      const refusal = this.parser.refusal!;
      this.begin((started) => started.refuse(refusal.status, refusal.reason));
      return false;
    }
    if (this.parser.version === 0 && this.handOver()) return false;
    this.inputAt = this.parser.headEnd;
    this.begin(startExchange);
    return true;
  }

  /** Hands a connection on that begins with HTTP/2; false for every other. */
  private handOver(): boolean {
    const { input, inputEnd, owner } = this;
    if (owner.onHttp2 === null || this.begun) return false;
    if (!input.subarray(0, this.parser.headEnd).equals(http2Preface)) return false;
    this.closed = true;
    this.front.deadlines.remove(this);
    this.inputAt = inputEnd;
    this.updateHeld();
    owner.onHttp2(input, inputEnd);
    return true;
  }

  /** Others had their turn. */
  private goOn(): void {
    this.yielding = false;
    this.run();
  }

  private begin(start: (exchange: Exchange) => void): void {
    this.begun = true;
    this.limitTimes(this.front.settings);
    // A refused head may end anywhere.
    const headEnd = this.inputAt > 0 ? this.inputAt : this.inputEnd;
    const head = this.borrowed ? Buffer.from(this.input.subarray(0, headEnd)) : this.input;
    const exchange = new Exchange(this.front, this, head, this.headStartedUs);
    this.exchange = exchange;
    start(exchange);
    this.headStartedUs = this.front.clock.monotonicUs();
  }

  private updatePause(): void {
    if (this.closed || this.lingering) return;
    const waiting = this.inputEnd - this.inputAt;
    // Nothing is taken of it while a request runs, after a burst, or while no answers are taken.
    const stuck = this.exchange !== null || this.blocked || this.yielding;
    const full = stuck && waiting >= frontLimits.heldInputBytesMax;
    const pause = full || (this.exchange !== null && this.exchange.bodyBlocked);
    if (pause === this.paused) return;
    this.paused = pause;
    if (pause) this.reader.pause();
    else this.reader.resume();
  }

  private onDrain(): void {
    this.blocked = false;
    if (this.exchange === null) return this.run();
    if (this.exchange.wantsBody) this.await(WAIT.BODY, this.times.bodyProgressTimeoutMs);
    else this.await(WAIT.NONE, Infinity);
    this.exchange.clientDrained();
  }

  /** True when the running request waits for body bytes that are not here. */
  private get bodyMissing(): boolean {
    const complete = this.exchange === null || this.exchange.bodyComplete;
    return !complete && this.inputAt === this.inputEnd;
  }

  /** The client will send no more. What is here is served; requests get a moment to finish. */
  private onEnd(): void {
    this.ended = true;
    // What is queued is still sent; then the socket closes by itself.
    if (this.closed || this.lingering) return;
    if (this.idle) return this.linger();
    if (this.exchange !== null) this.await(WAIT.NONE, Infinity);
    this.run();
  }

  /** Sends what is queued, closes our side, and reads away what still comes. */
  private linger(): void {
    if (this.lingering || this.closed) return;
    this.lingering = true;
    this.input = empty;
    this.inputAt = 0;
    this.inputEnd = 0;
    this.updateHeld();
    this.reader.resume();
    this.out.flush();
    this.socket.end();
    const { lingerTimeoutMs } = this.front.settings;
    const sending = this.socket.writableLength > 0;
    this.await(WAIT.LINGER, sending ? this.times.sendProgressTimeoutMs : lingerTimeoutMs);
  }

  private onClose(): void {
    if (this.closed) return;
    this.closed = true;
    this.deadlineMs = Infinity;
    this.front.deadlines.remove(this);
    this.inputAt = this.inputEnd;
    this.updateHeld();
    this.exchange?.clientGone();
    this.exchange = null;
    this.owner.onClosed(this);
  }
}

function startExchange(exchange: Exchange): void {
  exchange.start();
}
