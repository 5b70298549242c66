/** RuleOverrideService: overrides of single CRS rules, one per policy, site, rule and scope. */

import { CrsRuleSchema } from '../../../proto/gen/waf/v1/crs_pb.ts';
import type { RuleOverrideService } from '../../../proto/gen/waf/v1/rule_override_pb.ts';
import { callLimits } from '../../limits/call-limits.ts';
import { invalidField } from '../../domain/errors.ts';
import { ruleOverrides, rulesets } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import { fitsQuery, pageOf, toMessage } from '../convert.ts';
import { rulesOf } from '../crs-service/ruleset-rules.ts';
import type { Built } from '../method.ts';
import { serveRecords } from '../resource/serve.ts';
import { storedPolicy } from '../policy-service/stored-policy.ts';
import { overrideKind, upsertOverrides } from './upsert.ts';

/** RuleOverrideService. */
export function ruleOverrideService(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Built<typeof RuleOverrideService> {
  const { store } = parts;
  const { show, list, get, remove } = serveRecords(parts, overrideKind);
  return {
    listRuleOverrides: ({ policyId, page }, context) => {
      const policy = storedPolicy(store, callerOf(context), policyId, 'policyId');
      const among = store
        .find(ruleOverrides, 'policy', policy.id)
        .sort((left, right) => Number(left.crsRuleId) - Number(right.crsRuleId));
      return list({ page }, context, { among });
    },
    getRuleOverride: (request, context) => ({ override: get(request, context) }),
    upsertRuleOverride: async ({ override, listChange }, context) => {
      const [stored] = await upsertOverrides(
        parts,
        callerOf(context),
        [override],
        () => 'override',
        listChange,
      );
      return stored === undefined ? {} : { override: show(stored) };
    },
    bulkUpsertRuleOverrides: async ({ overrides, listChange }, context) => {
      if (overrides.length > callLimits.bulkMax) {
        throw invalidField('overrides', `has at most ${callLimits.bulkMax} entries`);
      }
      const field = (at: number): string => `overrides[${at}]`;
      const caller = callerOf(context);
      const stored = await upsertOverrides(parts, caller, overrides, field, listChange);
      return { overrides: stored.map(show) };
    },
    deleteRuleOverride: remove,
    listCrsRulesForPolicy: ({ policyId, page: asked, query }, context) => {
      const policy = storedPolicy(store, callerOf(context), policyId, 'policyId');
      const ruleset = store.get(rulesets, policy.crsRulesetId);
      const level = policy.crsCore?.detectionParanoiaLevel || 1;
      const least = Math.max(level, policy.crsCore?.blockingParanoiaLevel || 1);
      const rules = ruleset === undefined ? [] : rulesOf(store, ruleset);
      const found = rules.filter(
        (rule) =>
          (rule.paranoiaLevel ?? 0) <= least && fitsQuery(query, String(rule.ruleId), rule.msg),
      );
      const { items, page } = pageOf(found, asked);
      return { items: items.map(({ raw: _raw, ...rule }) => toMessage(CrsRuleSchema, rule)), page };
    },
  };
}
