/** What the course of a request needs around it: a site, a host, and ways to end. */

import type { GuardTraceEntry, GuardVerdict } from '../contract/guard.ts';
import type { Inspector } from '../contract/inspection.ts';
import type { BodySnapshot, RequestSnapshot } from '../contract/message.ts';
import type { SiteConfig } from '../contract/site.ts';
import type { Verdict } from '../contract/verdict.ts';
import type { GuardChain } from '../guard/guard-chain.ts';
import type { RequestView } from '../guard/request-view.ts';
import type { Refusal } from '../http/refusal.ts';
import type { SiteLearning } from '../schema/learning/learner.ts';
import type { SiteChecks } from '../schema/site-checks.ts';

/** What a site decides with. */
export interface PhaseSite {
  readonly site: Pick<SiteConfig, 'id' | 'waf'>;
  /** Null when the site has no inspection. */
  readonly inspector: Inspector | null;
  /** Null when the site has no guards. */
  readonly guards: GuardChain | null;
  /** Absent or null when no API document is in use. */
  readonly schema?: SiteChecks | null;
  /** Absent or null where no endpoint learns. */
  readonly learning?: SiteLearning | null;
}

/** Whether an origin was found. */
export type RouteResult = 'routed' | 'unrouted' | Refusal;

/** Who carries out what is decided: a live request, a message, or a simulation. */
export interface PhaseHost extends PhaseEndings {
  /** True once the request has ended, whatever still comes. */
  readonly ended: boolean;
  readonly hasBody: boolean;
  /** Announced length of the body; -1 when none is. */
  readonly bodyLength: number;
  /** Longest body that is taken at all. */
  readonly bodyBytesMax: number;
  /** A refusal for after the rules. */
  readonly headRefusal: Refusal | null;
  readonly answerHasBody: boolean;
  /** Every step of the guards, for people who ask why; null otherwise. */
  readonly guardTrace: GuardTraceEntry[] | null;

  /** The request, for guards. */
  view(): RequestView;
  /** The request, for the rules. */
  snapshot(): RequestSnapshot;
  /** False when the node is overloaded and does not inspect this request. */
  admitsInspection(): boolean;
  /** Begins to hold the body; `bodyHeld` follows. */
  holdBody(): void;
  /** What is held, at most `limitBytes` of it. */
  takeBody(limitBytes: number): BodySnapshot | null;
  /** Chooses the origin. */
  route(): RouteResult;
  /** Sends the request to the origin; `answerBegan` may follow. */
  connect(): void;
  /** Begins to hold the answer's body; `answerHeld` follows. */
  holdAnswer(): void;
  takeAnswer(limitBytes: number): BodySnapshot | null;
  /** The client may have the answer. */
  releaseAnswer(): void;
  /** A phase that took its time is over, and what followed from it. */
  resumed(): void;
}

/** How a request ends where the driver ends it; each answers, or cuts the connection. */
export interface PhaseEndings {
  /** Status 0: closes without an answer. */
  refuse(status: number, reason: string): void;
  /** In place of the origin's answer. */
  refuseAnswer(status: number, reason: string): void;
  answerUnrouted(): void;
  /** Inspection failed, and the site's fail policy is `closed`. */
  answerUninspected(): void;
  enforce(verdict: Verdict): void;
  enforceGuard(verdict: GuardVerdict): void;
}
