/** Owns what a site is checked against. */

import type { SiteSurroundings } from '../../domain/site.ts';
import { policies, sites, upstreams } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';

/** The other sites, pools and policies of a tenant. */
export function surroundingsIn(store: ReadStore, tenantId: string): SiteSurroundings {
  const ours = (found: { readonly tenantId: string } | undefined): boolean =>
    found?.tenantId === tenantId;
  return {
    // Hosts are routed for the whole installation, so other tenants' sites count too.
    others: store.list(sites),
    upstreamExists: (id) => ours(store.get(upstreams, id)),
    policyExists: (id) => ours(store.get(policies, id)),
  };
}
