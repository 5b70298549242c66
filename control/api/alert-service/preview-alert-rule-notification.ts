/** AlertService/PreviewAlertRuleNotification: renders what a rule would send through a channel. */

import {
  AlertRuleSchema,
  type AlertRuleJson,
  type AlertService,
} from '../../../proto/gen/waf/v1/alert_pb.ts';
import { styleOf } from '../../domain/alert/alert-channel.ts';
import { readCondition } from '../../domain/alert/alert-condition.ts';
import { renderMessage } from '../../domain/alert/alert-message.ts';
import { alertEvents } from '../../domain/alert/alert-texts.ts';
import { invalidField } from '../../domain/errors.ts';
import { callerOf, type Uses } from '../context.ts';
import { toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { checkRule } from './check-rule.ts';
import { previewedAlert } from './sample-alert.ts';
import { stored } from '../resource/owned.ts';
import { refuseTaken } from '../resource/resource.ts';
import { channelKind } from './channel.ts';
import { ruleKind } from './rule.ts';

/** Renders a message; without a channel in the standard language. */
export function previewAlertRuleNotification({
  store,
  clock,
}: Uses<'store' | 'clock'>): Method<typeof AlertService, 'previewAlertRuleNotification'> {
  return ({ rule, channelId, lifecycleEvent }, context) => {
    const caller = callerOf(context);
    if (rule === undefined) throw invalidField('rule', 'is required');
    const event = alertEvents.find((one) => one === (lifecycleEvent || 'firing'));
    if (event === undefined) {
      throw invalidField('lifecycleEvent', `must be one of ${alertEvents.join(', ')}`);
    }
    const before = rule.id === '' ? undefined : stored(store, caller, ruleKind, rule.id, 'rule.id');
    const asked = toRecord<AlertRuleJson>(AlertRuleSchema, rule);
    const checked = checkRule(store, caller, asked);
    const config =
      channelId === '' ? {} : stored(store, caller, channelKind, channelId, 'channelId').config;
    const nowMs = clock.nowMs();
    const record = {
      ...checked,
      id: before?.id ?? 'alert-rule-preview',
      tenantId: caller.tenantId,
      createdAt: '',
      updatedAt: '',
    };
    refuseTaken(store, ruleKind, record);
    const condition = readCondition(checked.expression, 'rule.expression');
    const style = styleOf(config);
    const alert = previewedAlert(record, condition, event, nowMs);
    const text = renderMessage(alert, checked.notification ?? {}, event, style, nowMs);
    return { ...text, ...style };
  };
}
