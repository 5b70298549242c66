/**
 * The state of one live request, which all parts of its course share: who sent it, what it says,
 * which site answers for it, and what became of it. Never decides or sends anything.
 */

import { upstreamLimits } from '../../../base/delivery-limits.ts';
import type { AnswerCompression, ResponseFields, TimeoutConfig } from '../../contract/delivery.ts';
import type { RequestOutcome } from '../../contract/events.ts';
import type { RequestSnapshot } from '../../contract/message.ts';
import type { OriginTimes } from '../../contract/request-times.ts';
import { clientTimes, originTimes } from '../../guard/request-times.ts';
import type { RequestView } from '../../guard/request-view.ts';
import type { RequestHeadParser } from '../../http/request-head.ts';
import type { ClientPort } from '../client-port.ts';
import type { BodyCapture } from '../facts/body-capture.ts';
import type { TracedRequest } from '../facts/tracer.ts';
import type { FrontContext } from '../front-context.ts';
import type { Generation, Route } from '../generation.ts';
import type { Holder } from '../wire/held-budget.ts';
import { requestClient, type RequestClient } from './request-client.ts';
import { describeRequest, type RequestTexts } from './request-texts.ts';

/** One request; see the header. */
export class RequestState {
  readonly front: FrontContext;
  readonly client: ClientPort;
  readonly head: RequestHeadParser;
  /** The bytes that the head was parsed from. */
  readonly bytes: Buffer;
  readonly generation: Generation;
  /** By the clock that only goes forward. */
  readonly startedUs: number;
  /** Known from `describe` on. */
  requestId = '';
  /** Null before `describe`. */
  described: RequestTexts | null = null;
  /** Null where no site answers for the host, or none yet. */
  site: Route | null = null;
  /** The client as the trust profile of the site resolves it. */
  requestClient: RequestClient;
  /** Its place in a trace; null for none. */
  trace: TracedRequest | null = null;
  /** Longest body that the path takes. */
  bodyBytesMax: number;
  /** Times towards the origin; those of the path where it has some. */
  originTimes: OriginTimes = upstreamLimits;
  /** What the site's delivery replaces in the origin's answer; null for nothing. */
  answerFields: ResponseFields | null = null;
  /** The target that the origin gets; null for the client's. */
  rewrittenTarget: string | null = null;
  /** How that answer may be compressed; null for not at all. */
  compression: AnswerCompression | null = null;
  ended = false;
  /** Known at the end. */
  durationUs = 0;

  // What became of it.
  outcome: RequestOutcome = 'served';
  refusal: string | null = null;
  /** A verdict of a rule or a guard was enforced. */
  blocked = false;
  /** Status of an answer of our own; 0 while there is none. */
  ownStatus = 0;
  /** Body bytes of that answer. */
  ownBytes = 0;
  /** Content bytes of the request, and of the origin's answer; known at the end. */
  bytesIn = 0;
  bytesOut = 0;
  /** The head of the answer as the client gets it, where evidence may need it; else null. */
  sentHead: Uint8Array | null = null;
  /** A copy of the body for evidence; null for none. */
  captured: BodyCapture | null = null;

  // Where it went.
  /** The upstream and the path route that were chosen; '' for none. */
  upstreamId = '';
  routeId = '';
  /** `host:port` of the origin that was asked last; null when none was. */
  endpoint: string | null = null;
  /** Status that the origin answered with; 0 for none. */
  originStatus = 0;
  /** From sending the request to the origin's head, microseconds; -1 when none came. */
  originUs = -1;

  constructor(front: FrontContext, client: ClientPort, bytes: Buffer, startedUs: number) {
    this.front = front;
    this.client = client;
    this.requestClient = client;
    this.head = client.parser;
    this.bytes = bytes;
    this.startedUs = startedUs;
    this.bodyBytesMax = front.settings.requestBodyBytesMax;
    this.generation = front.generation;
    this.generation.acquire();
  }

  /** Reads the few strings that answers and events need. */
  describe(): void {
    const { front, bytes, head } = this;
    this.described = describeRequest(bytes, head, front.clock.nowMs());
    this.requestId = this.described.keptId ?? front.ids.next();
  }

  /** Finds the site, and the client that its trust profile resolves. */
  findSite(): Route | null {
    const { front, client, bytes } = this;
    this.site = this.generation.find(client.host());
    this.requestClient = requestClient(front, this.site, client, bytes);
    return this.site;
  }

  /** Takes over the times of the path. */
  limitTimes(timeouts: TimeoutConfig): void {
    this.originTimes = originTimes(timeouts);
    this.client.limitTimes(clientTimes(timeouts, this.front.settings));
  }

  /** `proved`: by proxies that the trust profile proves. */
  beginTrace(proved: boolean): void {
    const { front, head, bytes, startedUs } = this;
    this.trace = front.tracer?.begin(head, bytes, proved, startedUs) ?? null;
  }

  get texts(): RequestTexts {
    return this.described!;
  }

  /** '' where no site answers. */
  get siteId(): string {
    return this.site === null ? '' : this.site.site.id;
  }

  /** What answers say of TLS: nothing over plain HTTP (RFC 6797 section 7.2). */
  get strictTransport(): string {
    if (this.site === null || this.requestClient.facts.scheme === 'http') return '';
    return this.site.site.tls?.strictTransportSecurity ?? '';
  }

  /** True where evidence may need the head of the answer. */
  get keepsAnswerHead(): boolean {
    const { captures } = this.front;
    return captures !== null && captures.settingsOf(this.siteId) !== null;
  }

  /** The request, for guards; another request's from the next call on. */
  view(): RequestView {
    const { view } = this.front;
    view.begin(this.head, this.bytes, this.requestClient.facts);
    view.siteId = this.site!.site.id;
    view.host = this.client.host();
    view.nowMs = this.texts.receivedAtMs;
    return view;
  }

  /** The request, for the rules. */
  snapshot(): RequestSnapshot {
    const { site } = this.site!;
    return {
      requestId: this.requestId,
      receivedAtMs: this.texts.receivedAtMs,
      siteId: site.id,
      grpcFields: site.grpcFields === true,
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

  /** A place in the budget of held bytes. */
  holder(): Holder {
    return this.front.held.holder(this.requestClient.facts.clientIp, this.site!.site.id);
  }
}
