/**
 * Requests of one thread that came before their site's policy was compiled: each waits, bounded in
 * time and number, and is inspected by the policy once a generation with it serves. Never lets a
 * request through uninspected.
 */

import { enginePolicyWait } from '../base/limits.ts';
import {
  failedRecord,
  failureOf,
  inspectionFailed,
  type PhaseResult,
} from '../contract/inspection-failure.ts';
import type { InspectionSession, Inspector, MaybePromise } from '../contract/inspection.ts';
import type { BodySnapshot, RequestSnapshot, ResponseSnapshot } from '../contract/message.ts';
import type { BodyNeed, TransactionRecord } from '../contract/verdict.ts';
import { ownHead } from '../pool/wire.ts';

/** The inspector of a site in the generation that serves; null while its policy still compiles. */
export type FindInspector = (siteId: string) => Inspector | null;

/** Bounds of waiting. */
export interface PolicyWaitLimits {
  readonly waitMs: number;
  readonly requestsMax: number;
  readonly resumedAtOnce: number;
}

const noNeed: BodyNeed = { inspect: false, limitBytes: 0, onExcess: 'prefix' };

/** The requests of one thread that wait for a policy. */
export class PolicyWaits {
  /** Inspects requests of sites whose policy still compiles. */
  readonly inspector: Inspector = { open: (request) => new WaitingSession(this, request) };
  readonly limits: PolicyWaitLimits;
  private readonly waiting = new Set<WaitingSession>();
  private find: FindInspector = () => null;
  private resuming: NodeJS.Immediate | null = null;

  constructor(limits: PolicyWaitLimits = enginePolicyWait) {
    this.limits = limits;
  }

  /** Requests that wait. */
  get size(): number {
    return this.waiting.size;
  }

  /** A generation begins to serve; call it once its policies can be asked for. */
  use(find: FindInspector): void {
    this.find = find;
    this.resume([...this.waiting]);
  }

  /** False where too many wait already. */
  enter(session: WaitingSession): boolean {
    if (this.waiting.size >= this.limits.requestsMax) return false;
    this.waiting.add(session);
    return true;
  }

  leave(session: WaitingSession): void {
    this.waiting.delete(session);
  }

  /** A few a turn of the event loop: other requests run between them. */
  private resume(sessions: readonly WaitingSession[]): void {
    if (this.resuming !== null) clearImmediate(this.resuming);
    this.resuming = null;
    const { resumedAtOnce } = this.limits;
    for (const session of sessions.slice(0, resumedAtOnce)) {
      if (!this.waiting.has(session)) continue;
      const inspector = this.find(session.siteId);
      if (inspector === null) continue;
      this.waiting.delete(session);
      session.begin(inspector);
    }
    const rest = sessions.slice(resumedAtOnce);
    if (rest.length > 0) this.resuming = setImmediate(() => this.resume(rest));
  }
}

/** One request that waits in its first phase; later it is a session of the policy. */
class WaitingSession implements InspectionSession {
  private readonly waits: PolicyWaits;
  /** Its own copy: the connection's buffer is used again while it waits. */
  private readonly request: RequestSnapshot;
  private inner: InspectionSession | null = null;
  private timer: NodeJS.Timeout | null = null;
  private settle: ((result: MaybePromise<PhaseResult>) => void) | null = null;

  constructor(waits: PolicyWaits, request: RequestSnapshot) {
    this.waits = waits;
    this.request = ownHead(request);
  }

  get siteId(): string {
    return this.request.siteId;
  }

  get bodyNeed(): BodyNeed {
    return this.inner?.bodyNeed ?? noNeed;
  }

  get responseNeed(): BodyNeed {
    return this.inner?.responseNeed ?? noNeed;
  }

  requestHead(): MaybePromise<PhaseResult> {
    if (!this.waits.enter(this)) return inspectionFailed.policy;
    return new Promise((resolve) => {
      this.settle = resolve;
      this.timer = setTimeout(() => {
        this.waits.leave(this);
        this.settled(inspectionFailed.policy);
      }, this.waits.limits.waitMs);
    });
  }

  /** The policy is there. */
  begin(inspector: Inspector): void {
    try {
      this.inner = inspector.open(this.request);
      this.settled(this.inner.requestHead());
    } catch (thrown) {
      this.settled(inspectionFailed[failureOf(thrown)]);
    }
  }

  requestBody(body: BodySnapshot | null): MaybePromise<PhaseResult> {
    return this.inner?.requestBody(body) ?? inspectionFailed.policy;
  }

  responseHead(response: ResponseSnapshot): MaybePromise<PhaseResult> {
    return this.inner?.responseHead(response) ?? inspectionFailed.policy;
  }

  responseBody(body: BodySnapshot | null): MaybePromise<PhaseResult> {
    return this.inner?.responseBody(body) ?? inspectionFailed.policy;
  }

  finish(): MaybePromise<TransactionRecord> {
    this.waits.leave(this);
    this.settled(inspectionFailed.policy);
    return this.inner?.finish() ?? failedRecord('policy');
  }

  private settled(result: MaybePromise<PhaseResult>): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    const { settle } = this;
    this.settle = null;
    settle?.(result);
  }
}
