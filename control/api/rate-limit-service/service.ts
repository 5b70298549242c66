/** RateLimitService: limits of policies, and those with which a site replaces them. */

import type { RateLimitService } from '../../../proto/gen/waf/v1/rate_limit_pb.ts';
import { checkTarget } from '../../domain/access/country-access.ts';
import { limitsForSite, sortLimits, type RateLimitRecord } from '../../domain/access/rate-limit.ts';
import { invalidField } from '../../domain/errors.ts';
import { rateLimits } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { requireTarget } from '../ip-list-service/binding.ts';
import type { Built } from '../method.ts';
import { serve } from '../resource/serve.ts';
import { limitKind } from './rate-limit.ts';

/** RateLimitService. */
export function rateLimitService(parts: Uses<'store' | 'clock'>): Built<typeof RateLimitService> {
  const { store } = parts;
  const { show, asked, upsert, remove } = serve(parts, limitKind);
  return {
    listRateLimitEndpoints: ({ policyId, siteId }, context) => {
      const target = checkTarget({ policyId, siteId }, '');
      if (target.scope === 'global') {
        throw invalidField('policyId', 'is required where siteId is empty');
      }
      requireTarget(store, callerOf(context), target, '');
      return { items: placedLimits(store, policyId, siteId).map(show) };
    },
    upsertRateLimitEndpoint: async (request, context) => ({
      endpoint: show(await upsert(asked(request.endpoint), request, context)),
    }),
    deleteRateLimitEndpoint: remove,
  };
}

/** Limits of a policy or of a site; of both, those that the site gets. */
function placedLimits(store: ReadStore, policyId: string, siteId: string): RateLimitRecord[] {
  if (siteId === '') return sortLimits(store.find(rateLimits, 'policy', policyId));
  const ofSite = store.find(rateLimits, 'site', siteId);
  if (policyId === '') return sortLimits(ofSite);
  const ofPolicy = store.find(rateLimits, 'policy', policyId);
  return limitsForSite(
    ofPolicy.filter((one) => one.siteId === ''),
    ofSite.filter((one) => one.policyId === '' || one.policyId === policyId),
  );
}
