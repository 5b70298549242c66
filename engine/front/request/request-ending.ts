/**
 * How one request ends where the product ends it: the outcome that its event names, and the answers
 * of our own. Never decides that a request ends.
 */

import type { RequestOutcome } from '../../contract/events.ts';
import type { GuardVerdict } from '../../contract/guard.ts';
import { noConfiguration, type ResponseScenario } from '../../contract/site.ts';
import type { Verdict } from '../../contract/verdict.ts';
import type { PhaseEndings } from '../../phases/phase-host.ts';
import type { OriginFailure } from '../../upstream/origin-sink.ts';
import type { ClientPort } from '../client-port.ts';
import { strictTransportOf, type DeliveryAnswer } from './delivery.ts';
import type { FrontContext } from '../front-context.ts';
import type { Generation, Route } from '../generation.ts';
import { writeOwnAnswer } from './own-answer.ts';
import type { RequestClient } from './request-client.ts';
import type { RequestTexts } from './request-texts.ts';

/** What an ending needs of the request. */
export interface EndingOwner {
  readonly requestId: string;
  readonly texts: RequestTexts;
  readonly site: Route | null;
  readonly requestClient: RequestClient;
  readonly phases: { readonly rateLines: string };
  readonly generation: Generation;
  /** True when the body was read to its end. */
  readonly bodyComplete: boolean;
  /** True when the client has some of the origin's answer, so that no other can take its place. */
  readonly answerBegun: boolean;
  /** Says whether evidence may need the head of the answer. */
  readonly evidence: { readonly keepsAnswerHead: boolean };
  /** The one end of every path. `keep`: the connection may serve another request. */
  end(keep: boolean): void;
}

/** The ending of one request; see the header. */
export class RequestEnding implements PhaseEndings {
  outcome: RequestOutcome = 'served';
  refusal: string | null = null;
  /** A verdict of a rule or a guard was enforced. */
  blocked = false;
  /** Status of an answer of our own; 0 while there is none. */
  status = 0;
  /** Body bytes of that answer. */
  bodyBytes = 0;
  /** The head of that answer where evidence may need it; else null. */
  sentHead: Uint8Array | null = null;
  /** What the way of the request, or its site, answers; null for nothing. */
  private delivery: DeliveryAnswer | null = null;
  private readonly front: FrontContext;
  private readonly client: ClientPort;
  private readonly owner: EndingOwner;

  constructor(front: FrontContext, client: ClientPort, owner: EndingOwner) {
    this.front = front;
    this.client = client;
    this.owner = owner;
  }

  /** Answers with an error of our own and closes; status 0 closes without an answer. */
  refuse(status: number, reason: string): void {
    this.outcome = 'refused';
    this.refusal = reason;
    if (status === 0) return this.cut();
    this.answerError(status, false);
  }

  refuseAnswer(status: number, reason: string): void {
    this.outcome = 'refused';
    this.refusal = reason;
    this.answerError(status, this.owner.bodyComplete);
  }

  answerUnrouted(): void {
    this.outcome = 'unrouted';
    // Before the first configuration nobody knows which hosts there are.
    const known = this.owner.generation.revision !== noConfiguration;
    this.answerError(known ? 404 : 503, this.owner.bodyComplete);
  }

  answerUninspected(): void {
    this.outcome = 'inspection_failed';
    if (this.owner.answerBegun) return this.cut();
    this.answer(503, 'service_unavailable', null, null, this.owner.bodyComplete);
  }

  /** How the request came decides the answer. */
  answerDelivery(delivery: DeliveryAnswer): void {
    const { status, reason, location } = delivery;
    if (reason !== null) {
      this.outcome = 'refused';
      this.refusal = reason;
    }
    this.delivery = delivery;
    this.answer(status, null, location, null, this.owner.bodyComplete);
  }

  enforce(verdict: Verdict): void {
    this.blocked = true;
    this.outcome = 'blocked';
    if (verdict.action === 'drop' || this.owner.answerBegun) return this.cut();
    const location = verdict.action === 'redirect' ? (verdict.location ?? null) : null;
    this.answer(verdict.status, 'waf_block', location, null, this.owner.bodyComplete);
  }

  enforceGuard(verdict: GuardVerdict): void {
    const { action, status, scenario, location = null } = verdict;
    this.blocked = action !== 'challenge';
    this.outcome = this.blocked ? 'blocked' : 'challenged';
    this.refusal = verdict.reason;
    if (action === 'drop') return this.cut();
    this.answer(status, scenario, location, verdict, this.owner.bodyComplete);
  }

  /** No origin answered, or one broke off before the client had anything of its answer. */
  originFailed({ status, code }: { readonly status: number; readonly code: string }): void {
    this.outcome = 'origin_error';
    this.refusal = code;
    this.answerError(status, this.owner.bodyComplete);
  }

  /** An origin broke off in the middle of its answer. */
  originBroke({ code }: OriginFailure): void {
    this.outcome = 'origin_error';
    this.refusal = code;
    this.cut();
  }

  /** A WebSocket is closed for what its client sent. */
  closeTunnel(reason: string): void {
    this.outcome = 'refused';
    this.refusal = reason;
  }

  /** The client is gone, or takes nothing any more. */
  clientAborted(): void {
    this.outcome = 'client_abort';
    this.cut();
  }

  /** Ends without (the rest of) an answer. */
  cut(): void {
    if (this.outcome === 'served') this.outcome = 'client_abort';
    this.owner.end(false);
    this.client.destroy();
  }

  private answerError(status: number, keep: boolean): void {
    this.answer(status, null, null, null, keep);
  }

  private answer(
    status: number,
    scenario: ResponseScenario | null,
    location: string | null,
    guard: GuardVerdict | null,
    keep: boolean,
  ): void {
    const { owner, front } = this;
    const { parser } = this.client;
    const keepAlive = keep && parser.keepAlive && !front.draining;
    const sent = writeOwnAnswer(front.writer, {
      status,
      scenario,
      location,
      guard,
      delivery: this.delivery,
      strictTransport: strictTransportOf(owner.requestClient, owner.site),
      rateLines: owner.phases.rateLines,
      plain: this.outcome === 'unrouted',
      keepAlive,
      http10: parser.version === 10,
      isHead: parser.isHead,
      requestId: owner.requestId,
      receivedAtMs: owner.texts.receivedAtMs,
      acceptsHtml: owner.texts.acceptsHtml,
      settings: owner.site?.site.responses,
    });
    this.status = sent.status;
    this.bodyBytes = sent.bodyBytes;
    const piece = front.writer.take();
    if (owner.evidence.keepsAnswerHead) {
      this.sentHead = new Uint8Array(piece.subarray(0, piece.length - sent.bodyBytes));
    }
    this.client.send(piece);
    owner.end(keepAlive);
  }
}
