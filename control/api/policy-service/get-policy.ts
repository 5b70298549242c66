/** PolicyService/GetPolicy. */

import {
  BodyInspectionSchema,
  PolicySchema,
  type PolicyService,
} from '../../../proto/gen/waf/v1/policy_pb.ts';
import { bodyInspectionOf } from '../../domain/policy/body-inspection.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { storedPolicy } from './stored-policy.ts';

/** One policy. */
export function getPolicy(parts: Uses<'store'>): Method<typeof PolicyService, 'getPolicy'> {
  return (request, context) => {
    const policy = storedPolicy(parts.store, callerOf(context), request.id, 'id');
    const inspection = bodyInspectionOf(policy);
    return {
      policy: toMessage(PolicySchema, policy),
      ...(inspection && { bodyInspection: toMessage(BodyInspectionSchema, inspection) }),
    };
  };
}
