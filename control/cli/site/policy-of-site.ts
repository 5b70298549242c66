/** Which policy inspects a site. */

import type { Site } from '../../../proto/gen/waf/v1/site_pb.ts';
import { allPages } from '../all-pages.ts';
import type { ApiClient } from '../api-client.ts';

/** The id of the policy that a site names, or of the default one; empty where there is neither. */
export async function policyOfSite({ policies }: ApiClient, { waf }: Site): Promise<string> {
  const named = waf?.policyId ?? '';
  if (named !== '') return named;
  const all = await allPages((page) => policies.listPolicies({ page }));
  return all.find(({ isDefault }) => isDefault)?.id ?? '';
}
