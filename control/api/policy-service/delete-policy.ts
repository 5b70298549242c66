/** Owns PolicyService/DeletePolicy. */

import type { PolicyService } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { removeAccessOf } from '../../access/remove-place.ts';
import { refusal } from '../../domain/errors.ts';
import {
  customRules,
  policies,
  policyVersions,
  ruleOverrides,
  sites,
} from '../../store/collections.ts';
import { actorNote, callerOf, type ApiParts } from '../context.ts';
import { nextRevision } from '../convert.ts';
import type { Method } from '../method.ts';
import { refuseTemplate, storedPolicy } from './stored-policy.ts';

/** Removes a policy that no site uses, with its versions. */
export function deletePolicy(parts: ApiParts): Method<typeof PolicyService, 'deletePolicy'> {
  return async (request, context) => {
    const caller = callerOf(context);
    const removed = await parts.store.write((tx) => {
      const before = storedPolicy(tx, caller, request.id, 'id');
      refuseTemplate(before);
      if (before.isDefault === true) {
        throw refusal('failed_precondition', 'id: sites without a policy use this one');
      }
      if (tx.list(sites).some((site) => site.waf?.policyId === before.id)) {
        throw refusal('failed_precondition', 'id: sites use this policy');
      }
      tx.remove(policies, before.id);
      removeAccessOf(tx, 'policy', before.id);
      for (const version of tx.find(policyVersions, 'policy', before.id)) {
        tx.remove(policyVersions, version.id);
      }
      for (const rule of tx.find(customRules, 'policy', before.id)) tx.remove(customRules, rule.id);
      for (const override of tx.find(ruleOverrides, 'policy', before.id)) {
        tx.remove(ruleOverrides, override.id);
      }
      tx.audit({
        ...actorNote(caller),
        action: 'delete',
        resourceType: 'policy',
        resourceId: before.id,
        resourceName: before.name,
        before,
      });
      return before;
    });
    const revision = BigInt(nextRevision(removed.revision));
    return { result: { id: removed.id, revision, changed: true } };
  };
}
