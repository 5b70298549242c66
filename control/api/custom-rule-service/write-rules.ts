/** Creates, changes, orders and removes custom rules. Each is compiled before it is kept. */

import { randomUUID } from 'node:crypto';
import {
  CustomRuleSchema,
  type CustomRuleJson,
  type CustomRuleService,
} from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { customRuleTemplates } from '../../domain/policy/custom-rule-templates.ts';
import { invalidField } from '../../domain/errors.ts';
import type { CustomRuleRecord } from '../../domain/records.ts';
import { applyMask, maskOf } from '../../domain/update-mask.ts';
import type { WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { keep } from '../resource/owned.ts';
import { removal } from '../resource/serve.ts';
import { refuseTemplate, storedPolicy } from '../policy-service/stored-policy.ts';
import { refuseOtherPolicy, storedSite } from '../site-service/stored-site.ts';
import { refuseFaultyRule } from './rule-trial.ts';
import {
  checkLists,
  customRuleKind,
  requireSecLangPermission,
  rulesOfPolicy,
  settleRule,
  showRule,
  storedRule,
} from './stored-rule.ts';

const maskFields = maskOf(CustomRuleSchema, 'policyId siteId');

/** Creates a rule. */
export function createCustomRule(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Method<typeof CustomRuleService, 'createCustomRule'> {
  return async (request, context) => {
    const caller = callerOf(context);
    if (request.rule === undefined) throw invalidField('rule', 'is required');
    const asked = toRecord<CustomRuleJson>(CustomRuleSchema, request.rule);
    return { rule: showRule(await createRule(parts, caller, asked)) };
  };
}

/** Makes a rule of a template. */
export function createFromTemplate(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Method<typeof CustomRuleService, 'createFromTemplate'> {
  return async ({ policyId, templateId, parameters, siteId }, context) => {
    const caller = callerOf(context);
    const template = customRuleTemplates.find(({ id }) => id === templateId);
    if (template === undefined) throw invalidField('templateId', 'names no template');
    const given: Record<string, string> = { ...template.defaults };
    for (const [name, value] of Object.entries(parameters ?? {})) {
      if (!Object.hasOwn(template.defaults, name) || typeof value !== 'string') {
        const known = Object.keys(template.defaults).join(', ');
        throw invalidField('parameters', `takes texts named ${known}`);
      }
      given[name] = value;
    }
    const stored = await createRule(parts, caller, {
      policyId,
      siteId,
      name: template.name,
      description: template.description ?? '',
      enabled: true,
      phase: 1,
      visualSpec: template.visualSpec(given) as NonNullable<CustomRuleJson['visualSpec']>,
    });
    return { rule: showRule(stored) };
  };
}

/** Changes the masked fields. */
export function updateCustomRule(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Method<typeof CustomRuleService, 'updateCustomRule'> {
  return async (request, context) => {
    const caller = callerOf(context);
    if (request.rule === undefined) throw invalidField('rule', 'is required');
    const change = toRecord<CustomRuleJson>(CustomRuleSchema, request.rule);
    const before = storedRule(parts.store, caller, change.id ?? '', 'rule.id');
    const masked = applyMask(before, change, request.updateMask, maskFields);
    requireSecLangPermission(caller, masked);
    checkLists(parts.store, caller, masked);
    const after = settleRule(parts.store, { ...masked, updatedAt: isoNow(parts.clock) });
    const policy = storedPolicy(parts.store, caller, before.policyId, 'rule.policyId');
    const others = rulesOfPolicy(parts.store, policy.id).filter(({ id }) => id !== after.id);
    await refuseFaultyRule(parts, policy, after, others);
    const stored = await parts.store.write((tx) => {
      const current = storedRule(tx, caller, before.id, 'rule.id');
      return keep(tx, caller, customRuleKind, current, settleRule(tx, after));
    });
    return { rule: showRule(stored) };
  };
}

/** Removes a rule. */
export function deleteCustomRule(
  parts: Uses<'store'>,
): Method<typeof CustomRuleService, 'deleteCustomRule'> {
  return removal(parts, customRuleKind, storedRule);
}

/** Sets the order of all rules of a policy. */
export function reorderCustomRules(
  parts: Uses<'store'>,
): Method<typeof CustomRuleService, 'reorderCustomRules'> {
  return async ({ policyId, ruleIds }, context) => {
    const caller = callerOf(context);
    const stored = await parts.store.write((tx) => {
      const policy = storedPolicy(tx, caller, policyId, 'policyId');
      const known = new Map(rulesOfPolicy(tx, policy.id).map((rule) => [rule.id, rule]));
      const complete = new Set(ruleIds).size === known.size && ruleIds.length === known.size;
      if (!complete || !ruleIds.every((id) => known.has(id))) {
        throw invalidField('ruleIds', 'must name every rule of the policy once');
      }
      return ruleIds.flatMap((id, at) => {
        const before = known.get(id);
        if (before === undefined) return [];
        const after = { ...before, sortOrder: at + 1 };
        return before.sortOrder === after.sortOrder
          ? [after]
          : [keep(tx, caller, customRuleKind, before, after)];
      });
    });
    return { rules: stored.map(showRule) };
  };
}

/**
 * Keeps a new rule after every check. `also` runs in the same transaction, after the audit row:
 * what it throws undoes both. Errors: as of the checks.
 */
export async function createRule(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
  caller: Caller,
  asked: CustomRuleJson,
  also: (tx: WriteStore) => void = () => undefined,
): Promise<CustomRuleRecord> {
  const policy = storedPolicy(parts.store, caller, asked.policyId ?? '', 'rule.policyId');
  refuseTemplate(policy);
  const siteId = asked.siteId ?? '';
  if (siteId !== '') {
    const site = storedSite(parts.store, caller, siteId, 'rule.siteId');
    refuseOtherPolicy(parts.store, site, policy.id, 'rule.siteId');
  }
  requireSecLangPermission(caller, asked);
  const now = isoNow(parts.clock);
  const rule: CustomRuleRecord = {
    ...asked,
    id: `rule-${randomUUID()}`,
    policyId: policy.id,
    siteId,
    ruleId: asked.ruleId ?? '',
    phase: asked.phase || 2,
    placement: asked.placement || 'before_crs',
    sortOrder: asked.sortOrder ?? rulesOfPolicy(parts.store, policy.id).length + 1,
    createdAt: now,
    updatedAt: now,
  };
  const settled = settleRule(parts.store, rule);
  checkLists(parts.store, caller, settled);
  const others = rulesOfPolicy(parts.store, policy.id);
  await refuseFaultyRule(parts, policy, settled, others);
  return parts.store.write((tx) => {
    const kept = keep(tx, caller, customRuleKind, null, settleRule(tx, settled));
    also(tx);
    return kept;
  });
}
