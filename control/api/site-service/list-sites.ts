/** SiteService/ListSites. */

import { SiteSchema, type SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { hostsOf } from '../../domain/site/site.ts';
import { callerOf, type Uses } from '../context.ts';
import { fitsQuery, pageOf, toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { listed } from '../resource/owned.ts';
import { siteKind } from './stored-site.ts';

const statuses = ['active', 'disabled', 'error'];

/** Sites of the caller's tenant, by name. */
export function listSites(parts: Uses<'store'>): Method<typeof SiteService, 'listSites'> {
  return (request, context) => {
    const caller = callerOf(context);
    const status = request.status.toLowerCase().replace(/^resource_status_/, '');
    if (status !== '' && !statuses.includes(status)) {
      throw invalidField('status', `must be one of ${statuses.join(', ')}`);
    }
    const wanted = `RESOURCE_STATUS_${status.toUpperCase()}`;
    const found = listed(parts.store, caller, siteKind)
      .filter((site) => caller.token?.siteIds?.has(site.id) !== false)
      .filter((site) => status === '' || site.status === wanted)
      .filter((site) => fitsQuery(request.query, site.name, ...hostsOf(site)));
    const { items, page } = pageOf(found, request.page);
    return { items: items.map((site) => toMessage(SiteSchema, site)), page };
  };
}
