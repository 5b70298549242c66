/** What a rule may be, beside its condition: names, channels, texts. */

import type { AlertRuleJson } from '../../../proto/gen/waf/v1/alert_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { conditionText, readCondition } from '../../domain/alert/alert-condition.ts';
import { checkNotification } from '../../domain/alert/alert-message.ts';
import type { AlertRuleRecord } from '../../domain/alert/alert-records.ts';
import { severityNamed } from '../../domain/alert/alert-silence.ts';
import { invalidField } from '../../domain/errors.ts';
import { checkName } from '../../domain/names.ts';
import { alertLimits } from '../../limits/alert-limits.ts';
import { alertChannels } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { ours } from '../resource/owned.ts';

/** A rule without what the service gives. */
export type CheckedRule = Omit<AlertRuleRecord, 'id' | 'tenantId' | 'createdAt' | 'updatedAt'>;

/** Checks a rule. Errors: invalid_argument naming the field. */
export function checkRule(store: ReadStore, caller: Caller, rule: AlertRuleJson): CheckedRule {
  const name = checkName(rule.name, 'rule.name');
  const severity = severityNamed(rule.severity ?? '');
  if (severity === null) throw invalidField('rule.severity', 'is required');
  const condition = readCondition(rule.expression ?? '', 'rule.expression');
  const { notification } = rule;
  return {
    name,
    enabled: rule.enabled ?? false,
    severity,
    expression: conditionText(condition),
    channelIds: checkChannelIds(store, caller, rule.channelIds ?? [], 'rule.channelIds'),
    ...(notification === undefined
      ? {}
      : { notification: checkNotification(notification, 'rule.notification') }),
  };
}

function checkChannelIds(
  store: ReadStore,
  caller: Caller,
  ids: readonly string[],
  field: string,
): readonly string[] {
  const own = [...new Set(ids)];
  if (own.length > alertLimits.channelsOfRuleMax) {
    throw invalidField(field, `has at most ${alertLimits.channelsOfRuleMax} entries`);
  }
  own.forEach((id, at) => {
    if (ours(store.get(alertChannels, id), caller) !== undefined) return;
    throw invalidField(`${field}[${at}]`, 'names no alert channel');
  });
  return own;
}
