/** Owns finding a caller's upstream pool. */

import type { Caller } from '../../auth/permissions.ts';
import { notFound } from '../../domain/errors.ts';
import type { UpstreamRecord } from '../../domain/records.ts';
import { upstreams } from '../../store/collections.ts';
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
  if (pool === undefined || pool.tenantId !== caller.tenantId) throw notFound('upstream');
  return pool;
}
