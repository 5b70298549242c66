/** PolicyService/UpdatePolicy. */

import {
  PolicySchema,
  type PolicyJson,
  type PolicyService,
} from '../../../proto/gen/waf/v1/policy_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { inspectionFields, metadataFields } from '../../domain/policy/policy-mask.ts';
import { checkPolicy } from '../../domain/policy/policy.ts';
import { applyMask, readMask } from '../../domain/update-mask.ts';
import { callerOf, type Uses } from '../context.ts';
import { requireRevision, toMessage, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { checkPolicyPlugins } from './check-plugins.ts';
import { refuseUncompiled } from './compile.ts';
import { refuseSameName } from './create-policy.ts';
import { refuseTemplate, savePolicy, storedPolicy } from './stored-policy.ts';

/** Changes the masked fields: either inspection settings or everything else, never both. */
export function updatePolicy(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Method<typeof PolicyService, 'updatePolicy'> {
  return async (request, context) => {
    const caller = callerOf(context);
    if (request.policy === undefined) throw invalidField('policy', 'is required');
    const change = toRecord<PolicyJson>(PolicySchema, request.policy);
    const fields = { ...inspectionFields, ...metadataFields };
    const tops = readMask(request.updateMask, fields).map(([top = '']) => top);
    const inspects = tops.map((top) => Object.hasOwn(inspectionFields, top));
    if (new Set(inspects).size > 1) {
      throw invalidField('updateMask', 'must not mix inspection settings with other fields');
    }
    const before = storedPolicy(parts.store, caller, change.id ?? '', 'policy.id');
    refuseTemplate(before);
    requireRevision(request.revision, before.revision);
    const masked = applyMask(before, change, request.updateMask, fields);
    checkPolicy(masked);
    if (tops.includes('plugins')) checkPolicyPlugins(parts.store, masked, 'policy.plugins');
    if (inspects[0] === true || tops.includes('plugins') || tops.includes('blockingMode'))
      await refuseUncompiled(parts, masked, 'policy');
    const saved = await parts.store.write((tx) => {
      const current = storedPolicy(tx, caller, before.id, 'policy.id');
      requireRevision(request.revision, current.revision);
      refuseSameName(tx, masked);
      return savePolicy(tx, caller, current, masked, parts.clock.nowMs(), 'update');
    });
    return { policy: toMessage(PolicySchema, saved) };
  };
}
