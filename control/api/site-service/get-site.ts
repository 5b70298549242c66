/** Owns SiteService/GetSite. */

import { SiteSchema, type SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import { callerOf, type ApiParts } from '../context.ts';
import { toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { storedSite } from './stored-site.ts';

/** One site. */
export function getSite(parts: ApiParts): Method<typeof SiteService, 'getSite'> {
  return (request, context) => {
    const site = storedSite(parts.store, callerOf(context), request.id, 'id');
    return { site: toMessage(SiteSchema, site) };
  };
}
