/** AlertService/ListAlertRules, GetAlertRule, UpsertAlertRule and DeleteAlertRule. */

import {
  AlertRuleSchema,
  type AlertRuleJson,
  type AlertService,
} from '../../../proto/gen/waf/v1/alert_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { applyMask, type MaskFields } from '../../domain/update-mask.ts';
import { alertRules } from '../../store/collections.ts';
import { callerOf, type ApiParts } from '../context.ts';
import { fitsQuery, pageOf, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { requireUnchanged } from '../unchanged.ts';
import { checkRule } from './check-rule.ts';
import { keepRule, removeRule } from './keep-rule.ts';
import { ownedBy, showRule, storedRule } from './stored.ts';

const maskFields: MaskFields = {
  name: true,
  enabled: true,
  severity: true,
  expression: true,
  channelIds: true,
  notification: { locales: true },
};

/** Lists rules by name. */
export function listAlertRules({ store }: ApiParts): Method<typeof AlertService, 'listAlertRules'> {
  return (request, context) => {
    const found = ownedBy(store, alertRules, callerOf(context))
      .filter(({ name }) => fitsQuery(request.query, name))
      .sort((left, right) => left.name.localeCompare(right.name, 'en'));
    const { items, page } = pageOf(found, request.page);
    return { items: items.map(showRule), page };
  };
}

/** Shows one rule. */
export function getAlertRule({ store }: ApiParts): Method<typeof AlertService, 'getAlertRule'> {
  return ({ id }, context) => ({ rule: showRule(storedRule(store, callerOf(context), id, 'id')) });
}

/** Creates a rule, or changes what the mask names of the one with this id. */
export function upsertAlertRule(parts: ApiParts): Method<typeof AlertService, 'upsertAlertRule'> {
  return async ({ rule, updateMask, expectedUpdatedAt }, context) => {
    const caller = callerOf(context);
    if (rule === undefined) throw invalidField('rule', 'is required');
    const asked = toRecord<AlertRuleJson>(AlertRuleSchema, rule);
    const kept = await parts.store.write((tx) => {
      const isNew = rule.id === '';
      if (isNew && updateMask !== '') throw invalidField('updateMask', 'goes with rule.id only');
      const before = isNew ? undefined : storedRule(tx, caller, rule.id, 'rule.id');
      requireUnchanged(expectedUpdatedAt, before);
      const wanted: AlertRuleJson =
        before === undefined
          ? asked
          : applyMask(toRecord(AlertRuleSchema, showRule(before)), asked, updateMask, maskFields);
      return keepRule(
        tx,
        caller,
        checkRule(tx, caller, wanted, rule.id),
        before,
        parts.clock.nowMs(),
      );
    });
    return { rule: showRule(kept) };
  };
}

/** Removes a rule and closes its alerts. */
export function deleteAlertRule(parts: ApiParts): Method<typeof AlertService, 'deleteAlertRule'> {
  return async ({ id }, context) => {
    const caller = callerOf(context);
    await parts.store.write((tx) => {
      removeRule(tx, caller, storedRule(tx, caller, id, 'id'), parts.clock.nowMs());
    });
    return { result: { id, changed: true } };
  };
}
