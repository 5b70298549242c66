/**
 * The inspection of what follows the held part of a long body: piece after piece, each by a session
 * of its own with the head of the request. Keeps what they find, and counts what nobody looked at.
 * Never decides what a verdict leads to.
 */

import { ruleRunLimits, uploadLimitTag, valueLimits } from '../../base/rule-limits.ts';
import type { InspectionSession, Inspector, MaybePromise } from '../contract/inspection.ts';
import { failureOf, inspectionFailed, type PhaseResult } from '../contract/inspection-failure.ts';
import type { BodySnapshot, RequestSnapshot } from '../contract/message.ts';
import { FilesReader } from './files-reader.ts';
import type { RestReader } from './rest-reader.ts';
import { WindowReader } from './window-reader.ts';
import {
  passVerdict,
  type BodyRestNeed,
  type InspectionFailure,
  type MatchedRule,
  type TransactionRecord,
  type Verdict,
} from '../contract/verdict.ts';

/** What ended the inspection before the body did. */
const endOfInspection = 'body-bytes';

/** The rest of one body; see the header. */
export class BodyRestRun {
  readonly need: BodyRestNeed;
  /** Bytes that were inspected before the first window. */
  readonly inspected: number;
  private readonly inspector: Inspector;
  private readonly snapshot: RequestSnapshot;
  private readonly reader: RestReader;
  /** Bytes of the body that were taken. */
  private reached: number;
  private uninspected = 0;
  private matched: MatchedRule[] = [];
  private leftOut = 0;
  private inboundScore = 0;
  private inspectionUs = 0;
  private verdict: Verdict = passVerdict;
  private failure: InspectionFailure | null = null;
  /** Rules that match and refuse uploads. */
  private readonly uploadLimits = new Set<number>();
  private readonly limits = new Set<string>();

  /** `first`: what was inspected of the body so far. */
  constructor(
    inspector: Inspector,
    snapshot: RequestSnapshot,
    need: BodyRestNeed,
    first: Uint8Array,
  ) {
    this.inspector = inspector;
    this.snapshot = snapshot;
    this.need = need;
    const bytes = Buffer.from(first.buffer, first.byteOffset, first.length);
    this.inspected = this.reached = bytes.length;
    this.reader = readerOf(bytes, need);
  }

  /** What is inspected of the held part. */
  get first(): BodySnapshot {
    return this.reader.first;
  }

  /** Bytes of the next piece. */
  get pieceBytes(): number {
    return this.reader.pieceBytes;
  }

  /** True where pieces wait until they are full, and the last one until the body has ended. */
  get endsWhole(): boolean {
    return this.reader.endsWhole;
  }

  /** True where the body is over a limit that refuses. */
  get refuses(): boolean {
    return this.reader.over === 'refuse';
  }

  /** Bytes that are still inspected. */
  get room(): number {
    if (this.failure !== null || this.reader.over === 'stop') return 0;
    const { files, limitBytes } = this.need;
    if (files !== undefined && this.reached < files.inspectedBytes) {
      return files.inspectedBytes - this.reached;
    }
    // What is over a limit that refuses is taken to be refused.
    if (files?.refuses === true) return Infinity;
    return Math.max(0, limitBytes - this.reached);
  }

  /** True where the request ends with the result: where the rest acts, or for limits of uploads. */
  enforces(result: PhaseResult): boolean {
    if (this.need.acts) return true;
    return result.action !== 'failed' && this.uploadLimits.has(result.ruleId);
  }

  /** Bytes that follow the last window. */
  skip(bytes: number): void {
    this.uninspected += bytes;
  }

  /** Nothing more is inspected. */
  fail(reason: InspectionFailure): void {
    this.failure ??= reason;
  }

  /**
   * Inspects the bytes that follow; they are not read after it has answered. `last`: nothing
   * follows. Never rejects.
   */
  inspect(piece: Buffer, last: boolean): MaybePromise<PhaseResult> {
    const offset = this.reached;
    this.reached += piece.length;
    const { files } = this.need;
    if (files !== undefined && offset >= files.inspectedBytes) this.uninspected += piece.length;
    const body = this.reader.next(piece, last);
    return body === null ? passVerdict : this.runWindow(body, offset);
  }

  /** The record of the request with what was found here. */
  completed(record: TransactionRecord): TransactionRecord {
    const { uninspected, matched, verdict, need } = this;
    const own = new Set(record.matchedRules.map(identityOf));
    const found = matched.filter((rule) => !own.has(identityOf(rule)));
    const limits = new Set([...(record.limitsReached ?? []), ...this.limits]);
    if (uninspected > 0) limits.add(endOfInspection);
    const leftOut = (record.matchesLeftOut ?? 0) + this.leftOut;
    return {
      ...record,
      ...(verdict.action !== 'pass' && { verdict }),
      matchedRules: [...record.matchedRules, ...found].slice(0, ruleRunLimits.matchedRulesMax),
      ...(leftOut > 0 && { matchesLeftOut: leftOut }),
      ...(need.acts && { inboundScore: Math.max(record.inboundScore, this.inboundScore) }),
      inspectionUs: record.inspectionUs + this.inspectionUs,
      ...(limits.size > 0 && { limitsReached: [...limits] }),
      ...(uninspected > 0 && { uninspectedBytes: uninspected }),
      ...(this.failure !== null && { failure: record.failure ?? this.failure }),
    };
  }

  private runWindow(body: BodySnapshot, offset: number): MaybePromise<PhaseResult> {
    let session: InspectionSession;
    try {
      session = this.inspector.open(this.snapshot);
      const head = session.requestHead();
      const result =
        head instanceof Promise
          ? head.then((settled) => bodyOf(session, settled, body))
          : bodyOf(session, head, body);
      if (!(result instanceof Promise)) return this.end(session, result, offset);
      return result.then(
        (settled) => this.end(session, settled, offset),
        (thrown: unknown) => this.end(session, inspectionFailed[failureOf(thrown)], offset),
      );
    } catch (thrown) {
      return this.noted(inspectionFailed[failureOf(thrown)]);
    }
  }

  private end(
    session: InspectionSession,
    result: PhaseResult,
    offset: number,
  ): MaybePromise<PhaseResult> {
    const record = session.finish();
    if (!(record instanceof Promise)) {
      this.keep(record, offset);
      return this.noted(result);
    }
    return record.then(
      (kept) => {
        this.keep(kept, offset);
        return this.noted(result);
      },
      () => this.noted(result),
    );
  }

  private keep(record: TransactionRecord, offset: number): void {
    const { acts, files } = this.need;
    const known = new Set(this.matched.map(identityOf));
    const isInspected = files === undefined || offset < files.inspectedBytes;
    for (const rule of record.matchedRules) {
      const limits = files?.refuses === true && rule.tags.includes(uploadLimitTag);
      if (limits) this.uploadLimits.add(rule.ruleId);
      const place = { bodyOffset: offset, disruptive: rule.disruptive && (acts || limits) };
      if (known.has(identityOf(rule)) || !(isInspected || limits)) continue;
      if (this.matched.length < valueLimits.restMatchesMax)
        this.matched.push({ ...rule, ...place });
      else this.leftOut++;
    }
    this.inboundScore = Math.max(this.inboundScore, record.inboundScore);
    this.inspectionUs += record.inspectionUs;
    if (isInspected) for (const name of record.limitsReached ?? []) this.limits.add(name);
  }

  private noted(result: PhaseResult): PhaseResult {
    if (result.action === 'failed') this.failure ??= result.reason;
    else if (result.action !== 'pass' && this.enforces(result)) this.verdict = result;
    return result;
  }
}

function readerOf(held: Buffer, need: BodyRestNeed): RestReader {
  if (need.files !== undefined) return new FilesReader(held, need, need.files);
  return new WindowReader(held, need.grpc);
}

function bodyOf(
  session: InspectionSession,
  head: PhaseResult,
  body: BodySnapshot,
): MaybePromise<PhaseResult> {
  return head.action === 'pass' ? session.requestBody(body) : head;
}

/** What the head matches, it matches in each window. */
function identityOf({ ruleId, data, matched }: MatchedRule): string {
  const [first] = matched;
  return `${ruleId} ${first?.name ?? ''} ${first?.value ?? ''} ${data}`;
}
