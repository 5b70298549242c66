/** Owns finding a caller's site. */

import type { Caller } from '../../auth/permissions.ts';
import { notFound } from '../../domain/errors.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { sites } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { requireText } from '../convert.ts';

/** A site of the caller's tenant. Errors: invalid_argument at `field`, not_found. */
export function storedSite(
  store: ReadStore,
  caller: Caller,
  id: string,
  field: string,
): SiteRecord {
  const site = store.get(sites, requireText(id, field));
  if (site === undefined || site.tenantId !== caller.tenantId) throw notFound('site');
  return site;
}
