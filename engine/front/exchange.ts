/**
 * Owns the life of one request: its phases, what verdicts and failed inspections lead to, the way
 * to the origin, and the one event in which it ends on every path. Bytes in, bytes out; the
 * connection owns sockets and order, the response side what comes back.
 */

import type { PhaseResult } from '../contract/inspection-failure.ts';
import type { BodySnapshot } from '../contract/message.ts';
import type { RequestEvent, RequestOutcome } from '../contract/events.ts';
import { noConfiguration, type ResponseScenario } from '../contract/site.ts';
import type { TransactionRecord, Verdict } from '../contract/verdict.ts';
import { REFUSAL } from '../http/refusal.ts';
import type { RequestHeadParser } from '../http/request-head.ts';
import type { OriginConnection } from '../upstream/origin-connection.ts';
import type { OriginFailure, OriginSink } from '../upstream/origin-sink.ts';
import type { ClientPort } from './client-port.ts';
import type { RequestHeadFacts } from './forward-heads.ts';
import type { FrontContext } from './front-context.ts';
import type { Generation, Route } from './generation.ts';
import type { Holder } from './held-budget.ts';
import { InspectionRun } from './inspection-run.ts';
import { OriginAttempts } from './origin-attempts.ts';
import { writeOwnAnswer } from './own-answer.ts';
import type { OriginChoice } from './path-routes.ts';
import { describeRequest, type RequestTexts } from './request-texts.ts';
import { requestClient, type RequestClient } from './request-client.ts';
import { RequestRelay } from './request-relay.ts';
import { ResponseSide, type ResponseOwner } from './response-side.ts';

/** What happens to the request body. */
const UP = { WAIT: 0, HOLD: 1, FLOW: 2, DONE: 3 } as const;

/** One request; see the header. */
export class Exchange implements OriginSink, ResponseOwner {
  readonly head: RequestHeadParser;
  readonly bytes: Buffer;
  requestId = '';

  private readonly front: FrontContext;
  private readonly client: ClientPort;
  private readonly startedUs: number;
  private readonly generation: Generation;
  private route: Route | null = null;
  private requestClient: RequestClient;
  private readonly inspection = new InspectionRun();
  private texts: RequestTexts | null = null;
  private ended = false;

  private up: number = UP.DONE;
  private readonly request: RequestRelay;
  private bodySnapshot: BodySnapshot | null = null;

  private readonly attempts: OriginAttempts;
  private choice: OriginChoice | null = null;
  private origin: OriginConnection | null = null;
  private sentUs = 0;
  private originUs = -1;

  private readonly response: ResponseSide;

  private status = 0;
  private outcome: RequestOutcome = 'served';
  private refusal: string | null = null;
  private blockedByRule = false;
  private ownBytes = 0;

  constructor(front: FrontContext, client: ClientPort, bytes: Buffer, startedUs: number) {
    this.front = front;
    this.client = client;
    this.requestClient = client;
    this.head = client.parser;
    this.bytes = bytes;
    this.startedUs = startedUs;
    this.generation = front.generation;
    this.generation.acquire();
    this.request = new RequestRelay(front, this.head);
    this.response = new ResponseSide(front, this, this.inspection);
    this.attempts = new OriginAttempts(this, front.deadlines);
  }

  // ---- what the connection asks

  /** True while body bytes from the client are welcome. */
  get wantsBody(): boolean {
    return this.up === UP.HOLD || (this.up === UP.FLOW && !this.request.blocked);
  }

  /** True while the origin takes no more body bytes. */
  get bodyBlocked(): boolean {
    return this.up === UP.FLOW && this.request.blocked;
  }

  get bodyComplete(): boolean {
    return this.up === UP.DONE;
  }

  /** Begins: the head is complete. */
  start(): void {
    this.describe();
    const route = this.generation.find(this.client.host());
    this.route = route;
    this.requestClient = requestClient(this.front, route, this.client, this.bytes);
    if (this.request.hasBody) {
      this.up = UP.WAIT;
      if (this.head.contentLength > this.front.settings.requestBodyBytesMax) {
        return this.refuse(413, REFUSAL.bodyTooLarge.reason);
      }
    }
    if (route === null) return this.answerUnrouted();
    if (route.inspector === null) return this.afterRequestBody();
    this.inspection.open(route.inspector, {
      requestId: this.requestId,
      receivedAtMs: this.texts!.receivedAtMs,
      siteId: route.site.id,
      connection: this.requestClient.facts,
      head: { bytes: this.bytes, spans: this.head.copySpans() },
    });
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
    return this.request.read(bytes, start, end);
  }

  /** Handles what `readBody` found from `start` on. */
  acceptBody(bytes: Buffer, start: number): void {
    const { request } = this;
    const { fault } = request;
    if (fault !== null) {
      return this.response.streaming ? this.cut() : this.refuse(fault.status, fault.reason);
    }
    if (this.up === UP.FLOW) {
      request.forward(bytes, start);
      if (request.bodyRead) this.bodyEnded();
      return;
    }
    if (!request.hold(bytes, start)) return this.refuse(503, 'memory');
    if (request.bodyRead) this.bodyEnded();
    const { limitBytes, onExcess } = this.inspection.bodyNeed;
    if (request.bodyRead || request.bodyBytes > limitBytes) this.takeSnapshot(limitBytes, onExcess);
  }

  bodyTimedOut(): void {
    if (this.response.streaming) this.cut();
    else this.refuse(408, 'body_timeout');
  }

  /** The whole took too long, or (`gone`) the client takes nothing any more. */
  timedOut(gone: boolean): void {
    if (gone || this.response.streaming) {
      this.outcome = 'client_abort';
      return this.cut();
    }
    if (this.wantsBody) return this.bodyTimedOut();
    this.outcome = 'origin_error';
    this.refusal = 'total_timeout';
    this.answerError(504, this.bodyComplete);
  }

  clientDrained(): void {
    this.response.drained();
  }

  /** The connection is gone; nothing can be answered any more. */
  clientGone(): void {
    if (this.ended) return;
    if (this.outcome === 'served') this.outcome = 'client_abort';
    this.end(false);
  }

  // ---- inspection

  /** Runs a phase; continues at once when the answer is synchronous. */
  inspect(phase: number): void {
    const { inspection, response } = this;
    const body = phase <= 2 ? this.bodySnapshot : response.body;
    const result = inspection.call(phase, body, response.snapshot);
    if (!(result instanceof Promise)) return this.afterPhase(phase, result);
    void result.then((settled) => {
      if (this.ended) return;
      this.afterPhase(phase, settled);
      if (!this.ended) response.turnEnd();
    });
  }

  private afterPhase(phase: number, result: PhaseResult): void {
    if (result.action === 'failed') {
      if (this.refusesUninspected()) return;
    } else if (result.action !== 'pass') {
      this.inspection.active = false;
      if (this.route!.site.waf.mode === 'blocking') return this.enforce(result);
    }
    if (phase === 1) this.afterRequestHead();
    else if (phase === 2) this.afterRequestBody();
    else if (phase === 3) this.response.afterHead();
    else this.response.release();
  }

  /**
   * What a failed inspection leads to, wherever it ran, whatever failed, and in every mode:
   * `closed` answers 503, `open` continues without inspection. True when the request is answered.
   */
  private refusesUninspected(): boolean {
    this.inspection.active = false;
    if (this.route!.site.waf.failPolicy === 'open') return false;
    this.outcome = 'inspection_failed';
    this.answer(503, 'service_unavailable', this.bodyComplete, null);
    return true;
  }

  private afterRequestHead(): void {
    if (!this.inspection.active) return this.afterRequestBody();
    const need = this.inspection.bodyNeed;
    if (this.up === UP.DONE || !need.inspect) return this.inspect(2);
    if (need.onExcess === 'reject' && this.head.contentLength > need.limitBytes) {
      return this.refuse(413, 'body_over_inspection_limit');
    }
    this.sendContinue();
    this.up = UP.HOLD;
    this.request.holder = this.holder();
    this.client.bodyWanted(true);
  }

  private takeSnapshot(limitBytes: number, onExcess: 'reject' | 'prefix'): void {
    const truncated = this.request.bodyBytes > limitBytes;
    if (truncated && onExcess === 'reject') return this.refuse(413, 'body_over_inspection_limit');
    const whole = this.request.joinHeld();
    if (this.up === UP.HOLD) this.up = UP.WAIT;
    this.client.bodyWanted(false);
    this.bodySnapshot = { bytes: truncated ? whole.subarray(0, limitBytes) : whole, truncated };
    this.inspect(2);
  }

  private afterRequestBody(): void {
    this.bodySnapshot = null;
    const refusal = this.head.refusal;
    if (refusal !== null) return this.refuse(refusal.status, refusal.reason);
    const { head } = this;
    const choice = this.route!.origins.choose(this.bytes, head.pathStart, head.pathEnd);
    if (choice === null) return this.answerUnrouted();
    if ('reason' in choice) return this.refuse(choice.status, choice.reason);
    this.choice = choice;
    this.attempts.start(choice.upstream, head.isHead);
  }

  private enforce(verdict: Verdict): void {
    this.blockedByRule = true;
    this.outcome = 'blocked';
    if (verdict.action === 'drop') return this.cut();
    const location = verdict.action === 'redirect' ? verdict.location : undefined;
    this.answer(verdict.status, 'waf_block', this.bodyComplete, location ?? null);
  }

  // ---- the way to the origin

  originReady(connection: OriginConnection): void {
    if (this.ended) return connection.abandon();
    this.origin = connection;
    this.attempts.connected();
    this.sentUs = this.front.clock.monotonicUs();
    this.request.open(connection, this.bytes, this.headFacts());
    if (this.up === UP.DONE) return;
    this.up = UP.FLOW;
    this.sendContinue();
    this.client.bodyWanted(true);
  }

  private headFacts(): RequestHeadFacts {
    const { upstream, skip } = this.choice!;
    return {
      forwardedLines: this.requestClient.forwardedLines,
      defaultHost: this.attempts.pool!.name,
      requestId: this.requestId,
      fields: upstream.fields,
      skip,
      inspected: this.inspection.active,
    };
  }

  private bodyEnded(): void {
    this.up = UP.DONE;
    this.client.bodyWanted(false);
  }

  private sendContinue(): void {
    if (!this.head.expectContinue || this.head.version !== 11) return;
    this.head.expectContinue = false;
    this.client.send(continueLine);
  }

  originDrain(): void {
    if (this.up !== UP.FLOW) return;
    this.request.blocked = false;
    this.client.bodyWanted(true);
  }

  originFailed(failure: OriginFailure): void {
    this.origin = null;
    if (this.ended) return;
    if (this.response.unbegun && this.attempts.again(failure, this.repeatable)) return;
    this.outcome = 'origin_error';
    this.refusal = failure.code;
    if (this.response.streaming && !this.response.relay.takeBack()) return this.cut();
    this.answerError(failure.status, this.bodyComplete);
  }

  /** RFC 9110 section 9.2.2, and no body that would have to be sent again. */
  private get repeatable(): boolean {
    return !this.request.hasBody && repeatableMethods.has(this.texts!.method);
  }

  // ---- the way back

  originHead(connection: OriginConnection): void {
    this.originUs = this.front.clock.monotonicUs() - this.sentUs;
    this.status = connection.head.status;
    const keep = this.head.keepAlive && !this.front.draining && this.bodyComplete;
    this.response.begin(connection, this.head, this.requestId, keep);
  }

  originBody(bytes: Uint8Array, start: number, end: number): void {
    this.response.take(bytes, start, end);
  }

  originEnd(): void {
    this.origin = null;
    // The origin answered without waiting for the whole body: nobody is left to take the rest.
    if (this.up === UP.FLOW) this.up = UP.WAIT;
    this.response.end();
  }

  originTurnEnd(): void {
    this.response.turnEnd();
  }

  send(piece: Uint8Array): boolean {
    return this.client.send(piece);
  }

  pauseOrigin(): void {
    this.origin?.pauseRead();
  }

  resumeOrigin(): void {
    this.origin?.resumeRead();
  }

  holder(): Holder {
    return this.front.held.holder(this.requestClient.facts.clientIp, this.route!.site.id);
  }

  refuseResponse(status: number, reason: string): void {
    this.outcome = 'refused';
    this.refusal = reason;
    this.answerError(status, this.bodyComplete);
  }

  responseSent(): void {
    this.end(this.response.relay.keepAlive && this.bodyComplete);
  }

  // ---- own answers and the end

  private answerUnrouted(): void {
    const { refusal } = this.head;
    if (refusal !== null) return this.refuse(refusal.status, refusal.reason);
    this.outcome = 'unrouted';
    // Before the first configuration nobody knows which hosts there are.
    const known = this.generation.revision !== noConfiguration;
    this.answer(known ? 404 : 503, null, this.bodyComplete, null);
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
    this.attempts.stop();
    this.origin = null;
    this.response.relay.drop();
    this.request.drop();
    const durationUs = this.front.clock.monotonicUs() - this.startedUs;
    if (this.inspection.finish((record) => this.report(durationUs, record))) this.request.recycle();
    this.client.exchangeEnded(keep);
  }

  private report(durationUs: number, transaction: TransactionRecord | null): void {
    const { facts } = this.requestClient;
    const texts = this.texts!;
    const { status, outcome, refusal, originUs, requestId } = this;
    const policyId = this.route?.inspector ? (this.route.site.waf.policyId ?? '') : '';
    this.generation.release();
    const event: RequestEvent = {
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
      referer: texts.referer,
      status,
      outcome,
      blocked: this.blockedByRule,
      refusal,
      bytesIn: this.request.bodyBytes,
      bytesOut: this.ownBytes > 0 ? this.ownBytes : this.response.relay.bodyBytes,
      endpoint: this.attempts.pool?.name ?? null,
      transaction,
    };
    this.front.onRequestDone(event, policyId);
  }
}

const continueLine = Buffer.from('HTTP/1.1 100 Continue\r\n\r\n');
const repeatableMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']);
