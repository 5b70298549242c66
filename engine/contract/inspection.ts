/** The door between the front and the rules: one session per request, phase by phase. */

import type { PhaseResult } from './inspection-failure.ts';
import type { BodySnapshot, RequestSnapshot, ResponseSnapshot } from './message.ts';
import type { BodyNeed, TransactionRecord } from './verdict.ts';

/** Where inspection runs; `auto`: on the front's own thread, but large bodies in the pool. */
export type InspectionPlace = 'auto' | 'pool' | 'inline';

/** Synchronous where inspection runs inline, a promise where it runs in the pool. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * One request's inspection. Calls come in this order, each at most once, later ones optional:
 * requestHead, requestBody, responseHead, responseBody, finish. After a verdict other than `pass`
 * only `finish` follows, after a failed phase too. No method throws: a phase that could not be run
 * gives `InspectionFailed`.
 */
export interface InspectionSession {
  /** Phase 1. */
  requestHead(): MaybePromise<PhaseResult>;
  /** What to do with the body; valid after `requestHead` passed. */
  readonly bodyNeed: BodyNeed;
  /** Phase 2; call it for requests without a body too (`body` null). */
  requestBody(body: BodySnapshot | null): MaybePromise<PhaseResult>;
  /** Phase 3. */
  responseHead(response: ResponseSnapshot): MaybePromise<PhaseResult>;
  /** What to do with the response body; valid after `responseHead` passed. */
  readonly responseNeed: BodyNeed;
  /** Phase 4. */
  responseBody(body: BodySnapshot | null): MaybePromise<PhaseResult>;
  /**
   * Phase 5; releases everything the session holds. Always the last call, on every path. Once it
   * has answered, bytes that the session was given may change.
   */
  finish(): MaybePromise<TransactionRecord>;
}

/** Opens sessions for one generation of one site's policy. */
export interface Inspector {
  open(request: RequestSnapshot): InspectionSession;
}
