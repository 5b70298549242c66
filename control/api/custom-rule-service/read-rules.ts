/** Reads custom rules and templates, and previews a rule. */

import type { JsonObject } from '@bufbuild/protobuf';
import {
  CustomRuleSchema,
  type CustomRuleJson,
  type CustomRuleService,
} from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import { customRuleTemplates } from '../../domain/policy/custom-rule-templates.ts';
import { checkCustomRule, renderCustomRule } from '../../domain/policy/custom-rules.ts';
import { invalidField } from '../../domain/errors.ts';
import { callerOf, type Uses } from '../context.ts';
import { pageOf, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { storedPolicy } from '../policy-service/stored-policy.ts';
import { requireSecLangPermission, rulesOfPolicy, showRule, storedRule } from './stored-rule.ts';

/** Rules of a policy in their order. */
export function listCustomRules(
  parts: Uses<'store'>,
): Method<typeof CustomRuleService, 'listCustomRules'> {
  return (request, context) => {
    const policy = storedPolicy(parts.store, callerOf(context), request.policyId, 'policyId');
    const { items, page } = pageOf(rulesOfPolicy(parts.store, policy.id), request.page);
    return { items: items.map(showRule), page };
  };
}

/** One rule. */
export function getCustomRule(
  parts: Uses<'store'>,
): Method<typeof CustomRuleService, 'getCustomRule'> {
  return (request, context) => ({
    rule: showRule(storedRule(parts.store, callerOf(context), request.id, 'id')),
  });
}

/** The templates. */
export function listCustomRuleTemplates(): Method<
  typeof CustomRuleService,
  'listCustomRuleTemplates'
> {
  return (request) => {
    const { items, page } = pageOf(customRuleTemplates, request.page);
    return {
      items: items.map(({ id, name, description = '', category = '', defaults }) => ({
        id,
        name,
        description,
        category,
        builtin: true,
        defaults: { ...defaults } as JsonObject,
      })),
      page,
    };
  };
}

/** The SecLang of a rule that is not stored. */
export function previewCustomRule(): Method<typeof CustomRuleService, 'previewCustomRule'> {
  return (request, context) => {
    if (request.rule === undefined) throw invalidField('rule', 'is required');
    const rule = toRecord<CustomRuleJson>(CustomRuleSchema, request.rule);
    requireSecLangPermission(callerOf(context), rule);
    const named = { name: 'preview', enabled: true, ...rule };
    checkCustomRule(named);
    const warnings = rule.enabled === false ? ['the rule is switched off'] : [];
    return { seclang: renderCustomRule({ ...named, ruleId: rule.ruleId ?? '10000' }), warnings };
  };
}
