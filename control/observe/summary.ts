/** Owns adding up security events: totals, a trend, rankings. Pure over the events it is given. */

import type {
  SecurityEventJson,
  SecuritySummaryDimensionJson,
} from '../../proto/gen/waf/v1/log_pb.ts';
import { controlLimits } from '../../engine/base/limits.ts';

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

/** Adds up `events`. Cost: one pass; at most 100,000 keys a dimension are counted. */
export function summarise(
  events: Iterable<SecurityEventJson>,
  wanted: readonly SecuritySummaryDimensionJson[],
  topLimit: number,
  withTrend: boolean,
): SecuritySummary {
  const counts = new Map(wanted.map((one) => [one, new Map<string, [bigint, string]>()]));
  const times: { readonly atMs: number; readonly blocked: boolean }[] = [];
  let total = 0;
  let blocked = 0;
  for (const event of events) {
    total++;
    if (event.blocked === true) blocked++;
    if (withTrend) {
      times.push({ atMs: Date.parse(event.occurredAt ?? ''), blocked: event.blocked === true });
    }
    for (const [dimension, found] of counts) {
      for (const [key, label] of dimensions[dimension]?.(event) ?? []) {
        const known = found.get(key);
        if (known !== undefined) known[0]++;
        else if (found.size < controlLimits.summaryKeysMax) found.set(key, [1n, label]);
      }
    }
  }
  const top = new Map(
    [...counts].map(([dimension, found]) => [dimension, highest(found, topLimit)] as const),
  );
  return { total, blocked, trend: withTrend ? trendOf(times) : [], top };
}

function highest(counts: ReadonlyMap<string, [bigint, string]>, limit: number): TopEntry[] {
  return [...counts]
    .map(([key, [count, label]]) => ({ key, count, label }))
    .sort((left, right) => Number(right.count - left.count) || (left.key < right.key ? -1 : 1))
    .slice(0, limit);
}

function trendOf(times: readonly { atMs: number; blocked: boolean }[]): TrendStep[] {
  if (times.length === 0) return [];
  const first = times.reduce((least, { atMs }) => Math.min(least, atMs), Infinity);
  const last = times.reduce((most, { atMs }) => Math.max(most, atMs), -Infinity);
  const stepMs = Math.max(1000, Math.ceil((last - first + 1) / trendSteps / 1000) * 1000);
  const start = Math.floor(first / stepMs) * stepMs;
  const steps: TrendStep[] = [];
  for (let atMs = start; atMs <= last; atMs += stepMs) steps.push({ atMs, count: 0, blocked: 0 });
  for (const { atMs, blocked } of times) {
    const step = steps[Math.floor((atMs - start) / stepMs)];
    if (step === undefined) continue;
    step.count++;
    if (blocked) step.blocked++;
  }
  return steps;
}
