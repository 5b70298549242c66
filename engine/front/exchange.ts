/**
 * Owns the life of one request: inspection, the way to the origin and back, and the one event in
 * which it ends on every path. Bytes in, bytes out; the connection owns sockets and order.
 */

import type { InspectionSession, MaybePromise } from '../contract/inspection.ts';
import type { BodySnapshot, ResponseSnapshot } from '../contract/message.ts';
import type { RequestOutcome } from '../contract/events.ts';
import type { ResponseScenario } from '../contract/site.ts';
import type { TransactionRecord, Verdict } from '../contract/verdict.ts';
import { BODY } from '../http/head-scanner.ts';
import { REFUSAL, type Refusal } from '../http/refusal.ts';
import type { RequestHeadParser } from '../http/request-head.ts';
import type { EndpointPool } from '../upstream/endpoint-pool.ts';
import type { OriginConnection } from '../upstream/origin-connection.ts';
import { ORIGIN_FAILURE, type OriginFailure, type OriginSink } from '../upstream/origin-sink.ts';
import { upstreamLimits } from '../base/limits.ts';
import { BodyReader } from './body-reader.ts';
import type { ClientConnection } from './client-connection.ts';
import { LENGTH, writeRequestHead } from './forward-heads.ts';
import type { FrontContext } from './front-context.ts';
import type { Generation, Route } from './generation.ts';
import { writeOwnAnswer } from './own-answer.ts';
import { describeRequest, type RequestTexts } from './request-texts.ts';
import { ResponseRelay } from './response-relay.ts';

/** What happens to the request body. */
const UP = { WAIT: 0, HOLD: 1, FLOW: 2, DONE: 3 } as const;
/** Where the response is. */
const DOWN = { NONE: 0, VERDICT: 1, HOLD: 2, STREAM: 3 } as const;

/** One request; see the header. */
export class Exchange implements OriginSink {
  readonly head: RequestHeadParser;
  readonly bytes: Buffer;
  requestId = '';

  private readonly front: FrontContext;
  private readonly client: ClientConnection;
  private readonly startedUs: number;
  private readonly generation: Generation;
  private route: Route | null = null;
  private session: InspectionSession | null = null;
  private inspecting = false;
  private texts: RequestTexts | null = null;
  private ended = false;

  private up: number = UP.DONE;
  private reader: BodyReader | null = null;
  private readFault: Refusal | null = null;
  private held: Buffer[] = [];
  private bodySnapshot: BodySnapshot | null = null;

  private pool: EndpointPool | null = null;
  private origin: OriginConnection | null = null;
  private attempts = 0;
  private upBlocked = false;
  private sentUs = 0;
  private originUs = -1;

  private down: number = DOWN.NONE;
  private readonly relay: ResponseRelay;
  private responseSnapshot: ResponseSnapshot | null = null;
  private responseDone = false;

  private status = 0;
  private outcome: RequestOutcome = 'served';
  private refusal: string | null = null;
  private blockedByRule = false;
  private ownBytes = 0;

  constructor(front: FrontContext, client: ClientConnection, bytes: Buffer, startedUs: number) {
    this.front = front;
    this.client = client;
    this.head = client.parser;
    this.bytes = bytes;
    this.startedUs = startedUs;
    this.generation = front.generation;
    this.generation.acquire();
    this.relay = new ResponseRelay(front.writer);
  }

  // ---- what the connection asks

  /** True while body bytes from the client are welcome. */
  get wantsBody(): boolean {
    return this.up === UP.HOLD || (this.up === UP.FLOW && !this.upBlocked);
  }

  /** True while the origin takes no more body bytes. */
  get bodyBlocked(): boolean {
    return this.up === UP.FLOW && this.upBlocked;
  }

  get bodyComplete(): boolean {
    return this.up === UP.DONE;
  }

  /** Begins: the head is complete. */
  start(): void {
    this.describe();
    const head = this.head;
    const route = this.generation.find(this.client.host());
    this.route = route;
    if (head.framing !== BODY.NONE) {
      const bytesMax = this.front.settings.requestBodyBytesMax;
      this.up = UP.WAIT;
      this.reader = new BodyReader(head.framing, head.contentLength, bytesMax);
      if (head.contentLength > bytesMax) return this.refuse(413, REFUSAL.bodyTooLarge.reason);
    }
    if (route === null) return this.answerUnrouted();
    if (route.inspector === null) return this.afterRequestBody();
    this.openSession(route);
    this.inspect(1);
  }

  /** Answers with an error of our own and closes; status 0 closes without an answer. */
  refuse(status: number, reason: string): void {
    if (this.texts === null) this.describe();
    this.outcome = 'refused';
    this.refusal = reason;
    if (status === 0) return this.cut();
    this.answerError(status, false);
  }

  /** Takes framing off bytes [start, end); says where what follows the body begins. */
  readBody(bytes: Buffer, start: number, end: number): number {
    const reader = this.reader!;
    this.readFault = reader.read(bytes, start, end);
    return this.readFault === null ? reader.next : end;
  }

  /** Handles what `readBody` found from `start` on. */
  acceptBody(bytes: Buffer, start: number): void {
    const reader = this.reader!;
    const fault = this.readFault;
    if (fault !== null) return this.down === DOWN.STREAM ? this.cut() : this.refuseBody(fault);
    const done = reader.done;
    if (this.up === UP.FLOW) return this.sendBody(bytes, start, reader.dataEnd, done);
    if (reader.dataEnd > start) this.held.push(bytes.subarray(start, reader.dataEnd));
    if (done) this.bodyEnded();
    const need = this.session!.bodyNeed;
    if (done || reader.total > need.limitBytes) this.takeSnapshot(need.limitBytes, need.onExcess);
  }

  bodyTimedOut(): void {
    if (this.down === DOWN.STREAM) this.cut();
    else this.refuse(408, 'body_timeout');
  }

  /** The whole took too long, or (`gone`) the client takes nothing any more. */
  timedOut(gone: boolean): void {
    if (gone || this.down === DOWN.STREAM) {
      this.outcome = 'client_abort';
      return this.cut();
    }
    this.outcome = 'origin_error';
    this.refusal = 'total_timeout';
    this.answerError(504, this.bodyComplete);
  }

  clientDrained(): void {
    this.origin?.resumeRead();
  }

  /** The connection is gone; nothing can be answered any more. */
  clientGone(): void {
    if (this.ended) return;
    if (this.outcome === 'served') this.outcome = 'client_abort';
    this.end(false);
  }

  // ---- inspection

  private openSession(route: Route): void {
    this.inspecting = true;
    this.session = route.inspector!.open({
      requestId: this.requestId,
      receivedAtMs: this.texts!.receivedAtMs,
      siteId: route.site.id,
      connection: this.client.facts,
      head: { bytes: this.bytes, spans: this.head.copySpans() },
    });
  }

  /** Runs a phase; goes on at once when the answer is at hand. */
  private inspect(phase: number): void {
    const result = this.callSession(phase);
    if (!(result instanceof Promise)) return this.afterPhase(phase, result);
    const settle = (verdict: Verdict | null): void => {
      if (this.ended) return;
      this.afterPhase(phase, verdict);
      if (!this.ended && this.down === DOWN.STREAM) this.originTurnEnd();
    };
    result.then(settle, () => settle(null));
  }

  private callSession(phase: number): MaybePromise<Verdict> | null {
    const session = this.session!;
    try {
      if (phase === 1) return session.requestHead();
      if (phase === 2) return session.requestBody(this.bodySnapshot);
      if (phase === 3) return session.responseHead(this.responseSnapshot!);
      return session.responseBody(this.bodySnapshot);
    } catch {
      return null;
    }
  }

  /** `verdict` null: inspection itself failed. */
  private afterPhase(phase: number, verdict: Verdict | null): void {
    const { waf } = this.route!.site;
    if (verdict === null) {
      this.inspecting = false;
      if (waf.failPolicy === 'closed') return this.answerFailedInspection();
    } else if (verdict.action !== 'pass') {
      this.inspecting = false;
      if (waf.mode === 'blocking') return this.enforce(verdict);
    }
    if (phase === 1) this.afterRequestHead();
    else if (phase === 2) this.afterRequestBody();
    else if (phase === 3) this.afterResponseHead();
    else this.afterResponseBody();
  }

  private afterRequestHead(): void {
    if (!this.inspecting) return this.afterRequestBody();
    const need = this.session!.bodyNeed;
    if (this.up === UP.DONE || !need.inspect) return this.inspect(2);
    if (need.onExcess === 'reject' && this.head.contentLength > need.limitBytes) {
      return this.refuse(413, 'body_over_inspection_limit');
    }
    this.sendContinue();
    this.up = UP.HOLD;
    this.client.bodyWanted(true);
  }

  private takeSnapshot(limitBytes: number, onExcess: 'reject' | 'prefix'): void {
    const truncated = this.reader!.total > limitBytes;
    if (truncated && onExcess === 'reject') return this.refuse(413, 'body_over_inspection_limit');
    const whole = joinPieces(this.held);
    this.held = whole.length > 0 ? [whole] : [];
    if (this.up === UP.HOLD) this.up = UP.WAIT;
    this.client.bodyWanted(false);
    this.bodySnapshot = { bytes: truncated ? whole.subarray(0, limitBytes) : whole, truncated };
    this.inspect(2);
  }

  private afterRequestBody(): void {
    this.bodySnapshot = null;
    const refusal = this.head.refusal;
    if (refusal !== null) return this.refuse(refusal.status, refusal.reason);
    this.connect(null, false);
  }

  private enforce(verdict: Verdict): void {
    this.blockedByRule = true;
    this.outcome = 'blocked';
    if (verdict.action === 'drop') return this.cut();
    const keep = this.bodyComplete;
    if (verdict.action === 'redirect' && verdict.location !== undefined) {
      return this.answer(verdict.status, 'waf_block', keep, verdict.location);
    }
    this.answer(verdict.status, 'waf_block', keep, null);
  }

  // ---- the way to the origin

  private connect(avoid: EndpointPool | null, fresh: boolean): void {
    this.attempts++;
    const pool = this.route!.upstream.pick(this.front.deadlines.nowMs, avoid);
    if (pool === null) return this.originFailed(ORIGIN_FAILURE.noEndpoint);
    this.pool = pool;
    pool.acquire(this, this.head.isHead, fresh);
  }

  originReady(connection: OriginConnection): void {
    if (this.ended) return connection.abandon();
    this.origin = connection;
    this.sentUs = this.front.clock.monotonicUs();
    const { writer } = this.front;
    const body = this.held;
    this.held = [];
    writeRequestHead(writer, this.bytes, this.head, this.headFacts(), this.bodyLength(body));
    if (this.up === UP.DONE) {
      for (const piece of body) writer.bytes(piece, 0, piece.length);
      connection.endRequest();
      connection.write(writer.take());
      return;
    }
    this.upBlocked = !connection.write(writer.take());
    for (const piece of body) this.writeBody(piece, 0, piece.length);
    this.up = UP.FLOW;
    if (!this.inspecting) this.sendContinue();
    this.client.bodyWanted(true);
  }

  private headFacts(): { forwardedLines: string; defaultHost: string; requestId: string } {
    const { forwardedLines } = this.client;
    return { forwardedLines, defaultHost: this.pool!.name, requestId: this.requestId };
  }

  /** What the origin is told of the body; a body that is all here gets its length. */
  private bodyLength(held: readonly Buffer[]): number {
    if (this.reader === null) return this.head.contentLength < 0 ? LENGTH.ABSENT : 0;
    if (this.head.framing === BODY.LENGTH) return this.head.contentLength;
    if (this.up !== UP.DONE) return LENGTH.CHUNKED;
    return held.reduce((sum, piece) => sum + piece.length, 0);
  }

  private writeBody(bytes: Buffer, start: number, end: number): void {
    if (end === start) return;
    const origin = this.origin!;
    if (this.head.framing === BODY.LENGTH) {
      if (!origin.write(bytes.subarray(start, end))) this.upBlocked = true;
      return;
    }
    const { writer } = this.front;
    writer.chunkSize(end - start);
    writer.bytes(bytes, start, end);
    writer.crlf();
    if (!origin.write(writer.take())) this.upBlocked = true;
  }

  private sendBody(bytes: Buffer, start: number, end: number, done: boolean): void {
    this.writeBody(bytes, start, end);
    if (!done) return;
    if (this.head.framing === BODY.CHUNKED) {
      this.front.writer.text('0\r\n\r\n');
      this.origin!.write(this.front.writer.take());
    }
    this.origin!.endRequest();
    this.bodyEnded();
  }

  private bodyEnded(): void {
    this.up = UP.DONE;
    this.client.bodyWanted(false);
  }

  private refuseBody(fault: Refusal): void {
    this.refuse(fault.status, fault.reason);
  }

  private sendContinue(): void {
    if (!this.head.expectContinue || this.head.version !== 11) return;
    this.head.expectContinue = false;
    this.client.send(continueLine);
  }

  originDrain(): void {
    if (this.up !== UP.FLOW) return;
    this.upBlocked = false;
    this.client.bodyWanted(true);
  }

  originFailed(failure: OriginFailure): void {
    this.origin = null;
    if (this.ended) return;
    if (this.down === DOWN.NONE && this.attempts < upstreamLimits.attemptsMax) {
      if (failure === ORIGIN_FAILURE.stale && this.repeatable) return this.connect(null, true);
      const unsent =
        failure === ORIGIN_FAILURE.connect || failure === ORIGIN_FAILURE.connectTimeout;
      const other = this.route!.upstream.pick(this.front.deadlines.nowMs, this.pool);
      if (unsent && other !== this.pool) return this.connect(this.pool, false);
    }
    this.outcome = 'origin_error';
    this.refusal = failure.code;
    if (this.down === DOWN.STREAM) return this.cut();
    this.answerError(failure.status, this.bodyComplete);
  }

  /** RFC 9110 section 9.2.2, and no body that would have to be sent again. */
  private get repeatable(): boolean {
    return this.reader === null && repeatableMethods.has(this.texts!.method);
  }

  // ---- the way back

  originHead(connection: OriginConnection): void {
    const { head, headBytes } = connection;
    this.originUs = this.front.clock.monotonicUs() - this.sentUs;
    this.status = head.status;
    const keep = this.head.keepAlive && !this.front.draining && this.bodyComplete;
    this.relay.begin(head, this.head, keep);
    if (!this.inspecting) {
      this.down = DOWN.STREAM;
      return this.relay.writeHead(headBytes, head, this.requestId);
    }
    this.relay.keepHead(headBytes, head, this.requestId);
    const bytes = Buffer.from(headBytes.subarray(0, head.headEnd));
    this.responseSnapshot = { status: head.status, head: { bytes, spans: head.copySpans() } };
    this.down = DOWN.VERDICT;
    this.inspect(3);
  }

  originBody(bytes: Uint8Array, start: number, end: number): void {
    if (this.down === DOWN.STREAM) return this.relay.write(bytes, start, end);
    const total = this.relay.hold(bytes, start, end);
    if (this.down === DOWN.HOLD) {
      const need = this.session!.responseNeed;
      if (total > need.limitBytes) this.inspectHeldResponse(need.limitBytes, need.onExcess);
    } else this.origin?.pauseRead();
  }

  originEnd(): void {
    this.origin = null;
    this.responseDone = true;
    if (this.down === DOWN.STREAM) return this.finishResponse();
    if (this.down === DOWN.HOLD) this.inspectHeldResponse(Infinity, 'prefix');
  }

  originTurnEnd(): void {
    if (this.down !== DOWN.STREAM) return;
    const piece = this.relay.takePiece();
    if (piece !== null && !this.client.send(piece)) this.origin?.pauseRead();
  }

  private afterResponseHead(): void {
    const need = this.inspecting ? this.session!.responseNeed : null;
    if (need === null || !need.inspect || !this.relay.hasBody) {
      return this.inspecting ? this.inspect(4) : this.afterResponseBody();
    }
    this.down = DOWN.HOLD;
    if (this.responseDone || this.relay.heldBytes > need.limitBytes) {
      this.inspectHeldResponse(need.limitBytes, need.onExcess);
    } else this.origin?.resumeRead();
  }

  private inspectHeldResponse(limitBytes: number, onExcess: 'reject' | 'prefix'): void {
    const truncated = this.relay.heldBytes > limitBytes;
    if (truncated && onExcess === 'reject') {
      this.outcome = 'refused';
      this.refusal = 'response_over_inspection_limit';
      return this.answerError(502, this.bodyComplete);
    }
    const whole = this.relay.joinHeld();
    this.bodySnapshot = { bytes: truncated ? whole.subarray(0, limitBytes) : whole, truncated };
    this.down = DOWN.VERDICT;
    this.inspect(4);
  }

  private afterResponseBody(): void {
    this.bodySnapshot = null;
    this.down = DOWN.STREAM;
    this.relay.releaseHeld();
    if (this.responseDone) return this.finishResponse();
    this.origin?.resumeRead();
  }

  private finishResponse(): void {
    this.relay.finish();
    const piece = this.relay.takePiece();
    if (piece !== null) this.client.send(piece);
    this.end(this.relay.keepAlive && this.bodyComplete);
  }

  // ---- own answers and the end

  private answerUnrouted(): void {
    if (this.head.refusal !== null)
      return this.refuse(this.head.refusal.status, this.head.refusal.reason);
    this.outcome = 'unrouted';
    this.answer(404, null, this.bodyComplete, null);
  }

  private answerFailedInspection(): void {
    this.outcome = 'inspection_failed';
    this.answer(503, 'service_unavailable', this.bodyComplete, null);
  }

  private answerError(status: number, keep: boolean): void {
    this.answer(status, null, keep, null);
  }

  private answer(
    status: number,
    scenario: ResponseScenario | null,
    keep: boolean,
    location: string | null,
  ): void {
    const keepAlive = keep && this.head.keepAlive && !this.front.draining;
    const sent = writeOwnAnswer(this.front.writer, {
      status,
      scenario,
      location,
      plain: this.outcome === 'unrouted',
      keepAlive,
      http10: this.head.version === 10,
      isHead: this.head.isHead,
      requestId: this.requestId,
      receivedAtMs: this.texts!.receivedAtMs,
      acceptsHtml: this.texts!.acceptsHtml,
      settings: this.route?.site.responses,
    });
    this.status = sent.status;
    this.ownBytes = sent.bodyBytes;
    this.client.send(this.front.writer.take());
    this.end(keepAlive);
  }

  /** Ends without (the rest of) an answer. */
  private cut(): void {
    if (this.outcome === 'served') this.outcome = 'client_abort';
    this.end(false);
    this.client.destroy();
  }

  private describe(): void {
    const now = this.front.clock.nowMs();
    this.texts = describeRequest(this.bytes, this.head, now);
    this.requestId = this.texts.keptId ?? this.front.ids.next();
  }

  /** The one end of every path. */
  private end(keep: boolean): void {
    if (this.ended) return;
    this.ended = true;
    if (this.origin !== null) this.origin.abandon();
    else this.pool?.cancel(this);
    this.origin = null;
    this.relay.drop();
    const durationUs = this.front.clock.monotonicUs() - this.startedUs;
    this.finishSession(durationUs);
    this.client.exchangeEnded(keep);
  }

  private finishSession(durationUs: number): void {
    let record: MaybePromise<TransactionRecord> | null = null;
    try {
      record = this.session?.finish() ?? null;
    } catch {
      record = null;
    }
    if (!(record instanceof Promise)) return this.report(durationUs, record);
    record.then(
      (done) => this.report(durationUs, done),
      () => this.report(durationUs, null),
    );
  }

  private report(durationUs: number, transaction: TransactionRecord | null): void {
    const { facts } = this.client;
    const texts = this.texts!;
    const { status, outcome, refusal, originUs, requestId } = this;
    this.generation.release();
    this.front.onRequestDone({
      requestId,
      siteId: this.route?.site.id ?? '',
      receivedAtMs: texts.receivedAtMs,
      durationUs,
      originUs,
      clientIp: facts.clientIp,
      clientPort: facts.clientPort,
      method: texts.method,
      host: texts.host,
      target: texts.target,
      httpVersion: texts.httpVersion,
      userAgent: texts.userAgent,
      status,
      outcome,
      blocked: this.blockedByRule,
      refusal,
      bytesIn: this.reader?.total ?? 0,
      bytesOut: this.ownBytes > 0 ? this.ownBytes : this.relay.bodyBytes,
      endpoint: this.pool?.name ?? null,
      transaction,
    });
  }
}

const continueLine = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');
const repeatableMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']);

function joinPieces(pieces: readonly Buffer[]): Buffer {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}
