/**
 * The connections to one origin address: how many there are, which are idle, who waits. Never
 * chooses between addresses.
 */

import net from 'node:net';
import type tls from 'node:tls';
import type { DeadlineHolder, Deadlines } from '../base/deadlines.ts';
import { Places } from '../base/places.ts';
import { upstreamLimits } from '../../base/delivery-limits.ts';
import type { EndpointConfig } from '../contract/site.ts';
import { Http2Origin } from './http2-origin.ts';
import { OriginConnection, type ConnectionOwner, type ConnectTarget } from './origin-connection.ts';
import type { OriginNames } from './origin-names.ts';
import { ORIGIN_FAILURE, type OriginFailure, type OriginSink } from './origin-sink.ts';

interface Waiter {
  readonly sink: OriginSink;
  readonly toHead: boolean;
  /** Takes only a connection that never served. */
  readonly fresh: boolean;
  readonly untilMs: number;
}

/** When an address that fails is left alone. */
export interface FailureTolerance {
  /** Failures in a row; 0 never leaves it alone. */
  readonly failsMax: number;
  readonly downMs: number;
}

/** What became of requests to one address, in one thread, since the note before. */
export interface EndpointNote {
  /** `host:port`, as pools are named. */
  readonly name: string;
  readonly failed: number;
  readonly answered: boolean;
  /** Code of the last failure. */
  readonly failure: string;
}

const standardTolerance: FailureTolerance = {
  failsMax: 1,
  downMs: upstreamLimits.downAfterFailureMs,
};

/** `host:port`, with brackets round an IPv6 address. */
export function endpointName({ host, port }: Pick<EndpointConfig, 'host' | 'port'>): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Connections of one thread to one address. */
export class EndpointPool implements ConnectionOwner, DeadlineHolder {
  /** `host:port`, with brackets round an IPv6 address. */
  readonly name: string;
  readonly deadlines: Deadlines;
  /** Not asked before this time unless nothing else is left. */
  downUntilMs = 0;
  /** Some thread saw it fail: an answer is worth a note, whoever saw the failures. */
  failing = false;
  deadlineMs = Infinity;
  deadlinePlace = -1;

  private readonly target: ConnectTarget;
  /** Where the address is a name. */
  private readonly names: OriginNames | null;
  /** What probes found last; true where there are none. */
  private isHealthy = true;
  /** When it came back from being left alone; 0 for long ago. */
  private returnedMs = 0;
  private readonly idle: OriginConnection[] = [];
  private readonly all = new Places<OriginConnection>();
  /** Those whose answers wait for slow clients. */
  private readonly paused = new Set<OriginConnection>();
  private waiters: Waiter[] = [];
  /** Sessions for requests that need HTTP/2; null until there is one. */
  private http2: Http2Origin | null = null;
  private busy = 0;
  private closed = false;
  private readonly tolerance: FailureTolerance;
  private fails = 0;
  private lastFailMs = 0;
  /** Since the last note: failures, the last of them, and whether anything was answered. */
  private failed = 0;
  private failure = '';
  private answered = false;
  /** The last note told of failures alone. */
  private troubled = false;

  constructor(
    deadlines: Deadlines,
    config: EndpointConfig,
    tlsOptions: tls.ConnectionOptions | null,
    tolerance: FailureTolerance = standardTolerance,
    names: OriginNames | null = null,
  ) {
    this.tolerance = tolerance;
    this.deadlines = deadlines;
    const { host, port } = config;
    this.names = net.isIP(host) === 0 ? names : null;
    this.target = { host, port, tls: tlsOptions, ...(this.names && { lookup: this.names.lookup }) };
    this.name = endpointName(config);
    deadlines.add(this);
  }

  get healthy(): boolean {
    return this.isHealthy;
  }

  set healthy(healthy: boolean) {
    if (healthy && !this.isHealthy) this.returnedMs = this.deadlines.nowMs;
    this.isHealthy = healthy;
  }

  /** True while neither probes nor requests found it failing. */
  answers(nowMs: number): boolean {
    return this.isHealthy && this.downUntilMs <= nowMs;
  }

  /**
   * The part of its weight that it gets: who comes back is not met by all of its share at once.
   * Cost: one comparison for an address that did not fail.
   */
  share(nowMs: number): number {
    if (this.returnedMs === 0) return 1;
    const { slowReturnMs, returnShareMin } = upstreamLimits;
    const part = (nowMs - this.returnedMs) / slowReturnMs;
    if (part >= 1) this.returnedMs = 0;
    return Math.min(1, Math.max(part, returnShareMin));
  }

  /**
   * Finds a connection for `sink`: an idle one at once (`originReady` comes before this returns), a
   * new one, or a place in the queue. `fresh` asks for one that never served.
   */
  acquire(sink: OriginSink, toHead: boolean, fresh: boolean): void {
    if (!fresh) {
      const connection = this.takeIdle();
      if (connection !== undefined) return this.hand(connection, sink, toHead);
    }
    if (this.waiters.length >= upstreamLimits.waitingPerEndpointMax) {
      return sink.originFailed(ORIGIN_FAILURE.busy);
    }
    const untilMs = this.deadlines.nowMs + upstreamLimits.queueTimeoutMs;
    this.waiters.push({ sink, toHead, fresh, untilMs });
    if (this.deadlineMs > untilMs) this.deadlineMs = untilMs;
    this.openMore();
  }

  /** Finds room for `sink` on an HTTP/2 session. */
  acquireHttp2(sink: OriginSink): void {
    this.http2 ??= new Http2Origin(this, this.target);
    this.http2.acquire(sink);
  }

  /** Takes a request that still waits out of the queue. */
  cancel(sink: OriginSink): void {
    this.http2?.cancel(sink);
    this.waiters = this.waiters.filter((waiter) => waiter.sink !== sink);
  }

  /** Closes idle connections now and the others when they become free. */
  close(): void {
    this.closed = true;
    this.http2?.close();
    for (const connection of this.idle.splice(0)) connection.destroy();
    if (this.all.size === 0) this.deadlines.remove(this);
  }

  connectionOpened(connection: OriginConnection): void {
    this.place(connection);
  }

  /** What a WebSocket uses is not missing to requests. */
  connectionUpgraded(connection: OriginConnection): void {
    this.all.remove(connection.place, connection);
    this.paused.delete(connection);
    this.busy--;
    if (this.waiters.length > 0) this.openMore();
  }

  connectionPaused(connection: OriginConnection, paused: boolean): void {
    if (!paused || !this.all.has(connection.place, connection))
      return void this.paused.delete(connection);
    this.paused.add(connection);
    if (this.waiters.length > 0) this.openMore();
  }

  connectionFree(connection: OriginConnection): void {
    this.busy--;
    this.place(connection);
  }

  connectionGone(connection: OriginConnection, failure: OriginFailure | null, busy: boolean): void {
    this.all.remove(connection.place, connection);
    this.paused.delete(connection);
    if (busy) this.busy--;
    const at = this.idle.indexOf(connection);
    if (at >= 0) this.idle.splice(at, 1);
    if (failure !== null) this.onConnectFailed(failure, connection);
    else if (this.waiters.length > 0) this.openMore();
    if (this.closed && this.all.size === 0) this.deadlines.remove(this);
  }

  /** Waits in the queue end here; the first have a connection on its way, with its own deadline. */
  onDeadline(nowMs: number): void {
    const coming = this.connecting();
    const late = this.waiters.filter(({ untilMs }, at) => at >= coming && untilMs <= nowMs);
    this.waiters = this.waiters.filter((waiter) => !late.includes(waiter));
    this.deadlineMs = this.waiters[0]?.untilMs ?? Infinity;
    for (const waiter of late) waiter.sink.originFailed(ORIGIN_FAILURE.busy);
  }

  requestAnswered(): void {
    this.fails = 0;
    if (this.downUntilMs > this.deadlines.nowMs) this.returnedMs = this.deadlines.nowMs;
    this.downUntilMs = 0;
    this.answered = true;
  }

  /** What became of requests since the last call; null where nothing is worth a word. */
  drainNote(): EndpointNote | null {
    const { failed, answered, failure, troubled, name } = this;
    this.failed = 0;
    this.answered = false;
    if (failed === 0 && !(answered && (troubled || this.failing))) return null;
    this.troubled = !answered;
    return { name, failed, answered, failure };
  }

  requestFailed(failure: OriginFailure): void {
    this.failed++;
    this.troubled = true;
    this.failure = failure.code;
    const { failsMax, downMs } = this.tolerance;
    const now = this.deadlines.nowMs;
    // What lies further back than an address is left alone for says nothing any more.
    this.fails = now - this.lastFailMs > downMs ? 1 : this.fails + 1;
    this.lastFailMs = now;
    if (failsMax === 0 || this.fails < failsMax) return;
    this.downUntilMs = now + downMs;
    this.returnedMs = this.downUntilMs;
  }

  /** A kept connection; those whose address is no longer that of the name are closed. */
  private takeIdle(): OriginConnection | undefined {
    const { names, idle, target } = this;
    for (let last = idle.pop(); last !== undefined; last = idle.pop()) {
      if (names === null || names.holds(target.host, last.address)) return last;
      last.destroy();
    }
    return undefined;
  }

  private onConnectFailed(failure: OriginFailure, { openedFor }: OriginConnection): void {
    this.requestFailed(failure);
    // It was opened for one waiter: one fails with it, the first where that one is served.
    if (this.waiters.length > this.connecting()) {
      const at = this.waiters.findIndex(({ sink }) => sink === openedFor);
      this.waiters.splice(Math.max(0, at), 1)[0]!.sink.originFailed(failure);
    }
    this.openMore();
  }

  private connecting(): number {
    return this.all.size - this.busy - this.idle.length;
  }

  /** What waits for slow clients is not missing to requests: else a few of them stop a site. */
  private room(): number {
    const { connectionsPerEndpointMax, pausedPerEndpointMax } = upstreamLimits;
    const paused = Math.min(this.paused.size, pausedPerEndpointMax);
    return connectionsPerEndpointMax + paused - this.all.size;
  }

  private openMore(): void {
    const missing = this.waiters.length - this.connecting();
    for (let i = Math.min(missing, this.room()); i > 0; i--) {
      // Each connection under way is for one of those who wait, in their order.
      const { sink } = this.waiters[this.connecting()]!;
      const connection = new OriginConnection(this, this.target, sink);
      connection.place = this.all.add(connection);
    }
  }

  private place(connection: OriginConnection): void {
    const waiter = this.takeWaiter(connection.reused);
    if (waiter !== undefined) return this.hand(connection, waiter.sink, waiter.toHead);
    // Who still waits here wants a new one, which may need the room.
    const needed = this.waiters.length > 0 && this.room() <= 0;
    const full = this.idle.length >= upstreamLimits.idlePerEndpointMax;
    if (this.closed || full || needed) connection.destroy();
    else this.idle.push(connection);
  }

  /** Takes the first that a connection suits out of the queue. */
  private takeWaiter(reused: boolean): Waiter | undefined {
    if (!reused) return this.waiters.shift();
    const at = this.waiters.findIndex(({ fresh }) => !fresh);
    return at < 0 ? undefined : this.waiters.splice(at, 1)[0];
  }

  private hand(connection: OriginConnection, sink: OriginSink, toHead: boolean): void {
    this.busy++;
    connection.assign(sink, toHead);
    sink.originReady(connection);
  }
}
