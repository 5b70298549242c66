/**
 * The HTTP/2 sessions of one thread to one origin address, for requests that need HTTP/2 (gRPC):
 * how many there are, which has room, who waits for one. Cleartext begins with prior knowledge
 * (RFC 9113 section 3.3), TLS has to agree on h2.
 */

import http2, { type ClientHttp2Session } from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import { http2OriginLimits, upstreamLimits } from '../../base/delivery-limits.ts';
import type { DeadlineHolder, Deadlines } from '../base/deadlines.ts';
import { Places } from '../base/places.ts';
import { connectFailure } from './connect-failure.ts';
import { Http2OriginStream, type Http2StreamOwner } from './http2-origin-stream.ts';
import type { ConnectTarget } from './origin-connection.ts';
import { ORIGIN_FAILURE, type OriginFailure, type OriginSink } from './origin-sink.ts';

/** What an address does with what becomes of requests. */
export interface Http2OriginOwner {
  readonly deadlines: Deadlines;
  requestAnswered(): void;
  requestFailed(failure: OriginFailure): void;
}

/** Sessions to one address; see the header. */
export class Http2Origin {
  private readonly owner: Http2OriginOwner;
  private readonly target: ConnectTarget;
  private readonly sessions = new Set<OriginSession>();
  private closed = false;

  constructor(owner: Http2OriginOwner, target: ConnectTarget) {
    this.owner = owner;
    this.target = target;
  }

  /** Finds room for a request: at once on an open session, or when one is connected. */
  acquire(sink: OriginSink): void {
    const free = [...this.sessions].find((session) => session.hasRoom);
    if (free !== undefined) return free.take(sink);
    const full = this.sessions.size >= http2OriginLimits.sessionsMax;
    if (full || this.closed) return sink.originFailed(ORIGIN_FAILURE.busy);
    const { connectTimeoutMs } = sink.originTimes;
    const gone = (session: OriginSession): unknown => this.sessions.delete(session);
    const made = new OriginSession(this.owner, this.target, connectTimeoutMs, gone);
    this.sessions.add(made);
    made.take(sink);
  }

  /** Takes a request that still waits out of the queue. */
  cancel(sink: OriginSink): void {
    for (const session of this.sessions) session.cancel(sink);
  }

  /** Ends each session with its last request. */
  close(): void {
    this.closed = true;
    for (const session of this.sessions) session.close();
  }
}

class OriginSession implements Http2StreamOwner, DeadlineHolder {
  deadlineMs: number;
  deadlinePlace = -1;
  readonly deadlines: Deadlines;
  readonly scheme: 'http' | 'https';
  private readonly owner: Http2OriginOwner;
  private readonly onGone: (session: OriginSession) => unknown;
  private readonly session: ClientHttp2Session;
  private readonly streams = new Places<Http2OriginStream>();
  private waiting: OriginSink[] = [];
  private connected = false;
  private ending = false;
  private gone = false;

  constructor(
    owner: Http2OriginOwner,
    target: ConnectTarget,
    connectTimeoutMs: number,
    onGone: (session: OriginSession) => unknown,
  ) {
    this.owner = owner;
    this.onGone = onGone;
    this.deadlines = owner.deadlines;
    this.scheme = target.tls === null ? 'http' : 'https';
    this.deadlineMs = owner.deadlines.nowMs + connectTimeoutMs;
    owner.deadlines.add(this);
    const socket = connect(target);
    this.session = http2.connect(`${this.scheme}://origin`, {
      createConnection: () => socket,
      settings: { enablePush: false, maxHeaderListSize: http2OriginLimits.headBytesMax },
      maxSessionMemory: http2OriginLimits.sessionMegabytesMax,
    });
    this.session.on('connect', () => this.onConnected(socket));
    this.session.on('goaway', () => (this.ending = true));
    this.session.on('error', (error) => this.end(error));
    this.session.on('close', () => this.end(undefined));
  }

  get hasRoom(): boolean {
    if (this.ending || this.gone) return false;
    const offered = this.session.remoteSettings?.maxConcurrentStreams ?? Infinity;
    const room = Math.min(offered, http2OriginLimits.streamsMax);
    return this.streams.size + this.waiting.length < room;
  }

  take(sink: OriginSink): void {
    if (!this.connected) return void this.waiting.push(sink);
    this.deadlineMs = Infinity;
    const stream = new Http2OriginStream(this, this.session, sink);
    stream.place = this.streams.add(stream);
    sink.originReady(stream);
  }

  cancel(sink: OriginSink): void {
    this.waiting = this.waiting.filter((one) => one !== sink);
  }

  close(): void {
    this.ending = true;
    if (this.streams.size === 0 && this.waiting.length === 0) this.session.destroy();
  }

  requestAnswered(): void {
    this.owner.requestAnswered();
  }

  requestFailed(failure: OriginFailure): void {
    this.owner.requestFailed(failure);
  }

  streamGone(stream: Http2OriginStream): void {
    this.streams.remove(stream.place, stream);
    if (this.gone || this.streams.size > 0) return;
    if (this.ending) this.session.close();
    else this.deadlineMs = this.deadlines.nowMs + upstreamLimits.idleTimeoutMs;
  }

  /** No connection in time, or nothing to do for long. */
  onDeadline(): void {
    if (!this.connected) this.end(undefined, ORIGIN_FAILURE.connectTimeout);
    else this.end(undefined);
  }

  private onConnected(socket: net.Socket): void {
    if (socket instanceof tls.TLSSocket && socket.alpnProtocol !== 'h2') {
      return this.end(undefined, ORIGIN_FAILURE.tls);
    }
    this.connected = true;
    this.deadlineMs = Infinity;
    for (const sink of this.waiting.splice(0)) this.take(sink);
  }

  private end(error: Error | undefined, known?: OriginFailure): void {
    if (this.gone) return;
    this.gone = true;
    this.deadlineMs = Infinity;
    this.deadlines.remove(this);
    this.onGone(this);
    this.session.destroy();
    const failure = known ?? connectFailure(error, this.scheme === 'https');
    if (!this.connected && this.waiting.length > 0) this.owner.requestFailed(failure);
    for (const sink of this.waiting.splice(0)) sink.originFailed(failure);
    for (const stream of [...this.streams]) stream.fail(ORIGIN_FAILURE.closed);
  }
}

function connect({ host, port, lookup, tls: options }: ConnectTarget): net.Socket {
  const place = { host, port, ...(lookup && { lookup }) };
  if (options === null) return net.connect({ ...place, noDelay: true });
  const socket = tls.connect({ ...options, ...place, ALPNProtocols: ['h2'] });
  socket.setNoDelay(true);
  return socket;
}
