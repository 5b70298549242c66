/**
 * One request's inspection session: calls it phase by phase, turns whatever goes wrong into the one
 * value for a failed inspection, and closes it once. Never decides what a verdict or a failure
 * leads to.
 */

import type { InspectionSession, Inspector, MaybePromise } from '../contract/inspection.ts';
import { failedRecord, failureOf, inspectionFailed } from '../contract/inspection-failure.ts';
import type { PhaseResult } from '../contract/inspection-failure.ts';
import type { BodySnapshot, RequestSnapshot, ResponseSnapshot } from '../contract/message.ts';
import type { BodyNeed, InspectionFailure, TransactionRecord } from '../contract/verdict.ts';
import { BodyRestRun } from './body-rest-run.ts';

const noNeed: BodyNeed = { inspect: false, limitBytes: 0, onExcess: 'prefix' };

/** Inspection of one request; inactive when the site has none. */
export class InspectionRun {
  /** True while phases are still to be run. */
  active = false;
  private session: InspectionSession | null = null;
  /** What the session was opened with. */
  private inspector: Inspector | null = null;
  private snapshot: RequestSnapshot | null = null;
  /** The first failure, whatever the fail policy let happen then. */
  private failure: InspectionFailure | null = null;

  /** What opening throws is the failure of the first phase, see `call`. */
  open(inspector: Inspector, snapshot: RequestSnapshot): void {
    this.active = true;
    this.inspector = inspector;
    this.snapshot = snapshot;
    try {
      this.session = inspector.open(snapshot);
    } catch (thrown) {
      this.session = null;
      this.failure = failureOf(thrown);
    }
  }

  /** Begins the inspection of what follows `body`; null where the rules need nothing of it. */
  restAfter(body: BodySnapshot): BodyRestRun | null {
    const { rest } = this.bodyNeed;
    const { inspector, snapshot } = this;
    if (rest === undefined || !body.truncated || inspector === null || snapshot === null)
      return null;
    return new BodyRestRun(inspector, snapshot, rest, body.bytes);
  }

  /** A guard before the inspection failed; recorded like a failed inspection. */
  fail(thrown: unknown): void {
    this.failure ??= failureOf(thrown);
  }

  /** The node is overloaded: nothing is inspected. */
  shed(): void {
    this.failure ??= 'overload';
  }

  get bodyNeed(): BodyNeed {
    return this.active && this.session !== null ? this.session.bodyNeed : noNeed;
  }

  get responseNeed(): BodyNeed {
    return this.active && this.session !== null ? this.session.responseNeed : noNeed;
  }

  /** Runs a phase, 1..4. Neither throws nor rejects. */
  call(
    phase: number,
    body: BodySnapshot | null,
    response: ResponseSnapshot | null,
  ): MaybePromise<PhaseResult> {
    const { session } = this;
    if (session === null) return inspectionFailed[this.failure ?? 'internal'];
    try {
      const result = runPhase(session, phase, body, response);
      if (!(result instanceof Promise)) return this.noted(result);
      return result.then(
        (settled) => this.noted(settled),
        (thrown: unknown) => this.noted(inspectionFailed[failureOf(thrown)]),
      );
    } catch (thrown) {
      return this.noted(inspectionFailed[failureOf(thrown)]);
    }
  }

  /**
   * Closes the session; `done` gets its record, or null when there is none. True when nothing reads
   * any more what inspection was given.
   */
  finish(done: (record: TransactionRecord | null) => void): boolean {
    let record: MaybePromise<TransactionRecord> | null = null;
    try {
      record = this.session?.finish() ?? null;
    } catch (thrown) {
      this.failure ??= failureOf(thrown);
    }
    this.session = null;
    if (record instanceof Promise) {
      record.then(
        (kept) => done(this.completed(kept)),
        (thrown: unknown) => done(failedRecord(this.failure ?? failureOf(thrown))),
      );
      return false;
    }
    done(this.completed(record));
    return true;
  }

  private noted(result: PhaseResult): PhaseResult {
    if (result.action === 'failed') this.failure ??= result.reason;
    return result;
  }

  /** A failure is recorded, whatever the fail policy let happen. */
  private completed(record: TransactionRecord | null): TransactionRecord | null {
    const { failure } = this;
    if (failure === null || record?.failure === failure) return record;
    return record === null ? failedRecord(failure) : { ...record, failure };
  }
}

function runPhase(
  session: InspectionSession,
  phase: number,
  body: BodySnapshot | null,
  response: ResponseSnapshot | null,
): MaybePromise<PhaseResult> {
  if (phase === 1) return session.requestHead();
  if (phase === 2) return session.requestBody(body);
  if (phase === 3) return session.responseHead(response!);
  return session.responseBody(body);
}
