/**
 * What evidence of one request is made of: its header lines, the head of its answer, captured
 * bodies. Never decides how much of it is kept.
 */

import type { AnswerBody, CapturedBody, EvidenceSource } from '../../contract/evidence.ts';
import type { BodySnapshot } from '../../contract/message.ts';
import type { RequestHeadParser } from '../../http/request-head.ts';
import { AnswerCapture } from '../facts/answer-capture.ts';
import type { FrontContext } from '../front-context.ts';
import type { Route } from '../generation.ts';
import type { RequestEnding } from './request-ending.ts';
import type { RequestSide } from './request-side.ts';
import type { ResponseSide } from './response-side.ts';

/** The request. */
export interface EvidenceOwner {
  readonly head: RequestHeadParser;
  readonly bytes: Buffer;
  readonly site: Route | null;
  readonly request: RequestSide;
  readonly response: ResponseSide;
  readonly endings: RequestEnding;
}

/** The evidence of one request; see the header. */
export class RequestEvidence implements EvidenceSource {
  private readonly front: FrontContext;
  private readonly owner: EvidenceOwner;
  private answer: AnswerCapture | null = null;
  /** Header lines of a request whose inspection ends after it. */
  private lateLines: Uint8Array | null = null;

  constructor(front: FrontContext, owner: EvidenceOwner) {
    this.front = front;
    this.owner = owner;
  }

  /** True where evidence of this request may be kept. */
  get keepsAnswerHead(): boolean {
    const { captures } = this.front;
    return captures !== null && captures.settingsOf(this.siteId) !== null;
  }

  /** The site is known, the body has not come. */
  begin(): void {
    const { request, response } = this.owner;
    const { captures } = this.front;
    response.relay.keepsHead = this.keepsAnswerHead;
    if (captures !== null && request.hasBody) request.captured = captures.open(this.siteId);
  }

  /** Copies what the rules are given of the answer's body, where somebody asked for it. */
  takeAnswer(held: BodySnapshot): void {
    const { captures } = this.front;
    if (captures?.wantsAnswers !== true) return;
    this.answer = new AnswerCapture();
    this.answer.take(captures, this.siteId, held);
  }

  /** Evidence is read after the request, whose buffer others use then. */
  outliveRequest(): void {
    if (this.front.captures !== null) this.lateLines = new Uint8Array(this.headerLines());
  }

  /** Gives up what is held. */
  drop(): void {
    this.owner.request.captured?.drop();
    this.answer?.drop();
  }

  headerLines(): Uint8Array {
    return this.lateLines ?? this.owner.head.fieldLines(this.owner.bytes);
  }

  /** Our own answer, else the origin's. */
  answerHead(): Uint8Array {
    const { endings, response } = this.owner;
    return endings.sentHead ?? response.relay.sentHead ?? noBytes;
  }

  capturedBody(): CapturedBody | null {
    return this.owner.request.captured?.captured() ?? null;
  }

  answerBody(): AnswerBody | null {
    const { captures } = this.front;
    if (captures?.wantsAnswers !== true) return null;
    return (this.answer ?? new AnswerCapture()).body(captures, this.siteId);
  }

  private get siteId(): string {
    return this.owner.site?.site.id ?? '';
  }
}

const noBytes = new Uint8Array();
