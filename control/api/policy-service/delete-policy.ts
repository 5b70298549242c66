/** PolicyService/DeletePolicy. */

import type { PolicyService } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { removeAccessOf } from '../../access/remove-place.ts';
import { refusal } from '../../domain/errors.ts';
import { bindingsOf } from '../../publish/rulesets/ruleset-plugins.ts';
import {
  customRules,
  pluginBindings,
  policyVersions,
  ruleOverrides,
  sites,
} from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import { nextRevision } from '../convert.ts';
import type { Method } from '../method.ts';
import { drop } from '../resource/owned.ts';
import { policyKind, refuseInUse, refuseTemplate, storedPolicy } from './stored-policy.ts';

/** Removes a policy that no site uses, with its versions. */
export function deletePolicy(parts: Uses<'store'>): Method<typeof PolicyService, 'deletePolicy'> {
  return async (request, context) => {
    const caller = callerOf(context);
    const removed = await parts.store.write((tx) => {
      const before = storedPolicy(tx, caller, request.id, 'id');
      refuseTemplate(before);
      if (before.isDefault === true) {
        throw refusal('failed_precondition', 'id: sites without a policy use this one');
      }
      const users = tx.list(sites).filter((site) => site.waf?.policyId === before.id);
      refuseInUse('id', 'sites', users);
      removeAccessOf(tx, 'policy', before.id);
      for (const version of tx.find(policyVersions, 'policy', before.id)) {
        tx.remove(policyVersions, version.id);
      }
      for (const rule of tx.find(customRules, 'policy', before.id)) tx.remove(customRules, rule.id);
      for (const override of tx.find(ruleOverrides, 'policy', before.id)) {
        tx.remove(ruleOverrides, override.id);
      }
      for (const binding of bindingsOf(tx, before.id)) tx.remove(pluginBindings, binding.id);
      drop(tx, caller, policyKind, before);
      return before;
    });
    const revision = BigInt(nextRevision(removed.revision));
    return { result: { id: removed.id, revision, changed: true } };
  };
}
