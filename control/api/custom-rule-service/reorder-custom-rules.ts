/** CustomRuleService/ReorderCustomRules. */

import type { CustomRuleService } from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { storedPolicy } from '../policy-service/stored-policy.ts';
import { keep } from '../resource/owned.ts';
import { customRuleKind, rulesOfPolicy, showRule } from './custom-rule.ts';

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
