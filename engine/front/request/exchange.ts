/**
 * One live request: joins the client's connection, the phase driver and the origin, and ends in one
 * event on every path. Bytes in, bytes out; each side is a part of its own.
 */

import type { BodySnapshot, RequestSnapshot } from '../../contract/message.ts';
import type { TlsFacts } from '../../contract/tls.ts';
import type { TransactionRecord } from '../../contract/verdict.ts';
import type { RequestView } from '../../guard/request-view.ts';
import type { Refusal } from '../../http/refusal.ts';
import type { RequestHeadParser } from '../../http/request-head.ts';
import type { FrameFault } from '../../http/websocket-frames.ts';
import { PhaseDriver } from '../../phases/phase-driver.ts';
import type { PhaseHost, RouteResult } from '../../phases/phase-host.ts';
import type { OriginFailure } from '../../upstream/origin-sink.ts';
import type { ClientPort } from '../client-port.ts';
import { deliveryAnswer, strictTransportOf, type DeliveryAnswer } from './delivery.ts';
import type { FrontContext } from '../front-context.ts';
import type { Generation, Route } from '../generation.ts';
import type { Holder } from '../wire/held-budget.ts';
import { OriginSide, type OriginOwner } from './origin-side.ts';
import { RequestEnding, type EndingOwner } from './request-ending.ts';
import { requestEvent, type FinishedRequest } from './request-event.ts';
import { RequestEvidence } from './request-evidence.ts';
import { describeRequest, type RequestTexts } from './request-texts.ts';
import { requestClient, type RequestClient } from './request-client.ts';
import { noRoom, RequestSide } from './request-side.ts';
import { ResponseSide, type ResponseOwner } from './response-side.ts';
import type { TracedRequest } from '../facts/tracer.ts';
import type { MessageOpening } from '../websocket/websocket-message.ts';
import {
  inspectsMessages,
  WebsocketTunnel,
  type TunnelOwner,
} from '../websocket/websocket-tunnel.ts';

type Owner = OriginOwner & ResponseOwner & EndingOwner & FinishedRequest & TunnelOwner;

/** One request; see the header. */
export class Exchange implements PhaseHost, Owner {
  readonly head: RequestHeadParser;
  readonly bytes: Buffer;
  readonly generation: Generation;
  readonly phases: PhaseDriver;
  readonly request: RequestSide;
  readonly response: ResponseSide;
  readonly origin: OriginSide;
  readonly endings: RequestEnding;
  readonly evidence: RequestEvidence;
  /** Nobody asks live requests why. */
  readonly guardTrace = null;
  requestId = '';
  site: Route | null = null;
  requestClient: RequestClient;
  trace: TracedRequest | null = null;
  tunnel: WebsocketTunnel | null = null;
  ended = false;
  readonly startedUs: number;
  private readonly front: FrontContext;
  private readonly client: ClientPort;
  private described: RequestTexts | null = null;
  /** Longest body that the path takes; null while the node's bound counts. */
  private pathBodyBytesMax: number | null = null;

  constructor(front: FrontContext, client: ClientPort, bytes: Buffer, startedUs: number) {
    this.front = front;
    this.client = client;
    this.requestClient = client;
    this.head = client.parser;
    this.bytes = bytes;
    this.startedUs = startedUs;
    this.generation = front.generation;
    this.generation.acquire();
    this.phases = new PhaseDriver(this);
    this.request = new RequestSide(front, client, this.phases);
    this.response = new ResponseSide(front, this, this.phases);
    this.origin = new OriginSide(front, this, this.head, bytes);
    this.endings = new RequestEnding(front, client, this);
    this.evidence = new RequestEvidence(front, this);
  }

  // ---- what the connection asks

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

  /** Begins: the head is complete. */
  start(): void {
    this.describe();
    const route = this.generation.find(this.client.host());
    this.site = route;
    this.evidence.begin();
    this.requestClient = requestClient(this.front, route, this.client, this.bytes);
    const { proved = false } = this.requestClient;
    this.trace = this.beginTrace(proved);
    this.response.relay.strictTransport = strictTransportOf(this.requestClient, route);
    const decided =
      deliveryAnswer(this.front, this.client, this.requestClient, route, this.bytes) ??
      this.deliver(route);
    if (decided === null) this.phases.start(route);
    else this.endings.answerDelivery(decided);
  }

  /** What the site answers by itself; what it sets of the request and its answer otherwise. */
  private deliver(route: Route | null): DeliveryAnswer | null {
    const delivery = route?.delivery ?? null;
    if (delivery === null || this.head.refusal !== null) return null;
    const view = this.view();
    const answer = delivery.answer(view);
    if (answer !== null) return answer;
    const bytesMax = delivery.bodyBytesMax(view, this.bodyBytesMax);
    this.pathBodyBytesMax = bytesMax;
    this.request.limitBody(bytesMax);
    this.response.relay.fields = delivery.responseFields(view);
    this.response.compression = delivery.compression(view);
    return null;
  }

  /** Answers with an error of our own and closes; status 0 closes without an answer. */
  refuse(status: number, reason: string): void {
    if (this.described === null) {
      this.describe();
      // Nobody has said yet who sent it.
      this.trace = this.beginTrace(false);
    }
    this.endings.refuse(status, reason);
  }

  /** Takes framing off bytes [start, end); says where what follows the body begins. */
  readBody(bytes: Buffer, start: number, end: number): number {
    return this.request.read(bytes, start, end);
  }

  /** Handles what `readBody` found from `start` on. */
  acceptBody(bytes: Buffer, start: number): void {
    const fault = this.request.accept(bytes, start);
    if (fault !== null) this.refuseOrCut(fault.status, fault.reason);
  }

  bodyTimedOut(): void {
    this.refuseOrCut(408, 'body_timeout');
  }

  /** What waits for the request has no room. */
  crowdedOut(): void {
    this.refuseOrCut(noRoom.status, noRoom.reason);
  }

  /** The whole took too long, or (`gone`) the client takes nothing any more. */
  timedOut(gone: boolean): void {
    if (gone || this.response.streaming) return this.endings.clientAborted();
    if (this.wantsBody) return this.bodyTimedOut();
    this.endings.originFailed({ status: 504, code: 'total_timeout' });
  }

  clientDrained(): void {
    this.response.drained();
  }

  /** The connection is gone; nothing can be answered any more. */
  clientGone(): void {
    if (this.ended) return;
    if (this.endings.outcome === 'served') this.endings.outcome = 'client_abort';
    this.end(false);
  }

  /**
   * The client gave the request up before it began: it is recorded, and nothing looks at it.
   * `routed`: its head was read well, so that a site can be named.
   */
  abandoned(routed: boolean): void {
    if (this.ended) return;
    this.describe();
    if (routed) {
      this.site = this.generation.find(this.client.host());
      this.requestClient = requestClient(this.front, this.site, this.client, this.bytes);
    }
    this.clientGone();
  }

  private refuseOrCut(status: number, reason: string): void {
    if (this.response.streaming) this.endings.cut();
    else this.refuse(status, reason);
  }

  // ---- what the phase driver asks

  get hasBody(): boolean {
    return this.request.hasBody;
  }

  get bodyLength(): number {
    return this.head.contentLength;
  }

  get bodyBytesMax(): number {
    return this.pathBodyBytesMax ?? this.front.settings.requestBodyBytesMax;
  }

  get headRefusal(): Refusal | null {
    return this.head.refusal;
  }

  get answerHasBody(): boolean {
    return this.response.relay.hasBody;
  }

  view(): RequestView {
    const { view } = this.front;
    view.begin(this.head, this.bytes, this.requestClient.facts);
    view.siteId = this.site!.site.id;
    view.host = this.client.host();
    view.nowMs = this.texts.receivedAtMs;
    return view;
  }

  snapshot(): RequestSnapshot {
    return {
      requestId: this.requestId,
      receivedAtMs: this.texts.receivedAtMs,
      siteId: this.site!.site.id,
      grpcFields: this.site!.site.grpcFields === true,
      ...this.content(),
      connection: this.requestClient.facts,
      head: { bytes: this.bytes, spans: this.head.copySpans() },
    };
  }

  /** Signs that are ordinary content of this request. */
  private content(): Pick<RequestSnapshot, 'content'> {
    const { method, target, receivedAtMs } = this.texts;
    const content = this.site!.content?.of(method, target, receivedAtMs) ?? [];
    return content.length === 0 ? {} : { content };
  }

  admitsInspection(): boolean {
    return this.front.overload.admits();
  }

  holdBody(): void {
    this.request.hold(this.holder());
  }

  takeBody(limitBytes: number): BodySnapshot {
    return this.request.takeHeld(limitBytes);
  }

  route(): RouteResult {
    return this.origin.choose(this.site!.origins);
  }

  connect(): void {
    this.origin.connect();
  }

  holdAnswer(): void {
    this.response.hold();
  }

  takeAnswer(limitBytes: number): BodySnapshot {
    const held = this.response.takeHeld(limitBytes);
    this.evidence.takeAnswer(held);
    return held;
  }

  releaseAnswer(): void {
    this.response.release();
  }

  resumed(): void {
    this.response.turnEnd();
  }

  // ---- what the sides ask

  get texts(): RequestTexts {
    return this.described!;
  }

  get tls(): TlsFacts | null {
    return this.client.tls;
  }

  get forwardedLines(): string {
    return this.requestClient.forwardedLines;
  }

  get vouchedLines(): string {
    const { grantedLines } = this.phases;
    if (this.site?.site.delivery?.clientCertificates === undefined) return grantedLines;
    return (this.client.tls?.shown?.lines ?? '') + grantedLines;
  }

  get proved(): boolean {
    return this.requestClient.proved === true;
  }

  get clientIp(): string {
    return this.requestClient.facts.clientIp;
  }

  get secure(): boolean {
    return this.requestClient.facts.scheme === 'https';
  }

  get inspected(): boolean {
    return this.phases.inspects;
  }

  get keepsClient(): boolean {
    return this.head.keepAlive && !this.front.draining && this.bodyComplete;
  }

  get answerBegun(): boolean {
    return this.response.streaming && !this.response.takeBack();
  }

  get repeatable(): boolean {
    return !this.request.hasBody && repeatableMethods.has(this.texts.method);
  }

  originFailed(failure: OriginFailure): void {
    if (this.answerBegun) this.endings.originBroke(failure);
    else this.endings.originFailed(failure);
  }

  // ---- a WebSocket

  get inspectsMessages(): boolean {
    const { site, head, phases } = this;
    return (
      head.websocketKey !== null && !phases.bypassed && site !== null && inspectsMessages(site)
    );
  }

  openTunnel(): void {
    if (this.inspectsMessages) this.tunnel = new WebsocketTunnel(this.front, this, this.site!);
    this.request.openTunnel(this.tunnel?.gate ?? null);
  }

  opening(): MessageOpening {
    return requestEvent(this, 0, null);
  }

  forwardFrames(bytes: Buffer): void {
    this.request.forwardFrames(bytes);
  }

  tunnelResumed(): void {
    if (!this.ended) this.request.resumeTunnel();
  }

  closeTunnel(fault: FrameFault, frame: Buffer | null): void {
    if (this.ended) return;
    this.endings.closeTunnel(fault.reason);
    if (frame !== null) this.response.sendLast(frame);
    this.end(false);
  }

  send(piece: Uint8Array): boolean {
    return this.client.send(piece);
  }

  pauseOrigin(): void {
    this.origin.pause();
  }

  resumeOrigin(): void {
    this.origin.resume();
  }

  holder(): Holder {
    return this.front.held.holder(this.clientIp, this.site!.site.id);
  }

  responseSent(): void {
    this.end(this.response.relay.keepAlive && this.bodyComplete);
  }

  /** The one end of every path. */
  end(keep: boolean): void {
    if (this.ended) return;
    this.ended = true;
    this.tunnel?.end();
    this.origin.stop();
    this.response.drop();
    this.request.drop();
    const durationUs = this.front.clock.monotonicUs() - this.startedUs;
    const unread = this.phases.finish((record) => {
      this.generation.release();
      this.tell(durationUs, record);
      this.evidence.drop();
    });
    if (unread) this.request.recycle();
    else this.evidence.outliveRequest();
    this.client.exchangeEnded(keep);
  }

  /** A fault in reporting a request must end neither its connection nor the thread. */
  private tell(durationUs: number, record: TransactionRecord | null): void {
    try {
      const policyId = this.site?.inspector ? (this.site.site.waf.policyId ?? '') : '';
      const event = requestEvent(this, durationUs, record);
      this.phases.lesson?.end(event);
      if (this.site !== null) this.front.clientCounts.count(event, this.site.site);
      this.front.onRequestDone(event, policyId, this.evidence);
    } catch (thrown) {
      this.front.onEventFault(thrown);
    }
  }

  private beginTrace(proved: boolean): TracedRequest | null {
    return this.front.tracer?.begin(this.head, this.bytes, proved, this.startedUs) ?? null;
  }

  private describe(): void {
    this.described = describeRequest(this.bytes, this.head, this.front.clock.nowMs());
    this.requestId = this.described.keptId ?? this.front.ids.next();
  }
}

/** RFC 9110 section 9.2.2, and no body that would have to be sent again. */
const repeatableMethods = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'TRACE']);
