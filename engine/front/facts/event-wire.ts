/**
 * How finished requests travel from front threads to the main thread: one array of numbers and one
 * string a batch, because cloning an object per request costs as much as parsing one.
 */

import type { EventSelection } from '../../contract/logging.ts';
import type { RequestEvent, RequestOutcome } from '../../contract/events.ts';
import type { GuardNote } from '../../contract/guard.ts';
import type { RequestTrace } from '../../contract/request-trace.ts';
import {
  isIncomplete,
  passVerdict,
  type MatchedRule,
  type MatchedVariable,
  type TransactionRecord,
} from '../../contract/verdict.ts';

/** A batch on the wire; structured-cloneable. */
export interface EventBatch {
  readonly count: number;
  /** `NUMBERS` per event. */
  readonly numbers: Float64Array;
  /** `TEXTS` per event, separated by NUL, which no head may contain. */
  readonly texts: string;
  /**
   * Records that say more than "passed, nothing matched", as JSON, which takes a third of the time
   * that cloning them takes. Texts that rules bring, and repeat, stand in `words`.
   */
  readonly records: string;
  /** Texts of rules as a JSON list, each once; records name them by place. */
  readonly words: string;
  /** What guards decided, as JSON: place of the event and its notes; '' for none. */
  readonly guards: string;
  /** Places in traces, in the same form. */
  readonly traces: string;
  /** Events lost since the last batch because the queue was full. */
  readonly dropped: number;
}

const NUMBERS = 17;
const TEXTS = 15;

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
  'challenged',
];

/** A matched rule on the wire; texts that are the rule's own are places in `words`. */
type RuleRow = readonly [
  ruleId: number,
  phase: number,
  message: number,
  data: string,
  severity: number,
  tags: readonly number[],
  operator: number,
  matched: readonly string[],
  flags: number,
  file: number,
  line: number,
  rev: number,
  ver: number,
  maturity: number,
  accuracy: number,
  score: number,
];

type RecordRow = readonly [
  index: number,
  rest: Omit<TransactionRecord, 'matchedRules'>,
  rules: readonly RuleRow[],
];

type GuardsRow = readonly [index: number, notes: readonly GuardNote[]];

type TraceRow = readonly [index: number, trace: RequestTrace];

const FLAG = { DISRUPTIVE: 1, LOG: 2, AUDIT_LOG: 4 } as const;

/** Packs events one by one, so that what waits weighs what it says; owns no part of them. */
export class EventPacker {
  private numbers: number[] = [];
  private texts: string[] = [];
  private records: string[] = [];
  private words = new Map<string, number>();
  private guards: string[] = [];
  private traces: string[] = [];
  /** Events that were added. */
  count = 0;
  /** About what they weigh, in bytes. */
  bytes = 0;

  /** `selection` stands apart: a copy of the event with it costs more than all of this. */
  add(event: RequestEvent, selection: EventSelection | null = null): void {
    const record = event.transaction;
    const kind = recordKind(record);
    if (kind === RECORD.WHOLE) this.addRecord(record!);
    if (event.guards !== undefined) this.addGuards(event.guards);
    if (event.trace !== undefined) this.addTrace(event.trace);
    this.numbers.push(event.receivedAtMs, event.durationUs, event.originUs, event.clientPort);
    this.numbers.push(event.status, outcomes.indexOf(event.outcome), event.blocked ? 1 : 0);
    this.numbers.push(event.bytesIn, event.bytesOut, kind, record?.inboundScore ?? 0);
    this.numbers.push(record?.outboundScore ?? 0, record?.inspectionUs ?? 0);
    this.addSelection(selection);
    const { requestId, siteId, clientIp, method, host, target, httpVersion, userAgent } = event;
    const texts = [requestId, siteId, clientIp, method, host, target, httpVersion, userAgent];
    texts.push(event.refusal ?? '', event.endpoint ?? '', event.referer ?? '');
    texts.push(event.tls?.version ?? '', event.tls?.ja4 ?? '');
    texts.push(event.upstreamId ?? '', event.routeId ?? '');
    const text = texts.join('\0');
    this.texts.push(text);
    this.count++;
    this.bytes += NUMBERS * Float64Array.BYTES_PER_ELEMENT + text.length;
  }

  /** The batch; the packer is empty afterwards. */
  take(dropped: number): EventBatch {
    const batch = {
      count: this.count,
      numbers: Float64Array.from(this.numbers),
      texts: this.texts.join('\0'),
      records: this.records.length === 0 ? '' : `[${this.records.join(',')}]`,
      words: JSON.stringify([...this.words.keys()]),
      guards: this.guards.length === 0 ? '' : `[${this.guards.join(',')}]`,
      traces: this.traces.length === 0 ? '' : `[${this.traces.join(',')}]`,
      dropped,
    };
    this.numbers = [];
    this.texts = [];
    this.records = [];
    this.words = new Map();
    this.guards = [];
    this.traces = [];
    this.count = 0;
    this.bytes = 0;
    return batch;
  }

  /** One more than the bits, so that 0 stands for no selection. */
  private addSelection(selection: EventSelection | null): void {
    if (selection === null) {
      this.numbers.push(0, 0, 0, 0);
      return;
    }
    const { access, securityDetail, windowMs, score, revision } = selection;
    this.numbers.push(1 + access * 2 + Number(securityDetail), windowMs, score, revision);
  }

  private addRecord({ matchedRules, ...rest }: TransactionRecord): void {
    const row: RecordRow = [this.count, rest, matchedRules.map((rule) => this.rowOf(rule))];
    const text = JSON.stringify(row);
    this.records.push(text);
    this.bytes += text.length;
  }

  private addGuards(notes: readonly GuardNote[]): void {
    const text = JSON.stringify([this.count, notes] satisfies GuardsRow);
    this.guards.push(text);
    this.bytes += text.length;
  }

  private addTrace(trace: RequestTrace): void {
    const text = JSON.stringify([this.count, trace] satisfies TraceRow);
    this.traces.push(text);
    this.bytes += text.length;
  }

  private rowOf(rule: MatchedRule): RuleRow {
    return [
      rule.ruleId,
      rule.phase,
      this.word(rule.message),
      rule.data,
      rule.severity,
      rule.tags.map((tag) => this.word(tag)),
      this.word(rule.operator),
      rule.matched.flatMap(({ name, value }) => [name, value]),
      (rule.disruptive ? FLAG.DISRUPTIVE : 0) |
        (rule.log ? FLAG.LOG : 0) |
        (rule.auditLog ? FLAG.AUDIT_LOG : 0),
      this.word(rule.file),
      rule.line,
      this.word(rule.rev),
      this.word(rule.ver),
      rule.maturity,
      rule.accuracy,
      rule.score ?? 0,
    ];
  }

  private word(text: string): number {
    let place = this.words.get(text);
    if (place === undefined) {
      place = this.words.size;
      this.words.set(text, place);
      this.bytes += text.length;
    }
    return place;
  }
}

/** What an `EventPacker` packed. */
export function unpackEvents(batch: EventBatch): RequestEvent[] {
  const { numbers, count } = batch;
  const texts = batch.texts.split('\0');
  const records = readRecords(batch);
  const guards = readGuards(batch);
  const traces = batch.traces === '' ? null : new Map(JSON.parse(batch.traces) as TraceRow[]);
  return Array.from({ length: count }, (_, index) => {
    const n = index * NUMBERS;
    const t = index * TEXTS;
    const text = (at: number): string => texts[t + at] ?? '';
    const [refusal, endpoint, referer, version] = [text(8), text(9), text(10), text(11)];
    const [upstreamId, routeId] = [text(13), text(14)];
    const notes = guards?.get(index);
    const trace = traces?.get(index);
    return {
      requestId: text(0),
      siteId: text(1),
      receivedAtMs: numbers[n]!,
      durationUs: numbers[n + 1]!,
      originUs: numbers[n + 2]!,
      clientIp: text(2),
      clientPort: numbers[n + 3]!,
      method: text(3),
      host: text(4),
      target: text(5),
      httpVersion: text(6),
      ...(version === '' ? {} : { tls: { version, ja4: text(12) } }),
      userAgent: text(7),
      ...(referer === '' ? {} : { referer }),
      ...(upstreamId === '' ? {} : { upstreamId }),
      ...(routeId === '' ? {} : { routeId }),
      status: numbers[n + 4]!,
      outcome: outcomes[numbers[n + 5]!]!,
      blocked: numbers[n + 6] === 1,
      refusal: refusal === '' ? null : refusal,
      bytesIn: numbers[n + 7]!,
      bytesOut: numbers[n + 8]!,
      endpoint: endpoint === '' ? null : endpoint,
      transaction: records.get(index) ?? passedRecord(numbers, n + 9),
      ...(notes && { guards: notes }),
      ...(trace && { trace }),
      ...readSelection(numbers, n + 13),
    };
  });
}

function readSelection(numbers: Float64Array, at: number): { selection?: EventSelection } {
  const bits = numbers[at]! - 1;
  if (bits < 0) return {};
  return {
    selection: {
      access: bits >> 1,
      securityDetail: (bits & 1) === 1,
      windowMs: numbers[at + 1]!,
      score: numbers[at + 2]!,
      revision: numbers[at + 3]!,
    },
  };
}

function readRecords(batch: EventBatch): ReadonlyMap<number, TransactionRecord> {
  if (batch.records === '') return new Map();
  const words = JSON.parse(batch.words) as string[];
  const rows = JSON.parse(batch.records) as RecordRow[];
  return new Map(
    rows.map(([index, rest, rules]) => {
      const matchedRules = rules.map((row) => readRule(row, words));
      return [index, { ...rest, matchedRules }];
    }),
  );
}

function readGuards({ guards }: EventBatch): ReadonlyMap<number, readonly GuardNote[]> | null {
  return guards === '' ? null : new Map(JSON.parse(guards) as GuardsRow[]);
}

function readRule(row: RuleRow, words: readonly string[]): MatchedRule {
  const [ruleId, phase, message, data, severity, tags, operator, matched] = row;
  const [, , , , , , , , flags, file, line, rev, ver, maturity, accuracy, score] = row;
  const pairs: MatchedVariable[] = [];
  for (let at = 0; at < matched.length; at += 2) {
    pairs.push({ name: matched[at]!, value: matched[at + 1]! });
  }
  return {
    ruleId,
    phase,
    message: words[message]!,
    data,
    severity,
    tags: tags.map((tag) => words[tag]!),
    operator: words[operator]!,
    matched: pairs,
    disruptive: (flags & FLAG.DISRUPTIVE) !== 0,
    file: words[file]!,
    line,
    rev: words[rev]!,
    ver: words[ver]!,
    maturity,
    accuracy,
    log: (flags & FLAG.LOG) !== 0,
    auditLog: (flags & FLAG.AUDIT_LOG) !== 0,
    ...(score === 0 ? null : { score }),
  };
}

function recordKind(record: TransactionRecord | null): number {
  if (record === null) return RECORD.NONE;
  const { verdict, matchedRules, detectionOnly } = record;
  const plain = verdict.action === 'pass' && verdict.ruleId === 0 && matchedRules.length === 0;
  return plain && !detectionOnly && !isIncomplete(record) ? RECORD.PASSED : RECORD.WHOLE;
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
