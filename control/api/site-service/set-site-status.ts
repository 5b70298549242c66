/** SiteService/EnableSite and DisableSite. */

import { SiteSchema, type SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { AppError } from '../../../base/errors.ts';
import { refusal } from '../../domain/errors.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { checkSite } from '../../domain/site/site.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { nextRevision, requireRevision, toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { routingOf } from './routing.ts';
import { keep } from '../resource/owned.ts';
import { siteKind, storedSite } from './stored-site.ts';
import { surroundingsIn } from './surroundings.ts';

type Status = 'RESOURCE_STATUS_ACTIVE' | 'RESOURCE_STATUS_DISABLED';

/** Makes a site serve; what it depends on must be ready, unless forced. */
export function enableSite(
  parts: Uses<'store' | 'clock'>,
): Method<typeof SiteService, 'enableSite'> {
  return async ({ id, revision, force }, context) => {
    const caller = callerOf(context);
    const check = force
      ? () => undefined
      : (tx: ReadStore, site: SiteRecord) => requireReady(tx, site, parts.clock.nowMs());
    const site = await setStatus(parts, caller, id, revision, 'RESOURCE_STATUS_ACTIVE', check);
    return { site: toMessage(SiteSchema, site) };
  };
}

/** Stops serving a site. */
export function disableSite(
  parts: Uses<'store' | 'clock'>,
): Method<typeof SiteService, 'disableSite'> {
  return async ({ id, revision }, context) => {
    const caller = callerOf(context);
    const site = await setStatus(parts, caller, id, revision, 'RESOURCE_STATUS_DISABLED');
    return { site: toMessage(SiteSchema, site) };
  };
}

function setStatus(
  parts: Uses<'store' | 'clock'>,
  caller: Caller,
  id: string,
  revision: bigint,
  status: Status,
  check: (tx: ReadStore, site: SiteRecord) => void = () => undefined,
): Promise<SiteRecord> {
  const now = new Date(parts.clock.nowMs()).toISOString();
  return parts.store.write((tx) => {
    const before = storedSite(tx, caller, id, 'id');
    requireRevision(revision, before.revision);
    if (before.status === status) return before;
    check(tx, before);
    const after: SiteRecord = {
      ...before,
      status,
      updatedAt: now,
      revision: nextRevision(before.revision),
    };
    const action = status === 'RESOURCE_STATUS_ACTIVE' ? 'enable' : 'disable';
    return keep(tx, caller, siteKind, before, after, { action });
  });
}

/** Errors: failed_precondition when something that the site needs is missing or has ended. */
function requireReady(store: ReadStore, site: SiteRecord, nowMs: number): void {
  const routes = routingOf(store, site.id).routes ?? [];
  if ((site.upstreams ?? []).length === 0 && routes.length === 0) {
    throw refusal(
      'failed_precondition',
      'id: the site has neither an upstream nor a route; give it one, or force',
    );
  }
  try {
    checkSite(site, surroundingsIn(store, site.tenantId, nowMs));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw refusal('failed_precondition', `${error.message}; change it, or force`);
  }
}
