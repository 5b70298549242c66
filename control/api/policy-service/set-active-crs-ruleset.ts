/** PolicyService/SetActiveCrsRuleset. */

import { PolicySchema, type PolicyService } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { rulesets } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import { requireRevision, requireText, toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { refuseUncompiled } from './compile.ts';
import { refuseTemplate, savePolicy, storedPolicy } from './stored-policy.ts';

/** Moves a policy to another ruleset after compiling it there. */
export function setActiveCrsRuleset(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Method<typeof PolicyService, 'setActiveCrsRuleset'> {
  return async ({ policyId, revision, crsRulesetId }, context) => {
    const caller = callerOf(context);
    const before = storedPolicy(parts.store, caller, policyId, 'policyId');
    refuseTemplate(before);
    requireRevision(revision, before.revision);
    requireText(crsRulesetId, 'crsRulesetId');
    if (parts.store.get(rulesets, crsRulesetId) === undefined) {
      throw invalidField('crsRulesetId', 'does not exist');
    }
    const changed = { ...before, crsRulesetId };
    await refuseUncompiled(parts, changed, 'crsRulesetId');
    const saved = await parts.store.write((tx) => {
      const current = storedPolicy(tx, caller, policyId, 'policyId');
      requireRevision(revision, current.revision);
      return savePolicy(tx, caller, current, changed, parts.clock.nowMs(), 'set_ruleset');
    });
    return { policy: toMessage(PolicySchema, saved) };
  };
}
