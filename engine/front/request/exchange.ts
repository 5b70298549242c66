/**
 * One live request: hands what the client, the origin and the phase driver report on to each other,
 * and ends in one event on every path. The sides know nothing of one another and of the driver:
 * what they say comes of a call is carried out here.
 */

import type { GuardVerdict } from '../../contract/guard.ts';
import type { BodySnapshot, RequestSnapshot } from '../../contract/message.ts';
import type { OriginTimes } from '../../contract/request-times.ts';
import { noConfiguration } from '../../contract/site.ts';
import type { Verdict } from '../../contract/verdict.ts';
import type { RequestView } from '../../guard/request-view.ts';
import type { Refusal } from '../../http/refusal.ts';
import type { FrameFault } from '../../http/websocket-frames.ts';
import { PhaseDriver } from '../../phases/phase-driver.ts';
import type { PhaseHost, RouteResult } from '../../phases/phase-host.ts';
import {
  ORIGIN_FAILURE,
  type OriginFailure,
  type OriginLink,
  type OriginSink,
} from '../../upstream/origin-sink.ts';
import type { ClientPort } from '../client-port.ts';
import type { FrontContext } from '../front-context.ts';
import { inspectsMessages, WebsocketTunnel } from '../websocket/websocket-tunnel.ts';
import { answerInstead, type DeliveryAnswer } from './delivery.ts';
import { OriginSide } from './origin-side.ts';
import { plainError, sendOwnAnswer, type OwnWording } from './own-answer.ts';
import { reportRequest, requestEvent } from './request-event.ts';
import { RequestEvidence } from './request-evidence.ts';
import { noRoom, RequestSide, TAKEN } from './request-side.ts';
import { RequestState } from './request-state.ts';
import { ANSWER, ResponseSide, type AnswerEvent, type AnswerSink } from './response-side.ts';
import { RestGate } from './rest-gate.ts';

/** One request; see the header. */
export class Exchange implements PhaseHost, OriginSink, AnswerSink {
  /** Nobody asks live requests why. */
  readonly guardTrace = null;
  private readonly front: FrontContext;
  private readonly client: ClientPort;
  private readonly state: RequestState;
  private readonly phases: PhaseDriver;
  private readonly request: RequestSide;
  private readonly response: ResponseSide;
  private readonly origin: OriginSide;
  private readonly evidence: RequestEvidence;
  private tunnel: WebsocketTunnel | null = null;

  constructor(front: FrontContext, client: ClientPort, bytes: Buffer, startedUs: number) {
    const state = new RequestState(front, client, bytes, startedUs);
    this.front = front;
    this.client = client;
    this.state = state;
    this.phases = new PhaseDriver(this);
    this.request = new RequestSide(state);
    this.response = new ResponseSide(state, this);
    this.origin = new OriginSide(state, this);
    this.evidence = new RequestEvidence(state);
  }

  // ---- what the connection asks

  get ended(): boolean {
    return this.state.ended;
  }

  /** True while body bytes from the client are welcome. */
  get wantsBody(): boolean {
    return this.request.wantsBody;
  }

  /** True while the origin takes no more body bytes. */
  get bodyBlocked(): boolean {
    return this.request.blocked;
  }

  get bodyComplete(): boolean {
    return this.request.complete;
  }

  /** Proxies that a trust profile proves sent the request. */
  get proved(): boolean {
    return this.state.requestClient.proved === true;
  }

  /** Begins: the head is complete. */
  start(): void {
    const { state } = this;
    state.describe();
    const site = state.findSite();
    this.evidence.begin(this.request.hasBody);
    state.beginTrace(this.proved);
    const decided = answerInstead(state);
    if (decided === null) this.phases.start(site);
    else this.answerDelivery(decided);
  }

  /** Takes framing off bytes [start, end); says where what follows the body begins. */
  readBody(bytes: Buffer, start: number, end: number): number {
    return this.request.read(bytes, start, end);
  }

  /** Handles what `readBody` found from `start` on. */
  acceptBody(bytes: Buffer, start: number): void {
    const event = this.request.accept(bytes, start);
    if (event === TAKEN.ENOUGH) this.phases.bodyHeld(this.request.bodyBytes);
    else if (event === TAKEN.REFUSED) this.refuseOrCut(this.request.refusal!);
  }

  bodyTimedOut(): void {
    this.refuseOrCut({ status: 408, reason: 'body_timeout' });
  }

  /** What waits for the request has no room. */
  crowdedOut(): void {
    this.refuseOrCut(noRoom);
  }

  /** The whole took too long, or (`gone`) the client takes nothing any more. */
  timedOut(gone: boolean): void {
    if (gone || this.response.streaming) {
      this.state.outcome = 'client_abort';
      this.cut();
    } else if (this.wantsBody) this.bodyTimedOut();
    else this.failOrigin({ status: 504, code: 'total_timeout' });
  }

  clientDrained(): void {
    this.answerCame(this.response.drained());
  }

  /** The connection is gone; nothing can be answered any more. */
  clientGone(): void {
    if (this.ended) return;
    if (this.state.outcome === 'served') this.state.outcome = 'client_abort';
    this.end(false);
  }

  /**
   * The client gave the request up before it began: it is recorded, and nothing looks at it.
   * `routed`: its head was read well, so that a site can be named.
   */
  abandoned(routed: boolean): void {
    if (this.ended) return;
    this.state.describe();
    if (routed) this.state.findSite();
    this.clientGone();
  }

  private refuseOrCut({ status, reason }: { status: number; reason: string }): void {
    if (this.response.streaming) this.cut();
    else this.refuse(status, reason);
  }

  // ---- what the phase driver asks

  get hasBody(): boolean {
    return this.request.hasBody;
  }

  get bodyLength(): number {
    return this.state.head.contentLength;
  }

  get bodyBytesMax(): number {
    return this.state.bodyBytesMax;
  }

  get headRefusal(): Refusal | null {
    return this.state.head.refusal;
  }

  get answerHasBody(): boolean {
    return this.response.hasBody;
  }

  view(): RequestView {
    return this.state.view();
  }

  snapshot(): RequestSnapshot {
    return this.state.snapshot();
  }

  admitsInspection(): boolean {
    return this.front.overload.admits();
  }

  holdBody(): void {
    this.request.hold(this.phases.bodyNeed.limitBytes);
  }

  takeBody(limitBytes: number): BodySnapshot {
    return this.request.takeHeld(limitBytes);
  }

  route(): RouteResult {
    return this.origin.choose(this.state.site!.origins);
  }

  connect(): void {
    this.origin.connect();
  }

  holdAnswer(): void {
    this.answerCame(this.response.hold(this.phases.answerNeed.limitBytes));
  }

  takeAnswer(limitBytes: number): BodySnapshot {
    const held = this.response.takeHeld(limitBytes);
    this.evidence.takeAnswer(held);
    return held;
  }

  releaseAnswer(): void {
    this.answerCame(this.response.release());
  }

  resumed(): void {
    this.response.turnEnd();
  }

  // ---- how the product ends it

  /** Answers with an error of our own and closes; status 0 closes without an answer. */
  refuse(status: number, reason: string): void {
    const { state } = this;
    if (state.described === null) {
      state.describe();
      // Nobody has said yet who sent it.
      state.beginTrace(false);
    }
    state.outcome = 'refused';
    state.refusal = reason;
    if (status === 0) this.cut();
    else this.answer(status, plainError, false);
  }

  refuseAnswer(status: number, reason: string): void {
    this.state.outcome = 'refused';
    this.state.refusal = reason;
    this.answer(status, plainError, this.bodyComplete);
  }

  answerUnrouted(): void {
    this.state.outcome = 'unrouted';
    // Before the first configuration nobody knows which hosts there are.
    const known = this.state.generation.revision !== noConfiguration;
    this.answer(known ? 404 : 503, plainError, this.bodyComplete);
  }

  answerUninspected(): void {
    this.state.outcome = 'inspection_failed';
    if (this.answerBegun) return this.cut();
    const wording: OwnWording = { ...plainError, scenario: 'service_unavailable' };
    this.answer(503, wording, this.bodyComplete);
  }

  /** How the request came, or its site, decides the answer. */
  private answerDelivery(delivery: DeliveryAnswer): void {
    const { status, reason, location } = delivery;
    if (reason !== null) {
      this.state.outcome = 'refused';
      this.state.refusal = reason;
    }
    this.answer(status, { ...plainError, location, delivery }, this.bodyComplete);
  }

  enforce(verdict: Verdict): void {
    this.state.blocked = true;
    this.state.outcome = 'blocked';
    if (verdict.action === 'drop' || this.answerBegun) return this.cut();
    const location = verdict.action === 'redirect' ? (verdict.location ?? null) : null;
    const wording: OwnWording = { ...plainError, scenario: 'waf_block', location };
    this.answer(verdict.status, wording, this.bodyComplete);
  }

  enforceGuard(guard: GuardVerdict): void {
    const { action, status, scenario, location = null } = guard;
    this.state.blocked = action !== 'challenge';
    this.state.outcome = this.state.blocked ? 'blocked' : 'challenged';
    this.state.refusal = guard.reason;
    if (action === 'drop') return this.cut();
    this.answer(status, { ...plainError, scenario, location, guard }, this.bodyComplete);
  }

  /** No origin answered, or one broke off before the client had anything of its answer. */
  private failOrigin({ status, code }: { readonly status: number; readonly code: string }): void {
    this.state.outcome = 'origin_error';
    this.state.refusal = code;
    this.answer(status, plainError, this.bodyComplete);
  }

  /** True when the client has some of the origin's answer, so that no other can take its place. */
  private get answerBegun(): boolean {
    return this.response.streaming && !this.response.takeBack();
  }

  private answer(status: number, wording: OwnWording, keep: boolean): void {
    this.end(sendOwnAnswer(this.state, status, wording, this.phases.rateLines, keep));
  }

  /** Ends without (the rest of) an answer. */
  private cut(): void {
    if (this.state.outcome === 'served') this.state.outcome = 'client_abort';
    this.end(false);
    this.client.destroy();
  }

  // ---- what the origin says

  get originTimes(): OriginTimes {
    return this.state.originTimes;
  }

  originReady(connection: OriginLink): void {
    const { phases, request } = this;
    if (this.ended) return connection.abandon();
    const run = phases.bodyRest;
    if (run !== null) request.openRest(new RestGate(run, request, phases), run.inspected);
    const { inspects } = phases;
    request.open(
      connection,
      this.origin.connected(connection, this.vouchedLines, inspects, this.inspectsMessages),
    );
  }

  /** Ready header lines that origins may believe; '' for none. */
  private get vouchedLines(): string {
    const { grantedLines } = this.phases;
    if (this.state.site?.site.delivery?.clientCertificates === undefined) return grantedLines;
    return (this.client.tls?.shown?.lines ?? '') + grantedLines;
  }

  originDrain(): void {
    this.request.drained();
  }

  originInterim(connection: OriginLink): void {
    if (!this.ended) this.response.interim(connection, this.phases.rateLines);
  }

  originHead(connection: OriginLink): void {
    const { origin, response, phases } = this;
    if (!origin.answered(connection, this.inspectsMessages)) {
      return this.originFailed(ORIGIN_FAILURE.badResponse);
    }
    const keep = this.state.head.keepAlive && !this.front.draining && this.bodyComplete;
    const head = response.begin(connection, keep, phases.rateLines, phases.inspects);
    if (head !== null) phases.answerBegan(head);
    if (connection.upgraded && !this.ended) this.openTunnel();
  }

  originBody(bytes: Uint8Array, start: number, end: number): void {
    const { tunnel, response } = this;
    if (tunnel === null) return this.answerCame(response.take(bytes, start, end));
    this.answerCame(response.take(bytes, start, tunnel.fromOrigin(bytes, start, end)));
    tunnel.originSent();
  }

  originEnd(trailers = ''): void {
    this.origin.done();
    this.request.abandon();
    this.answerCame(this.response.end(trailers));
  }

  originTurnEnd(): void {
    this.response.turnEnd();
  }

  originFailed(failure: OriginFailure): void {
    const { request, response, origin } = this;
    request.stopSending();
    response.originGone();
    if (this.ended || (response.unbegun && origin.again(failure, request.hasBody))) return;
    origin.done();
    if (!this.answerBegun) return this.failOrigin(failure);
    this.state.outcome = 'origin_error';
    this.state.refusal = failure.code;
    this.cut();
  }

  // ---- what comes of the answer

  answerCame(event: AnswerEvent): void {
    if (event === ANSWER.WAIT) return;
    if (event === ANSWER.ENOUGH) this.phases.answerHeld(this.response.heldBytes);
    else if (event === ANSWER.SENT) this.end(this.response.keepAlive && this.bodyComplete);
    else if (event === ANSWER.NO_ROOM) this.refuseAnswer(noRoom.status, noRoom.reason);
    else this.refuse(0, 'compression');
  }

  // ---- a WebSocket

  /** True where messages are inspected of the WebSocket that the request asks for. */
  private get inspectsMessages(): boolean {
    const { site, head } = this.state;
    if (head.websocketKey === null || this.phases.bypassed) return false;
    return site !== null && inspectsMessages(site);
  }

  private openTunnel(): void {
    const { state, request: side, evidence } = this;
    if (this.inspectsMessages) {
      const opening = requestEvent(state, this.phases.notes, null, null);
      const close = (fault: FrameFault, frame: Buffer | null): void =>
        this.closeTunnel(fault, frame);
      this.tunnel = new WebsocketTunnel({ request: state, side, opening, evidence, close });
    }
    side.openTunnel(this.tunnel?.gate ?? null);
  }

  /** It is closed for what its client sent. */
  private closeTunnel({ reason }: FrameFault, frame: Buffer | null): void {
    if (this.ended) return;
    this.state.outcome = 'refused';
    this.state.refusal = reason;
    if (frame !== null) this.response.sendLast(frame);
    this.end(false);
  }

  // ---- the end

  /** The one end of every path. `keep`: the connection may serve another request. */
  private end(keep: boolean): void {
    const { state, request, response } = this;
    if (state.ended) return;
    state.ended = true;
    this.tunnel?.end();
    this.origin.stop();
    response.drop();
    request.drop();
    state.bytesIn = request.bodyBytes;
    state.bytesOut = response.bodyBytes;
    state.durationUs = this.front.clock.monotonicUs() - state.startedUs;
    const unread = this.phases.finish((record) => {
      state.generation.release();
      reportRequest(state, this.phases, this.origin, record, this.evidence);
      this.evidence.drop();
    });
    if (unread) request.recycle();
    else this.evidence.outliveRequest();
    this.client.exchangeEnded(keep);
  }
}
