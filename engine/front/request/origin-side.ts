/**
 * The way of one request to an origin that answers: the choice by path, whose turn it is, another
 * address when one refuses, and again after a pause where the upstream asks for it. Never sends a
 * request twice that an origin may have begun to serve, and never decides what a failure is
 * answered with.
 */

import { upstreamLimits } from '../../../base/delivery-limits.ts';
import type { OriginSpan } from '../../contract/request-trace.ts';
import type { AnswerRules } from '../../guard/site-delivery.ts';
import { namesExtensions } from '../../http/websocket.ts';
import type { RouteResult } from '../../phases/phase-host.ts';
import type { EndpointPool } from '../../upstream/endpoint-pool.ts';
import {
  neverConnected,
  ORIGIN_FAILURE,
  type OriginFailure,
  type OriginLink,
  type OriginSink,
} from '../../upstream/origin-sink.ts';
import { readSetCookies, withAttributes, withSetCookies } from '../../upstream/set-cookies.ts';
import type { StickyCookie } from '../../upstream/sticky-origins.ts';
import type { TracedRequest } from '../facts/tracer.ts';
import type { OriginChoice, PathRoutes } from '../path-routes.ts';
import { hasField, type RequestHeadFacts } from '../wire/forward-heads.ts';
import { isGrpc } from './grpc.ts';
import type { RequestState } from './request-state.ts';

/** The origin of one request; see the header. */
export class OriginSide {
  private readonly request: RequestState;
  private readonly sink: OriginSink;
  private choice: OriginChoice | null = null;
  /** What the visitor's cookies say of an address; null where none stays. */
  private cookie: StickyCookie | null = null;
  private connection: OriginLink | null = null;
  /** The address that was asked last. */
  private pool: EndpointPool | null = null;
  /** The request is gRPC. */
  private http2 = false;
  private attempts = 0;
  /** Attempts beyond the first. */
  private resends = -1;
  /** A connection is waited for. */
  private waiting = false;
  private pause: NodeJS.Timeout | null = null;
  private untilMs = 0;
  private sentUs = 0;
  /** When an origin was first looked for, and when the last one was done with; 0 for not yet. */
  private askedUs = 0;
  private doneUs = 0;

  /** `sink` hears of connections and failures. */
  constructor(request: RequestState, sink: OriginSink) {
    this.request = request;
    this.sink = sink;
  }

  /** The span of the request to the origin, of a request that ended at `endUs`. */
  span({ originSpanId: spanId }: TracedRequest, endUs: number): OriginSpan | null {
    const { askedUs, doneUs, request, resends, choice } = this;
    if (askedUs === 0 || choice === null) return null;
    const fromUs = Math.round(askedUs - request.startedUs);
    const untilUs = Math.round((doneUs === 0 ? endUs : doneUs) - request.startedUs);
    const { skip, upstream } = choice;
    const { scheme } = upstream;
    return { spanId, fromUs, untilUs, status: request.originStatus, scheme, skip, resends };
  }

  /** Chooses the origin by the path as it is forwarded. */
  choose(origins: PathRoutes): RouteResult {
    const { request } = this;
    const { bytes, head } = request;
    const choice = origins.choose(bytes, head.pathStart, head.pathEnd);
    if (choice === null) return 'unrouted';
    if ('reason' in choice) return choice;
    const { canary } = choice;
    const { clientIp } = request.requestClient.facts;
    const goes = canary !== null && canary.rule.takes(bytes, head, clientIp);
    this.choice = goes ? canary.choice : choice;
    request.upstreamId = this.choice.upstreamId;
    request.routeId = this.choice.routeId;
    return 'routed';
  }

  /** Looks for a connection to what was chosen. */
  connect(): void {
    const { head, bytes, front, trace } = this.request;
    if (trace !== null) this.askedUs = front.clock.monotonicUs();
    const { upstream, sticky } = this.choice!;
    if (sticky !== null) this.cookie = sticky.read(bytes, head);
    this.http2 = isGrpc(bytes, head);
    this.untilMs = performance.now() + upstream.retryDurationMs;
    this.attempt(null, false);
  }

  /** A connection is there: gives what the head that goes over it says. */
  connected(
    connection: OriginLink,
    vouchedLines: string,
    inspected: boolean,
    inspectsMessages: boolean,
  ): RequestHeadFacts {
    const { head, requestId, requestClient, trace, front } = this.request;
    this.connection = connection;
    this.waiting = false;
    this.sentUs = front.clock.monotonicUs();
    const { skip, fields, fieldsWithoutCookie } = this.choice!;
    const others = this.cookie?.others ?? null;
    // The cookie that names an address is for nobody else.
    const rewritten = others !== null && fieldsWithoutCookie !== null;
    const cookieLine = rewritten && others !== '' ? `Cookie: ${others}\r\n` : '';
    connection.websocketKey = head.websocketKey;
    if (head.wantsTrailers) connection.keepsTrailers = true;
    return {
      forwardedLines: requestClient.forwardedLines,
      vouchedLines: cookieLine === '' ? vouchedLines : vouchedLines + cookieLine,
      defaultHost: this.pool!.name,
      requestId,
      fields: rewritten ? fieldsWithoutCookie : fields,
      skip,
      rewrittenTarget: this.request.rewrittenTarget,
      inspected,
      upgrade: head.websocketKey !== null,
      withoutExtensions: inspectsMessages,
      proved: requestClient.proved === true,
      traceLines: trace?.lines ?? null,
    };
  }

  /**
   * The head of the answer is here; false, and the connection is given up, where the origin takes
   * an extension of WebSockets that it was not offered.
   */
  answered(connection: OriginLink, inspectsMessages: boolean): boolean {
    const { request } = this;
    const { head, headBytes, upgraded } = connection;
    request.originUs = request.front.clock.monotonicUs() - this.sentUs;
    request.originStatus = head.status;
    if (upgraded && inspectsMessages && namesExtensions(headBytes, head)) {
      connection.abandon();
      return false;
    }
    const rules = request.site?.delivery?.answerRules ?? null;
    if (rules !== null || this.cookie !== null) this.changeFields(rules, connection);
    return true;
  }

  /** What the site changes by what the answer says, and the cookie of visitors who stay. */
  private changeFields(rules: AnswerRules | null, { head, headBytes }: OriginLink): void {
    const { request } = this;
    const secure = request.requestClient.facts.scheme === 'https';
    let set = readSetCookies(headBytes, head);
    let line = '';
    if (this.cookie !== null) {
      const { current, pool } = this.cookie;
      const sticky = this.choice!.sticky!;
      const stays = (current && pool === this.pool) || this.pool === null;
      set = sticky.foreign(set);
      line = stays ? '' : sticky.line(this.pool!, secure);
    }
    if (rules !== null) {
      set = withAttributes(set, rules.cookies, secure);
      for (const one of rules.defaults) if (!hasField(headBytes, head, one.name)) line += one.line;
    }
    request.answerFields = withSetCookies(request.answerFields, set, line);
  }

  /** Nothing more comes of the connection. */
  done(): void {
    this.connection = null;
    if (this.request.trace !== null) this.doneUs = this.request.front.clock.monotonicUs();
  }

  /** The request ended: nothing of the origin is waited for any more. */
  stop(): void {
    this.connection?.abandon();
    this.connection = null;
    if (this.pause !== null) clearTimeout(this.pause);
    this.pause = null;
    if (this.waiting) this.pool!.cancel(this.sink);
    this.waiting = false;
  }

  // ---- attempts

  /** After a failure before any answer: true when another attempt is on its way. */
  again(failure: OriginFailure, hasBody: boolean): boolean {
    this.connection = null;
    this.waiting = false;
    const { upstream } = this.choice!;
    if (failure === ORIGIN_FAILURE.stale) {
      const repeatable = !hasBody && repeatableMethods.has(this.request.texts.method);
      if (!repeatable || this.attempts >= upstreamLimits.attemptsMax) return false;
      this.attempt(null, true);
      return true;
    }
    if (!neverConnected(failure)) return false;
    if (this.attempts < upstreamLimits.attemptsMax) {
      const other = upstream.pick(this.request.front.deadlines.nowMs, this.pool);
      if (other !== null && other !== this.pool) {
        this.acquire(other, false);
        return true;
      }
    }
    if (performance.now() + upstream.retryIntervalMs >= this.untilMs) return false;
    this.pause = setTimeout(() => this.next(), upstream.retryIntervalMs);
    return true;
  }

  private next(): void {
    this.pause = null;
    this.attempts = 0;
    this.attempt(this.pool, false);
  }

  /** Asks the address of the visitor while it answers, else whose turn it is. */
  private attempt(avoid: EndpointPool | null, fresh: boolean): void {
    const { nowMs } = this.request.front.deadlines;
    const preferred = this.cookie?.pool ?? null;
    const stays = preferred !== null && preferred !== avoid && preferred.answers(nowMs);
    const pool = stays ? preferred : this.choice!.upstream.pick(nowMs, avoid);
    if (pool === null) this.sink.originFailed(ORIGIN_FAILURE.noEndpoint);
    else this.acquire(pool, fresh);
  }

  private acquire(pool: EndpointPool, fresh: boolean): void {
    this.attempts++;
    this.resends++;
    this.pool = pool;
    this.request.endpoint = pool.name;
    this.waiting = true;
    if (this.http2) pool.acquireHttp2(this.sink);
    else pool.acquire(this.sink, this.request.head.isHead, fresh);
  }
}

/** RFC 9110 section 9.2.2; no body would have to be sent again. */
const repeatableMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']);
