/**
 * The order of rules inside one phase: markers, skips, allows, removals, disruptive actions.
 * Never tests a value.
 */

import { ruleRunLimits } from '../../../base/rule-limits.ts';
import { passVerdict, type Verdict } from '../../contract/verdict.ts';
import { expandMacro } from '../transaction/macro.ts';
import { isRuleRemoved } from '../transaction/removal.ts';
import { buildMatchedRule } from '../transaction/report.ts';
import type { Transaction } from '../transaction/transaction.ts';
import type { Disruption, Program, Rule } from '../transaction/types.ts';
import { evaluateRule } from './evaluate-rule.ts';
import type { Trace } from './trace.ts';

/** The phase that runs on every path. */
export const loggingPhase = 5;
const requestPhaseLast = 2;

/** What one transaction carries from phase to phase beside its Transaction. */
export interface PhaseState {
  /** Ids of all rules that matched with their chain, `nolog` ones too, in order. */
  readonly matchedIds: number[];
  /** Set by `allow`: rules up to this phase are passed over; 4 = all but logging. */
  allowedThrough: number;
  /** What would have been done while the engine only detected. */
  detected: Verdict | null;
}

/** Runs the rules of one phase; stops at the first disruptive action that takes effect. */
export function evaluatePhase(
  program: Program,
  phase: number,
  tx: Transaction,
  state: PhaseState,
  trace: Trace,
): Verdict {
  tx.phase = phase;
  let toSkip = 0;
  let toMarker: string | null = null;
  for (const item of program.phases[phase] ?? []) {
    if (tx.control.engine === 'off' || state.allowedThrough >= phase) break;
    if (item.kind === 'marker') {
      if (item.name === toMarker) toMarker = null;
      continue;
    }
    if (toMarker !== null || toSkip > 0) {
      const cause = toMarker !== null ? 'a SecMarker' : "a `skip' action";
      trace(9, () => `Skipped rule id '${item.id}' due to ${cause}.`);
      if (toMarker === null) toSkip--;
      continue;
    }
    if (isRuleRemoved(item, tx)) {
      traceRemoved(item, tx, trace);
      continue;
    }
    if (!evaluateRule(item, tx, trace)) continue;
    noteFullMatch(item, tx, state, trace);
    const verdict = disrupt(item, tx, state, trace);
    if (verdict) return verdict;
    toSkip = item.skip;
    toMarker = item.skipAfter;
  }
  return passVerdict;
}

function traceRemoved(rule: Rule, tx: Transaction, trace: Trace): void {
  const byId = tx.control.removedIds.some(([from, to]) => rule.id >= from && rule.id <= to);
  if (byId) trace(9, () => `Rule id: ${rule.id} was skipped due to a ruleRemoveById action...`);
  else trace(9, () => `Skipped rule id '${rule.id}'. Skipped due to a ruleRemoveByTag action.`);
}

function noteFullMatch(rule: Rule, tx: Transaction, state: PhaseState, trace: Trace): void {
  state.matchedIds.push(rule.id);
  if (rule.severity >= 0 && rule.severity < tx.highestSeverity) tx.highestSeverity = rule.severity;
  if (!rule.log && !rule.auditLog) return;
  const record = buildMatchedRule(rule, tx);
  if (record.message !== '') trace(9, () => `Saving msg: ${record.message}`);
  for (const tag of record.tags) trace(9, () => `Rule tag: ${tag}`);
  trace(9, () => `Running action: ${rule.log ? 'log' : 'auditlog'}`);
  if (tx.matchedRules.length < ruleRunLimits.matchedRulesMax) tx.matchedRules.push(record);
}

/** The verdict when the rule's disruptive action takes effect and ends the transaction. */
function disrupt(rule: Rule, tx: Transaction, state: PhaseState, trace: Trace): Verdict | null {
  const { disruption } = rule;
  if (disruption.kind === 'pass') return null;
  const active = tx.control.engine === 'on' && rule.phase !== loggingPhase;
  if (disruption.kind.startsWith('allow')) {
    if (active) allow(disruption, rule.phase, state, trace);
    return null;
  }
  const verdict = verdictOf(disruption, rule, tx);
  if (!active) {
    state.detected ??= verdict;
    return null;
  }
  trace(8, () => `Running action ${disruption.kind}`);
  tx.answeredStatus = verdict.status;
  return verdict;
}

function allow(disruption: Disruption, phase: number, state: PhaseState, trace: Trace): void {
  trace(4, () => "Dropping the evaluation of upcoming rules in favor of an `allow' action");
  const through = { allow: loggingPhase - 1, allowRequest: requestPhaseLast, allowPhase: phase };
  const kind = disruption.kind as keyof typeof through;
  state.allowedThrough = Math.max(state.allowedThrough, through[kind]);
}

function verdictOf(disruption: Disruption, rule: Rule, tx: Transaction): Verdict {
  const { kind, status, location } = disruption;
  const base = { ruleId: rule.id, phase: rule.phase };
  if (kind === 'drop') return { ...base, action: 'drop', status: 0 };
  if (kind === 'redirect' && location !== null) {
    return { ...base, action: 'redirect', status, location: expandMacro(location, tx) };
  }
  return { ...base, action: 'block', status };
}
