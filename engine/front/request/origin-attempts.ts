/**
 * How one request finds an origin that answers: whose turn it is, another address when one refuses,
 * and again after a pause where the upstream asks for it. Never sends a request twice that an
 * origin may have begun to serve.
 */

import type { Deadlines } from '../../base/deadlines.ts';
import { upstreamLimits } from '../../../base/delivery-limits.ts';
import type { EndpointPool } from '../../upstream/endpoint-pool.ts';
import {
  neverConnected,
  ORIGIN_FAILURE,
  type OriginFailure,
  type OriginSink,
} from '../../upstream/origin-sink.ts';
import type { Upstream } from '../../upstream/upstream.ts';

/** What a request needs of a connection. */
export interface OriginWish {
  /** The request is HEAD: its answer has no body. */
  readonly toHead: boolean;
  readonly http2: boolean;
}

/** Attempts of one request. */
export class OriginAttempts {
  /** The address that was asked last. */
  pool: EndpointPool | null = null;
  private readonly sink: OriginSink;
  private readonly deadlines: Deadlines;
  private upstream: Upstream | null = null;
  private wish: OriginWish = { toHead: false, http2: false };
  /** Attempts beyond the first. */
  resends = -1;
  private attempts = 0;
  /** The address that is asked first while it answers; null for whose turn it is. */
  private preferred: EndpointPool | null = null;
  private waiting = false;
  private pause: NodeJS.Timeout | null = null;
  private untilMs = 0;

  constructor(sink: OriginSink, deadlines: Deadlines) {
    this.sink = sink;
    this.deadlines = deadlines;
  }

  start(upstream: Upstream, wish: OriginWish, preferred: EndpointPool | null = null): void {
    this.upstream = upstream;
    this.preferred = preferred;
    this.wish = wish;
    this.untilMs = performance.now() + upstream.retryDurationMs;
    this.connect(null, false);
  }

  /** The sink got a connection. */
  connected(): void {
    this.waiting = false;
  }

  /**
   * After a failure before any answer: true when another attempt is on its way. `repeatable` says
   * that the request may be sent twice.
   */
  again(failure: OriginFailure, repeatable: boolean): boolean {
    this.waiting = false;
    const upstream = this.upstream!;
    if (failure === ORIGIN_FAILURE.stale) {
      if (!repeatable || this.attempts >= upstreamLimits.attemptsMax) return false;
      this.connect(null, true);
      return true;
    }
    if (!neverConnected(failure)) return false;
    if (this.attempts < upstreamLimits.attemptsMax) {
      const other = upstream.pick(this.deadlines.nowMs, this.pool);
      if (other !== null && other !== this.pool) {
        this.acquire(other, false);
        return true;
      }
    }
    if (performance.now() + upstream.retryIntervalMs >= this.untilMs) return false;
    this.pause = setTimeout(() => this.next(), upstream.retryIntervalMs);
    return true;
  }

  /** The request ended: nothing is waited for any more. */
  stop(): void {
    if (this.pause !== null) clearTimeout(this.pause);
    this.pause = null;
    if (this.waiting) this.pool!.cancel(this.sink);
    this.waiting = false;
  }

  private next(): void {
    this.pause = null;
    this.attempts = 0;
    this.connect(this.pool, false);
  }

  private connect(avoid: EndpointPool | null, fresh: boolean): void {
    const { nowMs } = this.deadlines;
    const { preferred } = this;
    const stays = preferred !== null && preferred !== avoid && preferred.answers(nowMs);
    const pool = stays ? preferred : this.upstream!.pick(nowMs, avoid);
    if (pool === null) this.sink.originFailed(ORIGIN_FAILURE.noEndpoint);
    else this.acquire(pool, fresh);
  }

  private acquire(pool: EndpointPool, fresh: boolean): void {
    this.attempts++;
    this.resends++;
    this.pool = pool;
    this.waiting = true;
    if (this.wish.http2) pool.acquireHttp2(this.sink);
    else pool.acquire(this.sink, this.wish.toHead, fresh);
  }
}
