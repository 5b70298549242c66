/**
 * What evidence of one request is made of: its header lines, the head of its answer, captured
 * bodies. Never decides how much of it is kept.
 */

import type { AnswerBody, CapturedBody, EvidenceSource } from '../../contract/evidence.ts';
import type { BodySnapshot } from '../../contract/message.ts';
import { AnswerCapture } from '../facts/answer-capture.ts';
import type { CaptureRoom } from '../facts/body-capture.ts';
import type { RequestState } from './request-state.ts';

/** The evidence of one request; see the header. */
export class RequestEvidence implements EvidenceSource {
  private readonly request: RequestState;
  /** Null where nobody takes copies. */
  private readonly captures: CaptureRoom | null;
  private answer: AnswerCapture | null = null;
  /** Header lines of a request whose inspection ends after it. */
  private lateLines: Uint8Array | null = null;

  constructor(request: RequestState) {
    this.request = request;
    this.captures = request.front.captures;
  }

  /** The site is known, the body has not come. */
  begin(hasBody: boolean): void {
    const { request, captures } = this;
    if (captures !== null && hasBody) request.captured = captures.open(request.siteId);
  }

  /** Copies what the rules are given of the answer's body, where somebody asked for it. */
  takeAnswer(held: BodySnapshot): void {
    const { captures } = this;
    if (captures?.wantsAnswers !== true) return;
    this.answer = new AnswerCapture();
    this.answer.take(captures, this.request.siteId, held);
  }

  /** Evidence is read after the request, whose buffer others use then. */
  outliveRequest(): void {
    if (this.captures !== null) this.lateLines = new Uint8Array(this.headerLines());
  }

  /** Gives up what is held. */
  drop(): void {
    this.request.captured?.drop();
    this.answer?.drop();
  }

  headerLines(): Uint8Array {
    return this.lateLines ?? this.request.head.fieldLines(this.request.bytes);
  }

  /** Our own answer, else the origin's. */
  answerHead(): Uint8Array {
    return this.request.sentHead ?? noBytes;
  }

  capturedBody(): CapturedBody | null {
    return this.request.captured?.captured() ?? null;
  }

  answerBody(): AnswerBody | null {
    const { captures } = this;
    if (captures?.wantsAnswers !== true) return null;
    return (this.answer ?? new AnswerCapture()).body(captures, this.request.siteId);
  }
}

const noBytes = new Uint8Array();
