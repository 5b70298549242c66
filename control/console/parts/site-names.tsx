/** The names of sites, for what the API names by the id of a site. */

import { createClient } from '@connectrpc/connect';
import { SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import { useCall } from '../call.ts';
import { transport } from '../session.ts';
import { allItems } from './list.tsx';

const sites = createClient(SiteService, transport);

/** What names a site by its id: the id itself for one that is gone, or that may not be read. */
export function useSiteNames(): (id: string) => string {
  const known = useCall('site names', (signal) =>
    allItems((page) => sites.listSites({ page }, { signal })),
  );
  // Until the names are there, an id would stand in their place for a moment.
  const unknown = (id: string): string => (known.loading && known.value === null ? '…' : id);
  return (id) => known.value?.find((one) => one.id === id)?.name ?? unknown(id);
}
