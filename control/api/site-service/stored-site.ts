/** Finds a caller's site. */

import { plainName, refusal } from '../../domain/errors.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { policies, sites } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { finderOf, type Owned } from '../resource/owned.ts';

/** Sites. */
export const siteKind: Owned<SiteRecord> = {
  collection: sites,
  noun: 'site',
  audit: 'site',
  nameOf: ({ name }) => name,
};

/** A site of the caller's tenant. Errors: invalid_argument at `field`, not_found. */
export const storedSite = finderOf(siteKind);

/**
 * Errors: failed_precondition for a site that uses another policy: what the policy says of it would
 * have no effect.
 */
export function refuseOtherPolicy(
  store: ReadStore,
  site: SiteRecord,
  policyId: string,
  field: string,
): void {
  const known = store.list(policies).filter(({ isTemplate }) => isTemplate !== true);
  const used =
    site.waf?.policyId || (known.find(({ isDefault }) => isDefault === true)?.id ?? policyId);
  if (used === policyId) return;
  const name = known.find(({ id }) => id === used)?.name ?? '';
  throw refusal(
    'failed_precondition',
    `${field}: the site uses the policy ${plainName(name, used)}, so that this would have no ` +
      'effect there; name that policy, or move the site first',
  );
}
