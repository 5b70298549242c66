/** Rules of alerts; a change of a condition ends the alerts of the earlier one. */

import { AlertRuleSchema, type AlertRuleJson } from '../../../proto/gen/waf/v1/alert_pb.ts';
import { keepChanges, silencesOf } from '../../alert/keep-changes.ts';
import { closeAlerts } from '../../domain/alert/alert-evaluate.ts';
import type { AlertRuleRecord } from '../../domain/alert/alert-records.ts';
import { refusal } from '../../domain/errors.ts';
import { maskOf } from '../../domain/update-mask.ts';
import { alertLimits } from '../../limits/alert-limits.ts';
import { alertRuleSpec, readAlertRuleSpec } from '../../publish/manifests/manifest-alerts.ts';
import { alertRules, alerts } from '../../store/collections.ts';
import type { Change, Resource } from '../resource/resource.ts';
import { checkRule } from './check-rule.ts';

/** Rules of alerts. */
export const ruleKind: Resource<typeof AlertRuleSchema, AlertRuleJson, AlertRuleRecord> = {
  schema: AlertRuleSchema,
  collection: alertRules,
  noun: 'alert rule',
  audit: 'alert_rule',
  field: 'rule',
  prefix: 'alert-rule',
  nameOf: ({ name }) => name,
  mask: maskOf(AlertRuleSchema),
  settle: (change, asked, before, base) => {
    const record = { ...base, ...checkRule(change.tx, change.caller, asked) };
    const move = before === null ? null : moveOf(before, record);
    if (before === null || move === null) return { record };
    // The end is reported through the channels that the beginning went through.
    return { record, keepMore: (tx) => endAlerts({ ...change, tx }, before, move) };
  },
  refuseMore: (store) => {
    const { rulesMax } = alertLimits;
    if (store.count(alertRules) < rulesMax) return;
    throw refusal('resource_exhausted', `there are at most ${rulesMax} alert rules`);
  },
  taken: 'rule.name: another alert rule has this name',
  dropMore: (change, rule) => endAlerts(change, rule, 'rule_deleted'),
  document: {
    reference: 'alert rule',
    permission: 'alert:write',
    read: readAlertRuleSpec,
    spec: alertRuleSpec,
    fields: [
      [/^rule\.name:/, 'metadata.name:'],
      [/^rule\.expression/, 'spec.condition'],
      [/^rule\.channelIds/, 'spec.channels'],
      [/^rule\./, 'spec.'],
    ],
  },
};

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
  { tx, nowMs }: Change,
  rule: AlertRuleRecord,
  move: 'rule_changed' | 'rule_disabled' | 'rule_deleted',
): void {
  const around = { silences: silencesOf(tx, rule.tenantId), repeatSeconds: 0, nowMs };
  const changes = closeAlerts(tx.find(alerts, 'live', rule.id), move, around);
  keepChanges(tx, rule, changes, nowMs);
}
