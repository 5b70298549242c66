/** SiteService/GetSiteRouting and UpdateSiteRouting. */

import { randomUUID } from 'node:crypto';
import {
  SiteRoutingSchema,
  type SiteRoutingJson,
  type SiteService,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { checkRouting } from '../../domain/site/site-routing.ts';
import { siteRoutings } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, nextRevision, requireRevision, toMessage, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { keep, type Kept } from '../resource/owned.ts';
import { siteKind, storedSite } from './stored-site.ts';
import { surroundingsIn } from './surroundings.ts';

/** The table of a site without one: everything goes to the site's own upstream. */
const standardRouting: SiteRoutingJson = {
  routes: [],
  unmatchedAction: 'UNMATCHED_PATH_ACTION_DEFAULT_UPSTREAM',
};

/** A site whose table changes; audit rows show the table. */
const routingKind: Kept<SiteRecord> = {
  ...siteKind,
  audit: 'site_routing',
  audited: ({ id }, store) => routingOf(store, id),
};

/** The routing table of a site. */
export function routingOf(store: ReadStore, siteId: string): SiteRoutingJson {
  return store.get(siteRoutings, siteId)?.routing ?? standardRouting;
}

/** The routing table of a site, with the site's revision. */
export function getSiteRouting(parts: Uses<'store'>): Method<typeof SiteService, 'getSiteRouting'> {
  return ({ siteId }, context) => {
    const site = storedSite(parts.store, callerOf(context), siteId, 'siteId');
    return {
      routing: toMessage(SiteRoutingSchema, routingOf(parts.store, site.id)),
      revision: BigInt(site.revision),
    };
  };
}

/** Replaces the whole table; revision 0 leaves the revision unchecked. */
export function updateSiteRouting(
  parts: Uses<'store' | 'clock'>,
): Method<typeof SiteService, 'updateSiteRouting'> {
  return async (request, context) => {
    const caller = callerOf(context);
    if (request.routing === undefined) throw invalidField('routing', 'is required');
    if (request.revision < 0n) throw invalidField('revision', 'must be 0 or more');
    const asked = toRecord<SiteRoutingJson>(SiteRoutingSchema, request.routing);
    const [routing, revision] = await parts.store.write((tx) => {
      const site = storedSite(tx, caller, request.siteId, 'siteId');
      if (request.revision !== 0n) requireRevision(request.revision, site.revision);
      const around = surroundingsIn(tx, caller.tenantId, parts.clock.nowMs());
      const after = checkRouting(asked, {
        site,
        upstreamExists: around.upstreamExists,
        upstreamActive: around.upstreamActive,
        newId: () => `route-${randomUUID()}`,
      });
      const changed: SiteRecord = {
        ...site,
        updatedAt: isoNow(parts.clock),
        revision: nextRevision(site.revision),
      };
      keep(tx, caller, routingKind, site, changed, {}, () =>
        tx.put(siteRoutings, { id: site.id, routing: after }),
      );
      return [after, changed.revision] as const;
    });
    return { routing: toMessage(SiteRoutingSchema, routing), revision: BigInt(revision) };
  };
}
