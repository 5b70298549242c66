/**
 * The way of one request to its origin and back: the choice by path, the connection, and what goes
 * over it in either direction. Never decides what a failure is answered with.
 */

import type { RequestHeadParser } from '../../http/request-head.ts';
import type { RouteResult } from '../../phases/phase-host.ts';
import { namesExtensions } from '../../http/websocket.ts';
import {
  ORIGIN_FAILURE,
  type OriginFailure,
  type OriginLink,
  type OriginSink,
} from '../../upstream/origin-sink.ts';
import type { FrontContext } from '../front-context.ts';
import { isGrpc } from './grpc.ts';
import { OriginAttempts } from './origin-attempts.ts';
import type { OriginChoice, PathRoutes } from '../path-routes.ts';
import type { StickyCookie } from '../../upstream/sticky-origins.ts';
import type { OriginSpan } from '../../contract/request-trace.ts';
import type { TracedRequest } from '../facts/tracer.ts';
import type { RequestSide } from './request-side.ts';
import type { ResponseSide } from './response-side.ts';
import type { WebsocketTunnel } from '../websocket/websocket-tunnel.ts';

/** What the way to the origin needs of the request. */
export interface OriginOwner {
  readonly ended: boolean;
  readonly requestId: string;
  /** The client as the trust profile resolves it. */
  readonly clientIp: string;
  /** Ready header lines that name the client to origins. */
  readonly forwardedLines: string;
  /** Ready header lines that origins may believe; '' for none. */
  readonly vouchedLines: string;
  /** Proxies that a trust profile proves sent the request. */
  readonly proved: boolean;
  /** The WebSocket whose messages are inspected; null for none, or none yet. */
  readonly tunnel: WebsocketTunnel | null;
  /** True where messages are inspected of the WebSocket that the request asks for. */
  readonly inspectsMessages: boolean;
  /** True while the rules still inspect. */
  readonly inspected: boolean;
  /** RFC 9110 section 9.2.2, and no body that would have to be sent again. */
  readonly repeatable: boolean;
  /** The client came by TLS. */
  readonly secure: boolean;
  /** Its place in a trace; null for none. */
  readonly trace: TracedRequest | null;
  /** When the request began, by the clock that only goes forward. */
  readonly startedUs: number;
  /** True when the connection to the client may serve another request. */
  readonly keepsClient: boolean;
  readonly request: RequestSide;
  readonly response: ResponseSide;
  /** The origin opened the WebSocket. */
  openTunnel(): void;
  /** No origin answered, or one broke off. */
  originFailed(failure: OriginFailure): void;
}

/** The origin of one request; see the header. */
export class OriginSide implements OriginSink {
  /** From sending the request to the origin's head, microseconds; -1 when none came. */
  originUs = -1;
  /** Status that the origin answered with; 0 for none. */
  status = 0;
  private readonly front: FrontContext;
  private readonly owner: OriginOwner;
  private readonly head: RequestHeadParser;
  private readonly bytes: Buffer;
  private readonly attempts: OriginAttempts;
  private choice: OriginChoice | null = null;
  /** What the visitor's cookies say of an address; null where none stays. */
  private cookie: StickyCookie | null = null;
  private connection: OriginLink | null = null;
  private sentUs = 0;
  /** When an origin was first looked for, and when the last one was done with; 0 for not yet. */
  private askedUs = 0;
  private doneUs = 0;

  constructor(front: FrontContext, owner: OriginOwner, head: RequestHeadParser, bytes: Buffer) {
    this.front = front;
    this.owner = owner;
    this.head = head;
    this.bytes = bytes;
    this.attempts = new OriginAttempts(this, front.deadlines);
  }

  /** `host:port` of the origin that was asked last; null when none was. */
  get endpoint(): string | null {
    return this.attempts.pool?.name ?? null;
  }

  /** The upstream that the path belongs to; '' where none was chosen. */
  get upstreamId(): string {
    return this.choice?.upstreamId ?? '';
  }

  /** The path route that was taken; '' for none. */
  get routeId(): string {
    return this.choice?.routeId ?? '';
  }

  /** The span of the request to the origin, of a request that ended at `endUs`. */
  span({ originSpanId: spanId }: TracedRequest, endUs: number): OriginSpan | null {
    const { askedUs, doneUs, status, owner, attempts, choice } = this;
    if (askedUs === 0 || choice === null) return null;
    const fromUs = Math.round(askedUs - owner.startedUs);
    const untilUs = Math.round((doneUs === 0 ? endUs : doneUs) - owner.startedUs);
    const { skip, upstream } = choice;
    const { scheme } = upstream;
    return { spanId, fromUs, untilUs, status, scheme, skip, resends: attempts.resends };
  }

  /** Chooses the origin by the path as it is forwarded. */
  choose(origins: PathRoutes): RouteResult {
    const choice = origins.choose(this.bytes, this.head.pathStart, this.head.pathEnd);
    if (choice === null) return 'unrouted';
    if ('reason' in choice) return choice;
    const { canary } = choice;
    const { bytes, head, owner } = this;
    const goes = canary !== null && canary.rule.takes(bytes, head, owner.clientIp);
    this.choice = goes ? canary.choice : choice;
    return 'routed';
  }

  /** Looks for a connection to what was chosen. */
  connect(): void {
    const { head, bytes } = this;
    if (this.owner.trace !== null) this.askedUs = this.front.clock.monotonicUs();
    const { upstream, sticky } = this.choice!;
    if (sticky !== null) this.cookie = sticky.read(bytes, head);
    const wish = { toHead: head.isHead, http2: isGrpc(bytes, head) };
    this.attempts.start(upstream, wish, this.cookie?.pool ?? null);
  }

  /** The request ended: nothing of the origin is waited for any more. */
  stop(): void {
    this.connection?.abandon();
    this.attempts.stop();
    this.connection = null;
  }

  pause(): void {
    this.connection?.pauseRead();
  }

  resume(): void {
    this.connection?.resumeRead();
  }

  originReady(connection: OriginLink): void {
    const { owner } = this;
    if (owner.ended) return connection.abandon();
    this.connection = connection;
    this.attempts.connected();
    this.sentUs = this.front.clock.monotonicUs();
    const { skip, fields, fieldsWithoutCookie } = this.choice!;
    const others = this.cookie?.others ?? null;
    // The cookie that names an address is for nobody else.
    const rewritten = others !== null && fieldsWithoutCookie !== null;
    const cookieLine = rewritten && others !== '' ? `Cookie: ${others}\r\n` : '';
    connection.websocketKey = this.head.websocketKey;
    if (this.head.wantsTrailers) connection.keepsTrailers = true;
    owner.request.open(connection, this.bytes, {
      forwardedLines: owner.forwardedLines,
      vouchedLines: cookieLine === '' ? owner.vouchedLines : owner.vouchedLines + cookieLine,
      defaultHost: this.attempts.pool!.name,
      requestId: owner.requestId,
      fields: rewritten ? fieldsWithoutCookie : fields,
      skip,
      inspected: owner.inspected,
      upgrade: this.head.websocketKey !== null,
      withoutExtensions: owner.inspectsMessages,
      proved: owner.proved,
      traceLines: owner.trace?.lines ?? null,
    });
  }

  /** The visitor gets a cookie where another address answered than its cookie names. */
  private keepVisitor(cookie: StickyCookie, { head, headBytes }: OriginLink): void {
    const { relay } = this.owner.response;
    const { pool } = this.attempts;
    const changed = cookie.current && cookie.pool === pool ? null : pool;
    const { sticky } = this.choice!;
    relay.fields = sticky!.answer(relay.fields, [headBytes, head], changed, this.owner.secure);
  }

  originDrain(): void {
    this.owner.request.drained();
  }

  originInterim(connection: OriginLink): void {
    if (!this.owner.ended) this.owner.response.interim(connection, this.head);
  }

  originHead(connection: OriginLink): void {
    const { owner } = this;
    this.originUs = this.front.clock.monotonicUs() - this.sentUs;
    this.status = connection.head.status;
    if (connection.upgraded && owner.inspectsMessages && extended(connection)) {
      connection.abandon();
      return this.originFailed(ORIGIN_FAILURE.badResponse);
    }
    if (this.cookie !== null) this.keepVisitor(this.cookie, connection);
    owner.response.begin(connection, this.head, owner.requestId, owner.keepsClient);
    if (connection.upgraded && !owner.ended) owner.openTunnel();
  }

  originBody(bytes: Uint8Array, start: number, end: number): void {
    const { tunnel, response } = this.owner;
    if (tunnel === null) return response.take(bytes, start, end);
    response.take(bytes, start, tunnel.fromOrigin(bytes, start, end));
    tunnel.originSent();
  }

  originEnd(trailers?: string): void {
    this.connection = null;
    this.done();
    this.owner.request.abandon();
    this.owner.response.end(trailers);
  }

  originTurnEnd(): void {
    this.owner.response.turnEnd();
  }

  originFailed(failure: OriginFailure): void {
    const { owner } = this;
    this.connection = null;
    owner.request.stopSending();
    if (owner.ended) return;
    if (owner.response.unbegun && this.attempts.again(failure, owner.repeatable)) return;
    this.done();
    owner.originFailed(failure);
  }

  private done(): void {
    if (this.owner.trace !== null) this.doneUs = this.front.clock.monotonicUs();
  }
}

/** The origin takes an extension that it was not offered. */
function extended({ headBytes, head }: OriginLink): boolean {
  return namesExtensions(headBytes, head);
}
