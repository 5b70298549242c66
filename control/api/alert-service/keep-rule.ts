/** Keeps a rule, and moves its alerts by what changed in it, in one transaction. */

import { randomUUID } from 'node:crypto';
import { keepChanges, silencesOf } from '../../alert/keep-changes.ts';
import type { Caller } from '../../auth/permissions.ts';
import { closeAlerts } from '../../domain/alert/alert-evaluate.ts';
import type { AlertRuleRecord } from '../../domain/alert/alert-records.ts';
import { refusal } from '../../domain/errors.ts';
import { alertLimits } from '../../limits/alert-limits.ts';
import { alertRules, alerts } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { nextUpdate } from '../unchanged.ts';
import type { CheckedRule } from './check-rule.ts';
import { alertNote } from './stored.ts';

/** Keeps a rule. Errors: resource_exhausted for too many. */
export function keepRule(
  tx: WriteStore,
  caller: Caller,
  rule: CheckedRule,
  before: AlertRuleRecord | undefined,
  nowMs: number,
): AlertRuleRecord {
  if (before === undefined) refuseMoreRules(tx);
  const now = nextUpdate(before, { nowMs: () => nowMs });
  const record: AlertRuleRecord = {
    ...rule,
    id: before?.id ?? `alert-rule-${randomUUID()}`,
    tenantId: caller.tenantId,
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
  };
  tx.put(alertRules, record);
  if (before !== undefined) moveAlerts(tx, before, record, nowMs);
  const earlier = before === undefined ? {} : { before };
  const note = alertNote(caller, 'alert_rule', record);
  tx.audit({ ...note, action: 'upsert', ...earlier, after: record });
  return record;
}

/** Errors: resource_exhausted where another rule is too many. */
export function refuseMoreRules(store: ReadStore): void {
  const { rulesMax } = alertLimits;
  if (store.count(alertRules) < rulesMax) return;
  throw refusal('resource_exhausted', `there are at most ${rulesMax} alert rules`);
}

/** Ends the alerts that a change of their rule ends. */
export function moveAlerts(
  tx: WriteStore,
  before: AlertRuleRecord,
  after: AlertRuleRecord,
  nowMs: number,
): void {
  const move = moveOf(before, after);
  // The end is reported through the channels that the beginning went through.
  if (move !== null) endAlerts(tx, before, move, nowMs);
}

/** Removes a rule and ends its alerts. */
export function removeRule(
  tx: WriteStore,
  caller: Caller,
  rule: AlertRuleRecord,
  nowMs: number,
): void {
  endAlerts(tx, rule, 'rule_deleted', nowMs);
  tx.remove(alertRules, rule.id);
  tx.audit({ ...alertNote(caller, 'alert_rule', rule), action: 'delete', before: rule });
}

/** Alerts show the condition and the severity that they were opened with: another one ends them. */
function moveOf(
  before: AlertRuleRecord,
  after: AlertRuleRecord,
): 'rule_changed' | 'rule_disabled' | null {
  if (!after.enabled) return before.enabled ? 'rule_disabled' : null;
  const same = before.expression === after.expression && before.severity === after.severity;
  return same ? null : 'rule_changed';
}

function endAlerts(
  tx: WriteStore,
  rule: AlertRuleRecord,
  move: 'rule_changed' | 'rule_disabled' | 'rule_deleted',
  nowMs: number,
): void {
  const around = { silences: silencesOf(tx, rule.tenantId), repeatSeconds: 0, nowMs };
  const changes = closeAlerts(tx.find(alerts, 'live', rule.id), move, around);
  keepChanges(tx, rule, changes, nowMs);
}
