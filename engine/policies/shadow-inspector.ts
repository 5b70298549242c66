/**
 * Inspects requests by a second policy after the one that decides. Nothing that it finds reaches
 * the request: its verdicts are compared and counted, and no collection keeps what it set.
 */

import type { Clock } from '../../base/clock.ts';
import { poolLimits } from '../base/limits.ts';
import type { InspectionSession, Inspector, MaybePromise } from '../contract/inspection.ts';
import type { PhaseResult } from '../contract/inspection-failure.ts';
import type { BodySnapshot, RequestSnapshot, ResponseSnapshot } from '../contract/message.ts';
import type { ShadowConfig } from '../contract/shadow.ts';
import type { BodyNeed, TransactionRecord } from '../contract/verdict.ts';
import type { PolicyEngine, RuleSession } from '../rules/run/policy-engine.ts';
import type { ShadowTally } from './shadow-tally.ts';

/** What a shadow run needs beside the policy that decides. */
export interface ShadowParts {
  readonly shadow: ShadowConfig;
  readonly engine: PolicyEngine;
  readonly tally: ShadowTally;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** From 0 to below 1: draws the requests that are compared. */
  readonly random: () => number;
}

/** The inspector of a site with a shadow run; until its end its share is inspected twice. */
export function shadowInspector(inner: Inspector, parts: ShadowParts): Inspector {
  return {
    open: (request) => {
      const session = inner.open(request);
      const isMessage = request.messageBytes !== undefined;
      const over = parts.clock.nowMs() >= parts.shadow.untilMs;
      return over || isMessage ? session : new ShadowedSession(session, request, parts);
    },
  };
}

/** What the second policy came to; null where it did not see all, or failed. */
type Found = TransactionRecord | null;

class ShadowedSession implements InspectionSession {
  private readonly inner: InspectionSession;
  private readonly request: RequestSnapshot;
  private readonly parts: ShadowParts;
  private readonly selected: boolean;
  private found: Found = null;
  /** A window over what follows the inspected part of a body: part of another session. */
  private isWindow = false;

  constructor(inner: InspectionSession, request: RequestSnapshot, parts: ShadowParts) {
    this.inner = inner;
    this.request = request;
    this.parts = parts;
    const { shadow, random } = parts;
    this.selected = shadow.sharePercent >= 100 || random() * 100 < shadow.sharePercent;
  }

  get bodyNeed(): BodyNeed {
    return this.inner.bodyNeed;
  }

  get responseNeed(): BodyNeed {
    return this.inner.responseNeed;
  }

  requestHead(): MaybePromise<PhaseResult> {
    const result = this.inner.requestHead();
    return result instanceof Promise
      ? result.then((one) => this.afterHead(one))
      : this.afterHead(result);
  }

  requestBody(body: BodySnapshot | null): MaybePromise<PhaseResult> {
    const result = this.inner.requestBody(body);
    if (!(result instanceof Promise)) return this.afterBody(result, body);
    return result.then((one) => this.afterBody(one, body));
  }

  responseHead(response: ResponseSnapshot): MaybePromise<PhaseResult> {
    return this.inner.responseHead(response);
  }

  responseBody(body: BodySnapshot | null): MaybePromise<PhaseResult> {
    return this.inner.responseBody(body);
  }

  finish(): MaybePromise<TransactionRecord> {
    const record = this.inner.finish();
    return record instanceof Promise
      ? record.then((one) => this.counted(one))
      : this.counted(record);
  }

  /** Where the head decides, the body never comes: the other ruleset is compared by the head. */
  private afterHead(result: PhaseResult): PhaseResult {
    if (result.action === 'pass' || result.action === 'failed') return result;
    const found = this.inspect(null);
    this.found = found?.verdict.action === 'pass' ? null : found;
    return result;
  }

  private afterBody(result: PhaseResult, body: BodySnapshot | null): PhaseResult {
    this.isWindow = body?.rest !== undefined || body?.files?.again === true;
    const fits = body === null || body.bytes.length <= poolLimits.inlineBodyBytesMax;
    if (!this.isWindow && fits && result.action !== 'failed') this.found = this.inspect(body);
    return result;
  }

  private inspect(body: BodySnapshot | null): Found {
    if (!this.selected) return null;
    let session: RuleSession;
    try {
      session = this.parts.engine.open(this.request, true);
    } catch {
      // The engine has reported it; the request is one that was not compared.
      return null;
    }
    if (session.requestHead().action === 'pass') session.requestBody(body);
    const found = session.observe();
    return found.failure === undefined ? found : null;
  }

  private counted(record: TransactionRecord): TransactionRecord {
    const { tally, shadow } = this.parts;
    if (this.isWindow) return record;
    if (this.selected) tally.add(shadow.runId, this.request, record, this.found);
    else tally.skip(shadow.runId, this.request);
    return record;
  }
}
