/**
 * Owns how finished requests travel from front threads to the main thread: one array of numbers and
 * one string a batch, because cloning an object per request costs as much as parsing one.
 */

import type { RequestEvent, RequestOutcome } from '../contract/events.ts';
import { passVerdict, type TransactionRecord } from '../contract/verdict.ts';

/** A batch on the wire; structured-cloneable. */
export interface EventBatch {
  readonly count: number;
  /** `NUMBERS` per event. */
  readonly numbers: Float64Array;
  /** `TEXTS` per event, separated by NUL, which no head may contain. */
  readonly texts: string;
  /**
   * Records that say more than "passed, nothing matched", by event index: pairs, as JSON, which
   * takes a third of the time that cloning them takes.
   */
  readonly records: string;
  /** Events lost since the last batch because the queue was full. */
  readonly dropped: number;
}

const NUMBERS = 13;
const TEXTS = 10;

/** Kinds of transaction in the numbers: none, one that passed without a match, one in `records`. */
const RECORD = { NONE: 0, PASSED: 1, WHOLE: 2 } as const;

const outcomes: readonly RequestOutcome[] = [
  'served',
  'blocked',
  'refused',
  'unrouted',
  'client_abort',
  'origin_error',
  'inspection_failed',
];

/** Packs events; the result owns no part of them. */
export function packEvents(events: readonly RequestEvent[], dropped: number): EventBatch {
  const numbers = new Float64Array(NUMBERS * events.length);
  const texts: string[] = [];
  const records: (readonly [number, TransactionRecord])[] = [];
  let at = 0;
  events.forEach((event, index) => {
    const record = event.transaction;
    const kind = recordKind(record);
    if (kind === RECORD.WHOLE) records.push([index, record!]);
    numbers[at] = event.receivedAtMs;
    numbers[at + 1] = event.durationUs;
    numbers[at + 2] = event.originUs;
    numbers[at + 3] = event.clientPort;
    numbers[at + 4] = event.status;
    numbers[at + 5] = outcomes.indexOf(event.outcome);
    numbers[at + 6] = event.blocked ? 1 : 0;
    numbers[at + 7] = event.bytesIn;
    numbers[at + 8] = event.bytesOut;
    numbers[at + 9] = kind;
    numbers[at + 10] = record?.inboundScore ?? 0;
    numbers[at + 11] = record?.outboundScore ?? 0;
    numbers[at + 12] = record?.inspectionUs ?? 0;
    at += NUMBERS;
    const { requestId, siteId, clientIp, method, host, target, httpVersion, userAgent } = event;
    texts.push(requestId, siteId, clientIp, method, host, target, httpVersion, userAgent);
    texts.push(event.refusal ?? '', event.endpoint ?? '');
  });
  const told = records.length === 0 ? '' : JSON.stringify(records);
  return { count: events.length, numbers, texts: texts.join('\0'), records: told, dropped };
}

/** What `packEvents` packed. */
export function unpackEvents(batch: EventBatch): RequestEvent[] {
  const { numbers, count } = batch;
  const texts = batch.texts.split('\0');
  const records = readRecords(batch.records);
  return Array.from({ length: count }, (_, index) => {
    const n = index * NUMBERS;
    const t = index * TEXTS;
    const [requestId = '', siteId = '', clientIp = '', method = ''] = texts.slice(t, t + 4);
    const [host = '', target = '', httpVersion = '', userAgent = ''] = texts.slice(t + 4, t + 8);
    const [refusal = '', endpoint = ''] = texts.slice(t + 8, t + 10);
    return {
      requestId,
      siteId,
      receivedAtMs: numbers[n]!,
      durationUs: numbers[n + 1]!,
      originUs: numbers[n + 2]!,
      clientIp,
      clientPort: numbers[n + 3]!,
      method,
      host,
      target,
      httpVersion,
      userAgent,
      status: numbers[n + 4]!,
      outcome: outcomes[numbers[n + 5]!]!,
      blocked: numbers[n + 6] === 1,
      refusal: refusal === '' ? null : refusal,
      bytesIn: numbers[n + 7]!,
      bytesOut: numbers[n + 8]!,
      endpoint: endpoint === '' ? null : endpoint,
      transaction: records.get(index) ?? passedRecord(numbers, n + 9),
    };
  });
}

function readRecords(text: string): ReadonlyMap<number, TransactionRecord> {
  return new Map(text === '' ? [] : (JSON.parse(text) as [number, TransactionRecord][]));
}

function recordKind(record: TransactionRecord | null): number {
  if (record === null) return RECORD.NONE;
  const { verdict, matchedRules, detectionOnly, failure } = record;
  const plain = verdict.action === 'pass' && verdict.ruleId === 0 && matchedRules.length === 0;
  return plain && !detectionOnly && failure === undefined ? RECORD.PASSED : RECORD.WHOLE;
}

function passedRecord(numbers: Float64Array, at: number): TransactionRecord | null {
  if (numbers[at] !== RECORD.PASSED) return null;
  return {
    verdict: passVerdict,
    matchedRules: [],
    inboundScore: numbers[at + 1]!,
    outboundScore: numbers[at + 2]!,
    detectionOnly: false,
    inspectionUs: numbers[at + 3]!,
  };
}
