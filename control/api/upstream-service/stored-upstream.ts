/** Owns finding a caller's upstream pool, and who uses it. */

import type { Caller } from '../../auth/permissions.ts';
import { notFound } from '../../domain/errors.ts';
import type { UpstreamRecord } from '../../domain/records.ts';
import type { User } from '../../domain/usage.ts';
import { siteRoutings, sites, upstreams } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { requireText } from '../convert.ts';

/** A pool of the caller's tenant. Errors: invalid_argument at `field`, not_found. */
export function storedUpstream(
  store: ReadStore,
  caller: Caller,
  id: string,
  field: string,
): UpstreamRecord {
  const pool = store.get(upstreams, requireText(id, field));
  if (pool === undefined || pool.tenantId !== caller.tenantId) throw notFound('upstream pool', id);
  return pool;
}

/** Sites whose requests go to a pool, by default or by a route. */
export function usersOfUpstream(store: ReadStore, id: string): User[] {
  const direct = store
    .list(sites)
    .filter((site) => (site.upstreams ?? []).some((one) => one.upstreamId === id))
    .map((site) => site.id);
  const routed = store.find(siteRoutings, 'upstream', id).map((routing) => routing.id);
  return [...new Set([...direct, ...routed])].sort().map((one) => ({ kind: 'site', id: one }));
}
