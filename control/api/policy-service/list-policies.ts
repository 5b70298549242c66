/** PolicyService/ListPolicies and ListPolicyTemplates. */

import { PolicySchema, type PolicyService } from '../../../proto/gen/waf/v1/policy_pb.ts';
import type { PageRequest } from '../../../proto/gen/waf/v1/common_pb.ts';
import type { PolicyRecord } from '../../domain/records.ts';
import { callerOf, type Uses } from '../context.ts';
import { fitsQuery, pageOf, toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { listed } from '../resource/owned.ts';
import { policyKind } from './stored-policy.ts';

/** Policies of the caller's tenant, templates included, by name. */
export function listPolicies(parts: Uses<'store'>): Method<typeof PolicyService, 'listPolicies'> {
  return (request, context) => {
    const { tenantId } = callerOf(context);
    return pageOfPolicies(parts, tenantId, request.page, (policy) => {
      if (request.templatesOnly && policy.isTemplate !== true) return false;
      return fitsQuery(request.query, policy.name);
    });
  };
}

/** The templates. */
export function listPolicyTemplates(
  parts: Uses<'store'>,
): Method<typeof PolicyService, 'listPolicyTemplates'> {
  return (request, context) => {
    const { tenantId } = callerOf(context);
    return pageOfPolicies(parts, tenantId, request.page, (policy) => policy.isTemplate === true);
  };
}

function pageOfPolicies(
  parts: Uses<'store'>,
  tenantId: string,
  page: PageRequest | undefined,
  fits: (policy: PolicyRecord) => boolean,
) {
  const found = listed(parts.store, { tenantId }, policyKind).filter(fits);
  const cut = pageOf(found, page);
  return { items: cut.items.map((policy) => toMessage(PolicySchema, policy)), page: cut.page };
}
