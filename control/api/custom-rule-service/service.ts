/** CustomRuleService. A rule is compiled with the others of its policy before it is kept. */

import type { CustomRuleService } from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import { checkCustomRule, renderCustomRule } from '../../domain/policy/custom-rules.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { storedPolicy } from '../policy-service/stored-policy.ts';
import { serve } from '../resource/serve.ts';
import { customRuleKind, requireSecLangPermission, rulesOfPolicy } from './custom-rule.ts';
import { reorderCustomRules } from './reorder-custom-rules.ts';
import { ruleTrial } from './rule-trial.ts';
import { listCustomRuleTemplates, ruleOfTemplate } from './templates.ts';

/** CustomRuleService. */
export function customRuleService(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Built<typeof CustomRuleService> {
  const { store } = parts;
  const { show, asked, list, get, create, update, remove } = serve(
    parts,
    customRuleKind,
    ruleTrial(parts),
  );
  return {
    listCustomRules: ({ policyId, page }, context) => {
      const policy = storedPolicy(store, callerOf(context), policyId, 'policyId');
      return list({ page }, context, { among: rulesOfPolicy(store, policy.id) });
    },
    getCustomRule: (request, context) => ({ rule: get(request, context) }),
    createCustomRule: async ({ rule }, context) => ({
      rule: show(await create(asked(rule), context)),
    }),
    updateCustomRule: async (request, context) => ({
      rule: show(await update(asked(request.rule), request, context)),
    }),
    deleteCustomRule: remove,
    reorderCustomRules: reorderCustomRules(parts),
    previewCustomRule: (request, context) => {
      const rule = asked(request.rule);
      requireSecLangPermission(callerOf(context), rule);
      const named = { name: 'preview', enabled: true, ...rule };
      checkCustomRule(named);
      const warnings = rule.enabled === false ? ['the rule is switched off'] : [];
      return { seclang: renderCustomRule({ ...named, ruleId: rule.ruleId ?? '10000' }), warnings };
    },
    listCustomRuleTemplates,
    createFromTemplate: async (request, context) => ({
      rule: show(await create(ruleOfTemplate(request), context)),
    }),
  };
}
