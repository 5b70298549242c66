/** RateLimitService: limits of policies, and those with which a site replaces them. */

import { randomUUID } from 'node:crypto';
import {
  RateLimitEndpointRecordSchema,
  type RateLimitEndpointRecordJson,
  type RateLimitService,
} from '../../../proto/gen/waf/v1/rate_limit_pb.ts';
import { accessLimits } from '../../limits/access-limits.ts';
import type { Caller } from '../../auth/permissions.ts';
import { checkTarget } from '../../domain/access/country-access.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import {
  checkRateLimit,
  limitsForSite,
  signatureOf,
  sortLimits,
  type RateLimitRecord,
} from '../../domain/access/rate-limit.ts';
import { rateLimits } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage, toRecord } from '../convert.ts';
import { requirePlace, requireTarget } from '../ip-list-service/bindings.ts';
import type { Built } from '../method.ts';
import { finderOf, keep, stored, type Owned } from '../resource/owned.ts';
import { removal } from '../resource/serve.ts';
import { nextUpdate, requireUnchanged } from '../unchanged.ts';

/** Limits of rates. */
export const limitKind: Owned<RateLimitRecord> = {
  collection: rateLimits,
  noun: 'rate limit',
  audit: 'rate_limit',
  nameOf: ({ pathPattern }) => pathPattern,
};

/** RateLimitService. */
export function rateLimitService(parts: Uses<'store' | 'clock'>): Built<typeof RateLimitService> {
  const { store } = parts;
  return {
    listRateLimitEndpoints: ({ policyId, siteId }, context) => {
      const target = checkTarget({ policyId, siteId }, '');
      if (target.scope === 'global') {
        throw invalidField('policyId', 'is required where siteId is empty');
      }
      requireTarget(store, callerOf(context), target, '');
      const found = placedLimits(store, policyId, siteId);
      return { items: found.map(show) };
    },
    upsertRateLimitEndpoint: async ({ endpoint, expectedUpdatedAt }, context) => {
      const caller = callerOf(context);
      if (endpoint === undefined) throw invalidField('endpoint', 'is required');
      const asked = toRecord<RateLimitEndpointRecordJson>(RateLimitEndpointRecordSchema, endpoint);
      const kept = await store.write((tx) => {
        const { record, before } = settle(tx, caller, asked);
        requireUnchanged(expectedUpdatedAt, before);
        const updatedAt = nextUpdate(before, parts.clock);
        const after = { ...record, createdAt: before?.createdAt ?? updatedAt, updatedAt };
        return keep(tx, caller, limitKind, before, after, { action: 'upsert' });
      });
      return { endpoint: show(kept) };
    },
    deleteRateLimitEndpoint: removal(parts, limitKind, finderOf(limitKind)),
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

/** The limit as it will be, and the one that it takes the place of. */
function settle(tx: WriteStore, caller: Caller, asked: RateLimitEndpointRecordJson) {
  const checked = checkRateLimit(asked);
  const { policyId, siteId, scope } = checkTarget(
    { policyId: asked.policyId ?? '', siteId: asked.siteId ?? '' },
    'endpoint',
  );
  if (scope === 'global') {
    throw invalidField('endpoint.policyId', 'is required where siteId is empty');
  }
  requirePlace(tx, caller, { policyId, siteId, scope }, 'endpoint');
  const id = asked.id ?? '';
  const known = id === '' ? undefined : stored(tx, caller, limitKind, id, 'endpoint.id');
  const place =
    siteId === '' ? tx.find(rateLimits, 'policy', policyId) : tx.find(rateLimits, 'site', siteId);
  const same = place.find(
    (one) =>
      one.policyId === policyId &&
      one.siteId === siteId &&
      signatureOf(one) === signatureOf(checked),
  );
  if (known !== undefined && same !== undefined && same.id !== known.id) {
    throw refusal(
      'already_exists',
      'endpoint.pathPattern: another limit has this path and methods',
    );
  }
  const before = known ?? same;
  if (before === undefined && tx.list(rateLimits).length >= accessLimits.rateLimitsMax) {
    const most = accessLimits.rateLimitsMax;
    throw refusal('resource_exhausted', `there are at most ${most} rate limits`);
  }
  const record: Omit<RateLimitRecord, 'createdAt' | 'updatedAt'> = {
    ...checked,
    id: before?.id ?? `ratelimit-${randomUUID()}`,
    tenantId: caller.tenantId,
    policyId,
    siteId,
  };
  return { record, before };
}

function show(limit: RateLimitRecord) {
  return toMessage(RateLimitEndpointRecordSchema, limit);
}
