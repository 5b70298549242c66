/** Limits of rates: one for each place, path and methods, which takes the place of an earlier. */

import {
  RateLimitEndpointRecordSchema,
  type RateLimitEndpointRecordJson,
} from '../../../proto/gen/waf/v1/rate_limit_pb.ts';
import { checkTarget } from '../../domain/access/country-access.ts';
import {
  checkRateLimit,
  signatureOf,
  type RateLimitRecord,
} from '../../domain/access/rate-limit.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { accessLimits } from '../../limits/access-limits.ts';
import { rateLimits } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { requirePlace } from '../ip-list-service/binding.ts';
import type { ServedKind } from '../resource/resource.ts';

/** Limits of rates. */
export const limitKind: ServedKind<
  typeof RateLimitEndpointRecordSchema,
  RateLimitEndpointRecordJson,
  RateLimitRecord
> = {
  schema: RateLimitEndpointRecordSchema,
  collection: rateLimits,
  noun: 'rate limit',
  audit: 'rate_limit',
  field: 'endpoint',
  prefix: 'ratelimit',
  nameOf: ({ pathPattern }) => pathPattern,
  placed: ({ tx }, asked) => sameLimits(tx, checkedLimit(asked))[0],
  settle: ({ tx, caller, document }, asked, _before, base) => {
    const checked = checkedLimit(asked);
    const { policyId, siteId } = checked;
    // Documents look at the place of each entry themselves.
    if (document === undefined) requirePlace(tx, caller, { policyId, siteId }, 'endpoint');
    return { record: { ...checked, ...base } };
  },
  refuseMore: (store) => {
    const most = accessLimits.rateLimitsMax;
    if (store.count(rateLimits) < most) return;
    throw refusal('resource_exhausted', `there are at most ${most} rate limits`);
  },
  taken: 'endpoint.pathPattern: another limit has this path and methods',
  namesakes: sameLimits,
};

type Limit = Omit<RateLimitRecord, 'id' | 'tenantId' | 'createdAt' | 'updatedAt'>;

/** Errors: invalid_argument naming the field. */
function checkedLimit(asked: RateLimitEndpointRecordJson): Limit {
  const checked = checkRateLimit(asked);
  const { policyId = '', siteId = '' } = asked;
  const target = checkTarget({ policyId, siteId }, 'endpoint');
  if (target.scope === 'global') {
    throw invalidField('endpoint.policyId', 'is required where siteId is empty');
  }
  return { ...checked, policyId: target.policyId, siteId: target.siteId };
}

const scopeOf = ({ siteId }: Limit): 'site' | 'policy' => (siteId === '' ? 'policy' : 'site');

/** Limits of the same place, path and methods. */
function sameLimits(store: ReadStore, limit: Limit): RateLimitRecord[] {
  const { policyId, siteId } = limit;
  return store
    .find(rateLimits, scopeOf(limit), siteId || policyId)
    .filter(
      (one) =>
        one.policyId === policyId &&
        one.siteId === siteId &&
        signatureOf(one) === signatureOf(limit),
    );
}
