/**
 * Compares exact counts of security events with a threshold: for each group the highest sum of any
 * window that ended since the last look, so that counts which come late are not passed over. Pure.
 */

import { alertLimits } from '../../limits/alert-limits.ts';
import { eventSeverities, type AlertCondition, type AlertFilter } from './alert-condition.ts';
import type { AlertFactSet, AlertMatch, CountStep, EventCount } from './alert-facts.ts';

/** Sums of a group. `maybe`: events of which a limit hides whether they fit. */
interface GroupSum {
  sure: number;
  maybe: number;
}

type Sums = ReadonlyMap<string, GroupSum>;

/** Sums of steps by condition: steps do not change, and windows overlap. */
const remembered = new WeakMap<CountStep, Map<string, Sums>>();
const conditionsRemembered = 64;

/** The groups that reach the threshold in a window that ends after `countsFromMs`. */
export function matchCounts(
  condition: AlertCondition,
  facts: Pick<AlertFactSet, 'counts' | 'countsFromMs' | 'names' | 'nowMs'>,
): AlertMatch[] {
  const { counts: steps, countsFromMs, names, nowMs } = facts;
  const peaks = new Map<string, GroupSum>();
  eachWindow(steps, condition, nowMs, (atMs, sums) => {
    if (atMs + alertLimits.countStepMs <= countsFromMs) return;
    for (const [group, sum] of sums) {
      if (sum.sure + sum.maybe < condition.threshold) continue;
      const peak = peaks.get(group);
      if (peak === undefined || sum.sure + sum.maybe > peak.sure + peak.maybe) {
        peaks.set(group, { ...sum });
      }
    }
  });
  return [...peaks].map(([group, peak]) => toMatch(condition, group, peak, names));
}

/**
 * Calls `look` with the sums of the window that ends with each step, and of the one that ends with
 * the step of now. Cost: each step twice.
 */
export function eachWindow(
  steps: readonly CountStep[],
  condition: AlertCondition,
  nowMs: number,
  look: (atMs: number, sums: Sums) => void,
): void {
  const windowMs = condition.windowSeconds * 1000;
  const window = new Map<string, GroupSum>();
  let oldest = 0;
  const forget = (endMs: number): void => {
    for (; oldest < steps.length && steps[oldest]!.atMs <= endMs - windowMs; oldest++) {
      for (const [group, sum] of sumsOf(steps[oldest]!, condition)) add(window, group, sum, -1);
    }
  };
  for (const step of steps) {
    for (const [group, sum] of sumsOf(step, condition)) add(window, group, sum, 1);
    forget(step.atMs);
    look(step.atMs, window);
  }
  const { countStepMs } = alertLimits;
  const endMs = Math.floor(nowMs / countStepMs) * countStepMs;
  if (endMs <= (steps.at(-1)?.atMs ?? 0)) return;
  forget(endMs);
  look(endMs, window);
}

function add(window: Map<string, GroupSum>, group: string, by: GroupSum, sign: 1 | -1): void {
  const sum = window.get(group) ?? { sure: 0, maybe: 0 };
  sum.sure += sign * by.sure;
  sum.maybe += sign * by.maybe;
  if (sum.sure === 0 && sum.maybe === 0) window.delete(group);
  else window.set(group, sum);
}

/** Sums of a step by group. */
function sumsOf(step: CountStep, condition: AlertCondition): Sums {
  const { filter, groupBy } = condition;
  const name = JSON.stringify([filter, groupBy]);
  let known = remembered.get(step);
  if (known === undefined) remembered.set(step, (known = new Map()));
  const found = known.get(name);
  if (found !== undefined) return found;
  const sums = new Map<string, GroupSum>();
  for (const count of step.counts) {
    const fits = fitsFilter(count, filter);
    if (fits === 'no') continue;
    const group = groupBy === 'site' ? count.siteId : groupBy === 'agent' ? count.agentId : '';
    const sum = sums.get(group) ?? { sure: 0, maybe: 0 };
    sum[fits] += count.count;
    sums.set(group, sum);
  }
  if (known.size >= conditionsRemembered) known.clear();
  known.set(name, sums);
  return sums;
}

function fitsFilter(count: EventCount, filter: AlertFilter): 'sure' | 'maybe' | 'no' {
  if (filter.siteId !== '' && filter.siteId !== count.siteId) return 'no';
  if (filter.agentId !== '' && filter.agentId !== count.agentId) return 'no';
  if (filter.outcome !== 'any' && (filter.outcome === 'blocked') !== count.blocked) return 'no';
  if (!isAtLeast(count.severity, filter.minimumSeverity)) return 'no';
  const rules = has(filter.ruleIds, count.ruleIds);
  const attacks = has(filter.attackTypes, count.attackTypes);
  if (rules && attacks) return 'sure';
  return count.limited ? 'maybe' : 'no';
}

function has(wanted: readonly string[], found: readonly string[]): boolean {
  return wanted.length === 0 || found.some((one) => wanted.includes(one));
}

function isAtLeast(severity: string, minimum: string): boolean {
  if (minimum === '') return true;
  const names: readonly string[] = eventSeverities;
  return severity !== '' && names.indexOf(severity) <= names.indexOf(minimum);
}

function toMatch(
  { groupBy, threshold, windowSeconds, filter }: AlertCondition,
  group: string,
  { sure, maybe }: GroupSum,
  names: ReadonlyMap<string, string>,
): AlertMatch {
  const siteId = groupBy === 'site' ? group : filter.siteId;
  const agentId = groupBy === 'agent' ? group : filter.agentId;
  const about = groupBy === 'agent' ? agentId : siteId;
  const nothing = groupBy === 'site' ? 'requests without a site' : 'all sites';
  return {
    key: group,
    siteId,
    agentId,
    subject: about === '' ? nothing : (names.get(about) ?? about),
    payload: {
      count: sure + maybe,
      threshold,
      windowSeconds,
      // What a limit hides counts: who floods the counts must not keep an alert away.
      ...(maybe === 0 ? {} : { coverage: 'limited', countAtLeast: sure }),
    },
  };
}
