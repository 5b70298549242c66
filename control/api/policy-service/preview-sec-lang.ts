/** PolicyService/PreviewSecLang. */

import {
  PolicySchema,
  type PolicyJson,
  type PolicyService,
} from '../../../proto/gen/waf/v1/policy_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { checkPolicy } from '../../domain/policy/policy.ts';
import { renderPolicy } from '../../domain/policy/policy-seclang.ts';
import type { PolicyRecord } from '../../domain/records.ts';
import { policyVariant } from '../../publish/parts/policy-variant.ts';
import { loadRuleset } from '../../publish/rulesets/stored-rulesets.ts';
import { callerOf, type Uses } from '../context.ts';
import { toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { storedPolicy } from './stored-policy.ts';

/** Renders a saved policy or a candidate. */
export function previewSecLang(
  parts: Uses<'store'>,
): Method<typeof PolicyService, 'previewSecLang'> {
  return (request, context) => {
    const caller = callerOf(context);
    const { candidate, policyId } = request;
    if (policyId === '' && candidate === undefined) {
      throw invalidField('policyId', 'is required, or a candidate');
    }
    const saved = policyId === '' ? null : storedPolicy(parts.store, caller, policyId, 'policyId');
    if (request.siteId !== '') storedSite(parts.store, caller, request.siteId, 'siteId');
    const policy: PolicyJson =
      candidate === undefined
        ? (saved ?? {})
        : { name: saved?.name ?? 'candidate', ...toRecord<PolicyJson>(PolicySchema, candidate) };
    if (candidate !== undefined) checkPolicy(policy, 'candidate');
    const rulesetId = policy.crsRulesetId || saved?.crsRulesetId || '';
    const ruleset = loadRuleset(parts.store, rulesetId);
    const id = saved?.id ?? '';
    const merged = { ...policy, id, crsRulesetId: rulesetId } as PolicyRecord;
    const variant = policyVariant(parts.store, merged, request.siteId, ruleset);
    const { seclang, warnings } = renderPolicy(variant.policy, variant.ruleset, variant.added);
    return { seclang, warnings: [...warnings, ...variant.warnings] };
  };
}
