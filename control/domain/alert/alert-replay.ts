/**
 * Runs a condition over counts of the past, through the same evaluation as a rule, and counts what
 * it would have done. Pure; stores nothing.
 */

import { alertLimits } from '../../limits/alert-limits.ts';
import type { AlertCondition } from './alert-condition.ts';
import { eachWindow, matchCounts } from './alert-counts.ts';
import type { CountStep } from './alert-facts.ts';
import { evaluateRule } from './alert-evaluate.ts';
import type { AlertRecord, AlertRuleRecord } from './alert-records.ts';
import { isLive } from './alert-states.ts';

/** What a condition would have done. */
export interface ReplayResult {
  readonly matchingEventCount: number;
  readonly triggerCount: number;
  readonly resolvedCount: number;
  readonly firingNotificationCount: number;
  readonly resolvedNotificationCount: number;
  readonly openAtEnd: boolean;
}

/** Replays a threshold over steps, oldest first, which begin a window before `startMs`. */
export function replayCondition(
  condition: AlertCondition,
  steps: readonly CountStep[],
  startMs: number,
  endMs: number,
): ReplayResult {
  const rule: AlertRuleRecord = {
    ...{ id: 'replayed', tenantId: '', name: '', enabled: true, createdAt: '', updatedAt: '' },
    ...{ severity: 'ALERT_SEVERITY_WARNING', expression: '', channelIds: [] },
  };
  const result = { triggers: 0, resolved: 0, firing: 0, recovered: 0 };
  let live: AlertRecord[] = [];
  let opened = 0;
  const { countStepMs } = alertLimits;
  const windowMs = condition.windowSeconds * 1000;
  let first = 0;
  let next = 0;
  for (let nowMs = startMs + countStepMs; nowMs <= endMs; nowMs += countStepMs) {
    const stepMs = Math.floor((nowMs - 1) / countStepMs) * countStepMs;
    while (next < steps.length && steps[next]!.atMs <= stepMs) next++;
    while (first < next && steps[first]!.atMs <= stepMs - windowMs) first++;
    // Nothing counted and nothing open: nothing can happen.
    if (first === next && live.length === 0) continue;
    const counts = steps.slice(first, next);
    const facts = { counts, countsFromMs: nowMs - countStepMs, names: new Map(), nowMs: stepMs };
    const finding = { matches: matchCounts(condition, facts), unknown: () => false };
    const { changes } = evaluateRule({
      ...{ rule, condition, live, finding, nowMs, silences: [] },
      ...{ repeatSeconds: condition.repeatSeconds, room: alertLimits.liveAlertsOfRuleMax },
      newId: () => String(opened++),
    });
    const after = new Map(live.map((alert) => [alert.id, alert]));
    for (const { before, after: alert, event } of changes) {
      after.set(alert.id, alert);
      if (alert.firingAt !== '' && (before?.firingAt ?? '') === '') result.triggers++;
      if (!isLive(alert.state) && alert.firingAt !== '') result.resolved++;
      if (event === 'firing' || event === 'repeat') result.firing++;
      if (event === 'resolved') result.recovered++;
    }
    live = [...after.values()].filter(({ state }) => isLive(state));
  }
  return {
    matchingEventCount: matchingEvents(condition, steps, startMs),
    triggerCount: result.triggers,
    resolvedCount: result.resolved,
    firingNotificationCount: result.firing,
    resolvedNotificationCount: result.recovered,
    openAtEnd: live.some(({ firingAt }) => firingAt !== ''),
  };
}

/** Events of the span that the filter means. */
function matchingEvents(
  condition: AlertCondition,
  steps: readonly CountStep[],
  startMs: number,
): number {
  const single = { ...condition, windowSeconds: alertLimits.windowSecondsMin };
  let total = 0;
  const ofSpan = steps.filter(({ atMs }) => atMs >= startMs);
  eachWindow(ofSpan, single, 0, (_, sums) => {
    for (const { sure, maybe } of sums.values()) total += sure + maybe;
  });
  return total;
}
