/** Owns SiteService/EnableSite and DisableSite. */

import { SiteSchema, type SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { sites } from '../../store/collections.ts';
import { actorNote, callerOf, type ApiParts } from '../context.ts';
import { nextRevision, requireRevision, toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { storedSite } from './stored-site.ts';

type Status = 'RESOURCE_STATUS_ACTIVE' | 'RESOURCE_STATUS_DISABLED';

/** Makes a site serve. */
export function enableSite(parts: ApiParts): Method<typeof SiteService, 'enableSite'> {
  return async ({ id, revision }, context) => {
    const caller = callerOf(context);
    const site = await setStatus(parts, caller, id, revision, 'RESOURCE_STATUS_ACTIVE');
    return { site: toMessage(SiteSchema, site) };
  };
}

/** Stops serving a site. */
export function disableSite(parts: ApiParts): Method<typeof SiteService, 'disableSite'> {
  return async ({ id, revision }, context) => {
    const caller = callerOf(context);
    const site = await setStatus(parts, caller, id, revision, 'RESOURCE_STATUS_DISABLED');
    return { site: toMessage(SiteSchema, site) };
  };
}

function setStatus(
  parts: ApiParts,
  caller: Caller,
  id: string,
  revision: bigint,
  status: Status,
): Promise<SiteRecord> {
  const now = new Date(parts.clock.nowMs()).toISOString();
  return parts.store.write((tx) => {
    const before = storedSite(tx, caller, id, 'id');
    requireRevision(revision, before.revision);
    if (before.status === status) return before;
    const after: SiteRecord = {
      ...before,
      status,
      updatedAt: now,
      revision: nextRevision(before.revision),
    };
    tx.put(sites, after);
    tx.audit({
      ...actorNote(caller),
      action: status === 'RESOURCE_STATUS_ACTIVE' ? 'enable' : 'disable',
      resourceType: 'site',
      resourceId: after.id,
      resourceName: after.name,
      before,
      after,
    });
    return after;
  });
}
