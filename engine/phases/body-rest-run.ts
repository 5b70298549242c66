/**
 * Owns the inspection of what follows the held part of a long body: windows over it, one after
 * another, each by a session of its own with the head of the request. Keeps what they find, and
 * counts what nobody looked at. Never decides what a verdict leads to.
 */

import { ruleRunLimits, valueLimits } from '../../base/rule-limits.ts';
import type { InspectionSession, Inspector, MaybePromise } from '../contract/inspection.ts';
import { failureOf, inspectionFailed, type PhaseResult } from '../contract/inspection-failure.ts';
import type { BodySnapshot, RequestSnapshot } from '../contract/message.ts';
import {
  passVerdict,
  type BodyRestNeed,
  type InspectionFailure,
  type MatchedRule,
  type TransactionRecord,
  type Verdict,
} from '../contract/verdict.ts';

/** Offsets of windows are multiples of it: characters of UTF-16 and UTF-32 stay whole. */
const alignment = 4;

/** What ended the inspection before the body did. */
const endOfInspection = 'body-bytes';

/** The rest of one body; see the header. */
export class BodyRestRun {
  readonly need: BodyRestNeed;
  /** Bytes that were inspected before the first window. */
  readonly inspected: number;
  private readonly inspector: Inspector;
  private readonly snapshot: RequestSnapshot;
  private readonly begins: Uint8Array;
  /** The last bytes that were inspected, for the next window. */
  private tail: Buffer;
  private inCdata: boolean;
  /** Bytes of the body up to the end of `tail`. */
  private reached: number;
  private uninspected = 0;
  private matched: MatchedRule[] = [];
  private leftOut = 0;
  private inboundScore = 0;
  private inspectionUs = 0;
  private verdict: Verdict = passVerdict;
  private failure: InspectionFailure | null = null;
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
    this.begins = beginsOf(bytes);
    this.inspected = this.reached = bytes.length;
    this.inCdata = endsInCdata(bytes, false);
    this.tail = tailOf(bytes, bytes.length);
  }

  /** Bytes that are still inspected. */
  get room(): number {
    return this.failure === null ? Math.max(0, this.need.limitBytes - this.reached) : 0;
  }

  /** Bytes that follow the last window. */
  skip(bytes: number): void {
    this.uninspected += bytes;
  }

  /** Nothing more is inspected. */
  fail(reason: InspectionFailure): void {
    this.failure ??= reason;
  }

  /** Inspects the bytes that follow; they are not read after it has answered. Never rejects. */
  inspect(piece: Buffer): MaybePromise<PhaseResult> {
    const window = Buffer.concat([this.tail, piece]);
    const offset = this.reached - this.tail.length;
    const { inCdata, begins } = this;
    this.reached += piece.length;
    this.inCdata = endsInCdata(piece, inCdata);
    const body: BodySnapshot = {
      bytes: window,
      truncated: true,
      rest: { begins, inCdata: inCdata && !window.subarray(0, this.tail.length).includes(']]>') },
    };
    this.tail = tailOf(window, this.reached);
    return this.runWindow(body, offset);
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
      ...(need.acts && verdict.action !== 'pass' && { verdict }),
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
    const { acts } = this.need;
    const known = new Set(this.matched.map(identityOf));
    for (const rule of record.matchedRules) {
      const place = { bodyOffset: offset, disruptive: rule.disruptive && acts };
      if (known.has(identityOf(rule))) continue;
      if (this.matched.length < valueLimits.restMatchesMax)
        this.matched.push({ ...rule, ...place });
      else this.leftOut++;
    }
    this.inboundScore = Math.max(this.inboundScore, record.inboundScore);
    this.inspectionUs += record.inspectionUs;
    for (const name of record.limitsReached ?? []) this.limits.add(name);
  }

  private noted(result: PhaseResult): PhaseResult {
    if (result.action === 'failed') this.failure ??= result.reason;
    else if (result.action !== 'pass') this.verdict = result;
    return result;
  }
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

/** From the first byte that says something on, so that blanks in front do not hide it. */
function beginsOf(bytes: Buffer): Uint8Array {
  let first = 0;
  while (first < bytes.length && bytes[first]! <= 0x20) first++;
  if (first === bytes.length || first < valueLimits.restOverlapBytes) first = 0;
  first -= first % alignment;
  return new Uint8Array(bytes.subarray(first, first + valueLimits.bodyBeginBytes));
}

/** The end of what was inspected, which begins at a multiple of `alignment` in the body. */
function tailOf(bytes: Buffer, reached: number): Buffer {
  const length = Math.min(bytes.length, valueLimits.restOverlapBytes);
  const start = reached - length;
  const from = bytes.length - length - Math.min(start % alignment, bytes.length - length);
  return Buffer.from(bytes.subarray(from));
}

function endsInCdata(bytes: Buffer, before: boolean): boolean {
  const opened = bytes.lastIndexOf('<![CDATA[');
  const closed = bytes.lastIndexOf(']]>');
  return opened < 0 && closed < 0 ? before : opened > closed;
}
