/** Adds up security events: totals, a trend, rankings. Pure over the events it is given. */

import type {
  SecurityEventJson,
  SecuritySummaryDimensionJson,
} from '../../proto/gen/waf/v1/log_pb.ts';
import { BoundedCounts } from './bounded-counts.ts';
import { isAttack } from './security-event.ts';

/** One line of a ranking. */
export interface TopEntry {
  readonly key: string;
  readonly count: bigint;
  readonly label: string;
}

/** One step of a trend. */
export interface TrendStep {
  readonly atMs: number;
  count: number;
  blocked: number;
}

/** What was added up. */
export interface SecuritySummary {
  readonly total: number;
  readonly blocked: number;
  readonly trend: readonly TrendStep[];
  readonly top: ReadonlyMap<SecuritySummaryDimensionJson, readonly TopEntry[]>;
  /** Rankings that had more values than are counted. */
  readonly limited: readonly SecuritySummaryDimensionJson[];
}

type KeysOf = (event: SecurityEventJson) => readonly (readonly [key: string, label: string])[];

const single = (key: string | undefined): readonly (readonly [string, string])[] =>
  key === undefined || key === '' ? [] : [[key, '']];

const dimensions: Readonly<Partial<Record<SecuritySummaryDimensionJson, KeysOf>>> = {
  SECURITY_SUMMARY_DIMENSION_ATTACKER: (event) => single(event.clientIp),
  SECURITY_SUMMARY_DIMENSION_SITE: (event) => single(event.siteId),
  SECURITY_SUMMARY_DIMENSION_TARGET: (event) => single(event.targetIdentity),
  SECURITY_SUMMARY_DIMENSION_ATTACK_TYPE: (event) => single(event.attackType),
  SECURITY_SUMMARY_DIMENSION_PATH: (event) => single(event.path),
  SECURITY_SUMMARY_DIMENSION_METHOD: (event) => single(event.method),
  SECURITY_SUMMARY_DIMENSION_RULE: (event) => [
    ...new Map((event.messages ?? []).map((one) => [one.ruleId ?? '', one.message ?? ''])),
  ],
};

const trendSteps = 60;

/** Ranks what matched, not who attacked: notices count. */
const ofRules: SecuritySummaryDimensionJson = 'SECURITY_SUMMARY_DIMENSION_RULE';

/**
 * Adds up `events`: totals, the trend and the ranking of rules count all of them, other rankings
 * attacks alone. Cost: one pass; `limited` names rankings of more than 100,000 values.
 */
export async function summarize(
  events: AsyncIterable<SecurityEventJson>,
  wanted: readonly SecuritySummaryDimensionJson[],
  topLimit: number,
  withTrend: boolean,
): Promise<SecuritySummary> {
  const sums = new SummaryCounts(wanted, withTrend);
  for await (const event of events) sums.add(event);
  return sums.result(topLimit);
}

/** Events by second: how many, and how many of them were blocked. */
type Seconds = Map<number, [count: number, blocked: number]>;

/** Sums of events and of their values, however they are read. */
export class SummarySums {
  readonly #counts: ReadonlyMap<SecuritySummaryDimensionJson, BoundedCounts>;
  readonly #seconds: Seconds | null;
  #total = 0;
  #blocked = 0;

  constructor(wanted: readonly SecuritySummaryDimensionJson[], withTrend: boolean) {
    this.#counts = new Map(wanted.map((one) => [one, new BoundedCounts()]));
    this.#seconds = withTrend ? new Map() : null;
  }

  addEvent(atMs: number, blocked: boolean): void {
    this.#total++;
    this.#blocked += Number(blocked);
    if (this.#seconds !== null) addSecond(this.#seconds, atMs, Number(blocked));
  }

  /** An event has a value in a dimension. */
  addValue(dimension: SecuritySummaryDimensionJson, key: string, label: string): void {
    this.#counts.get(dimension)?.add(key, label);
  }

  result(topLimit: number): SecuritySummary {
    const top = new Map(
      [...this.#counts].map(
        ([dimension, found]) => [dimension, entriesOf(found, topLimit)] as const,
      ),
    );
    const limited = [...this.#counts].flatMap(([dimension, found]) =>
      found.limited ? [dimension] : [],
    );
    const trend = this.#seconds === null ? [] : trendOf(this.#seconds);
    return { total: this.#total, blocked: this.#blocked, trend, top, limited };
  }
}

/** Adds up events that are at hand as a whole. */
export class SummaryCounts {
  readonly #sums: SummarySums;
  readonly #wanted: readonly SecuritySummaryDimensionJson[];

  constructor(wanted: readonly SecuritySummaryDimensionJson[], withTrend: boolean) {
    this.#sums = new SummarySums(wanted, withTrend);
    this.#wanted = wanted;
  }

  add(event: SecurityEventJson): void {
    this.#sums.addEvent(Date.parse(event.occurredAt ?? ''), event.blocked === true);
    const attack = isAttack(event);
    for (const dimension of this.#wanted) {
      if (!attack && dimension !== ofRules) continue;
      for (const [key, label] of dimensions[dimension]?.(event) ?? []) {
        this.#sums.addValue(dimension, key, label);
      }
    }
  }

  result(topLimit: number): SecuritySummary {
    return this.#sums.result(topLimit);
  }
}

function addSecond(seconds: Seconds, atMs: number, blocked: number): void {
  const second = Math.floor(atMs / 1000);
  const known = seconds.get(second);
  if (known === undefined) seconds.set(second, [1, blocked]);
  else {
    known[0]++;
    known[1] += blocked;
  }
}

/** The highest counts as answers give them. */
export function entriesOf(counts: BoundedCounts, limit: number): TopEntry[] {
  return counts.top(limit).map((one) => ({ ...one, count: BigInt(one.count) }));
}

function trendOf(seconds: Seconds): TrendStep[] {
  if (seconds.size === 0) return [];
  let first = Infinity;
  let last = -Infinity;
  for (const second of seconds.keys()) {
    first = Math.min(first, second);
    last = Math.max(last, second);
  }
  const steps = emptyTrend(first, last);
  const start = steps[0]!.atMs / 1000;
  const step = stepOf(first, last);
  for (const [second, [count, blocked]] of seconds) {
    const found = steps[Math.floor((second - start) / step)];
    if (found === undefined) continue;
    found.count += count;
    found.blocked += blocked;
  }
  return steps;
}

/** The steps of a trend from its first second to its last, with nothing in them. */
export function emptyTrend(first?: number, last?: number): TrendStep[] {
  if (first === undefined || last === undefined) return [];
  const step = stepOf(first, last);
  const steps: TrendStep[] = [];
  for (let at = Math.floor(first / step) * step; at <= last; at += step) {
    steps.push({ atMs: at * 1000, count: 0, blocked: 0 });
  }
  return steps;
}

/** Seconds of one step. */
function stepOf(first: number, last: number): number {
  return Math.max(1, Math.ceil((last - first + 1) / trendSteps));
}
