/** PolicyService/PreviewCrsImpact. */

import { CrsRuleChangeSchema, type PolicyService } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { compareRulesets } from '../../domain/policy/crs-impact.ts';
import type { DescribedRule } from '../../domain/policy/crs-rules.ts';
import { ruleOverrides, rulesets } from '../../store/collections.ts';
import { renderPolicy } from '../../domain/policy/policy-seclang.ts';
import { policyVariant } from '../../publish/parts/policy-variant.ts';
import { loadRuleset } from '../../publish/rulesets/stored-rulesets.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import { rulesOf, storedRuleset } from '../crs-service/ruleset-rules.ts';
import type { Method } from '../method.ts';
import { storedPolicy } from './stored-policy.ts';

/** What a policy would run under another ruleset, beside what it runs now. */
export function previewCrsImpact(
  parts: Uses<'store'>,
): Method<typeof PolicyService, 'previewCrsImpact'> {
  return ({ policyId, crsRulesetId }, context) => {
    const policy = storedPolicy(parts.store, callerOf(context), policyId, 'policyId');
    const next = rulesOf(parts.store, storedRuleset(parts.store, crsRulesetId, 'crsRulesetId'));
    const current = parts.store.get(rulesets, policy.crsRulesetId);
    const now = current === undefined ? [] : rulesOf(parts.store, current);
    const overrides = parts.store.find(ruleOverrides, 'policy', policy.id);
    const known = new Set(next.map(({ ruleId }) => ruleId));
    const disabled = new Set(
      overrides
        .filter((one) => one.actionEnum === 'RULE_OVERRIDE_ACTION_DISABLE' && !one.scope)
        .map((one) => Number(one.crsRuleId)),
    );
    const core = policy.crsCore ?? {};
    const level = Math.max(core.detectionParanoiaLevel || 1, core.blockingParanoiaLevel || 1);
    const runs = (rule: DescribedRule): boolean =>
      (rule.paranoiaLevel ?? 0) <= level && !disabled.has(rule.ruleId);
    const enabledRuleCount = next.filter(runs).length;
    const impact = compareRulesets(now, next);
    const ruleset = loadRuleset(parts.store, crsRulesetId);
    const moved = { ...policy, crsRulesetId };
    const variant = policyVariant(parts.store, moved, '', ruleset);
    const rendered = renderPolicy(variant.policy, variant.ruleset, variant.added);
    const warnings = [...rendered.warnings, ...variant.warnings];
    const orphaned = overrides.filter((one) => !known.has(Number(one.crsRuleId)));
    return {
      enabledRuleCount,
      disabledRuleCount: next.length - enabledRuleCount,
      warnings: [...warnings],
      addedRuleIds: [...impact.addedRuleIds],
      removedRuleIds: [...impact.removedRuleIds],
      changedRules: impact.changedRules.map((one) => toMessage(CrsRuleChangeSchema, one)),
      orphanedOverrides: orphaned
        .sort((left, right) => Number(left.crsRuleId) - Number(right.crsRuleId))
        .map(({ id, crsRuleId = '', actionEnum = '' }) => ({
          overrideId: id,
          crsRuleId,
          summary: actionEnum.replace('RULE_OVERRIDE_ACTION_', '').toLowerCase(),
        })),
    };
  };
}
