/** AlertService/ApplyAlertChannelToRules: sets exactly which rules use a channel. */

import { AlertRuleSchema, type AlertService } from '../../../proto/gen/waf/v1/alert_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import type { AlertRuleRecord } from '../../domain/alert/alert-records.ts';
import { invalidField } from '../../domain/errors.ts';
import { alertLimits } from '../../limits/alert-limits.ts';
import { alertRules } from '../../store/collections.ts';
import type { WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { keep, ownedBy, stored } from '../resource/owned.ts';
import { nextUpdate } from '../unchanged.ts';
import { channelKind, showChannel } from './channel.ts';
import { ruleKind } from './rule.ts';

/** Binds a channel to the rules that are named and unbinds it from all others. */
export function applyAlertChannelToRules(
  parts: Uses<'store' | 'clock'>,
): Method<typeof AlertService, 'applyAlertChannelToRules'> {
  return async ({ channelId, ruleIds }, context) => {
    const caller = callerOf(context);
    const { channel, rules, changed } = await parts.store.write((tx) => {
      const found = stored(tx, caller, channelKind, channelId, 'channelId');
      const wanted = new Set(ruleIds);
      ruleIds.forEach((id, at) => stored(tx, caller, ruleKind, id, `ruleIds[${at}]`));
      const before = ownedBy(tx, caller, ruleKind);
      const moving = before.filter(
        (rule) => rule.channelIds.includes(found.id) !== wanted.has(rule.id),
      );
      for (const rule of moving) bind(tx, caller, rule, found.id, parts.clock.nowMs());
      const users = tx.find(alertRules, 'channel', found.id);
      users.sort((left, right) => left.name.localeCompare(right.name, 'en'));
      return { channel: found, rules: users, changed: moving.length };
    });
    return {
      channel: showChannel(parts.store, channel),
      rules: rules.map((rule) => toMessage(AlertRuleSchema, rule)),
      changedCount: changed,
    };
  };
}

function bind(
  tx: WriteStore,
  caller: Caller,
  rule: AlertRuleRecord,
  channelId: string,
  nowMs: number,
): void {
  const others = rule.channelIds.filter((id) => id !== channelId);
  const isBound = others.length < rule.channelIds.length;
  if (!isBound && others.length >= alertLimits.channelsOfRuleMax) {
    const problem = `rule ${rule.id} has ${alertLimits.channelsOfRuleMax} channels already`;
    throw invalidField('ruleIds', problem);
  }
  const updatedAt = nextUpdate(rule, { nowMs: () => nowMs });
  const channelIds = isBound ? others : [...others, channelId];
  keep(tx, caller, ruleKind, rule, { ...rule, channelIds, updatedAt }, { action: 'upsert' });
}
