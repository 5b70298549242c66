/** What is set for policies and for sites, where a command names neither. */

import { allPages } from '../all-pages.ts';
import type { ApiClient } from '../api-client.ts';

/** A policy or a site. */
interface Place {
  readonly policyId?: string;
  readonly siteId?: string;
}

/** What `list` has for every policy and every site, once each. Cost: a call for each of them. */
export async function listEverywhere<Found extends { readonly id: string }>(
  api: ApiClient,
  list: (place: Place) => Promise<{ readonly items: readonly Found[] }>,
): Promise<Found[]> {
  const policies = await allPages((page) => api.policies.listPolicies({ page }));
  const sites = await allPages((page) => api.sites.listSites({ page }));
  const places = [
    ...policies.map(({ id }) => ({ policyId: id })),
    ...sites.map(({ id }) => ({ siteId: id })),
  ];
  // What a site has under one policy is in the lists of both.
  const found = new Map<string, Found>();
  for (const place of places) {
    for (const one of (await list(place)).items) found.set(one.id, one);
  }
  return [...found.values()];
}
