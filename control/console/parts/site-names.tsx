/** The names of sites, for what the API names by the id of a site. */

import { createClient } from '@connectrpc/connect';
import { SiteService, type Site } from '../../../proto/gen/waf/v1/site_pb.ts';
import { useCall, type Loaded } from '../call.ts';
import { transport } from '../session.ts';
import { allItems } from './list.tsx';

const sites = createClient(SiteService, transport);

/** All sites. */
export function useSites(): Loaded<readonly Site[]> {
  return useCall('site names', (signal) =>
    allItems((page) => sites.listSites({ page }, { signal })),
  );
}

/** What names a site by its id: the id itself for one that is gone, or that may not be read. */
export function siteNames({ value, loading }: Loaded<readonly Site[]>): (id: string) => string {
  // Until the names are there, an id would stand in their place for a moment.
  const unknown = (id: string): string => (loading && value === null ? '…' : id);
  return (id) => value?.find((one) => one.id === id)?.name ?? unknown(id);
}

/** The same of all sites. */
export function useSiteNames(): (id: string) => string {
  return siteNames(useSites());
}
