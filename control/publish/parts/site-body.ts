/** What the body controls of a site take from the policy that protects it. */

import type { PolicyRecord, SiteRecord } from '../../domain/records.ts';
import { inheritedBody, type InheritedBody } from '../../domain/documents/body-inheritance.ts';
import { policies } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';

/** The policy that a site names, or the default one; null where there is neither. */
export function policyOfSite(store: ReadStore, { waf }: SiteRecord): PolicyRecord | null {
  const named = waf?.policyId ?? '';
  if (named !== '') return store.get(policies, named) ?? null;
  const fallback = store
    .list(policies)
    .find((policy) => policy.isDefault === true && policy.isTemplate !== true);
  return fallback ?? null;
}

/** What is inherited; a site whose WAF is off has the usual limits. */
export function inheritedOfSite(store: ReadStore, site: SiteRecord): InheritedBody {
  return inheritedBody(site.waf?.enabled === true ? policyOfSite(store, site) : null);
}
