/**
 * Owns one request's inspection session for the front: calls it phase by phase, keeps what it
 * throws from going further, and closes it once. Never decides what a verdict leads to.
 */

import type { InspectionSession, Inspector, MaybePromise } from '../contract/inspection.ts';
import type { BodySnapshot, RequestSnapshot, ResponseSnapshot } from '../contract/message.ts';
import { passVerdict } from '../contract/verdict.ts';
import type { BodyNeed, TransactionRecord, Verdict } from '../contract/verdict.ts';

/** What is known of a transaction that left nothing behind. */
const failedRecord: TransactionRecord = {
  verdict: passVerdict,
  matchedRules: [],
  inboundScore: 0,
  outboundScore: 0,
  detectionOnly: false,
  inspectionUs: 0,
  failure: 'internal',
};

const noNeed: BodyNeed = { inspect: false, limitBytes: 0, onExcess: 'prefix' };

/** Inspection of one request; inactive when the site has none. */
export class InspectionRun {
  /** True while phases are still to be run. */
  active = false;
  private session: InspectionSession | null = null;
  private failed = false;

  /** Errors: what opening throws is a failed inspection, see `call`. */
  open(inspector: Inspector, snapshot: RequestSnapshot): void {
    this.active = true;
    try {
      this.session = inspector.open(snapshot);
    } catch {
      this.session = null;
    }
  }

  get bodyNeed(): BodyNeed {
    return this.active && this.session !== null ? this.session.bodyNeed : noNeed;
  }

  get responseNeed(): BodyNeed {
    return this.active && this.session !== null ? this.session.responseNeed : noNeed;
  }

  /** Runs a phase, 1..4; null when inspection itself failed. */
  call(
    phase: number,
    body: BodySnapshot | null,
    response: ResponseSnapshot | null,
  ): MaybePromise<Verdict> | null {
    const { session } = this;
    if (session === null) {
      this.failed = true;
      return null;
    }
    try {
      if (phase === 1) return session.requestHead();
      if (phase === 2) return session.requestBody(body);
      if (phase === 3) return session.responseHead(response!);
      return session.responseBody(body);
    } catch {
      this.failed = true;
      return null;
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
    } catch {
      this.failed = true;
    }
    this.session = null;
    if (record instanceof Promise) {
      record.then(
        (kept) => done(this.told(kept)),
        () => done(failedRecord),
      );
      return false;
    }
    done(this.told(record));
    return true;
  }

  /** A failure is told of, whatever the fail policy let happen. */
  private told(record: TransactionRecord | null): TransactionRecord | null {
    if (!this.failed || record?.failure !== undefined) return record;
    return record === null ? failedRecord : { ...record, failure: 'internal' };
  }
}
