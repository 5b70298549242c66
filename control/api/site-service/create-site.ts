/** SiteService/CreateSite. */

import { SiteSchema, type SiteJson, type SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { keepSiteSecrets } from '../../domain/site/header-secrets.ts';
import { checkSite } from '../../domain/site/site.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { keep } from '../resource/owned.ts';
import { newSiteRecord, siteKind } from './stored-site.ts';
import { surroundingsIn } from './surroundings.ts';

/** Creates a site; without a stated WAF it is protected by the default policy. */
export function createSite(
  parts: Uses<'store' | 'clock'>,
): Method<typeof SiteService, 'createSite'> {
  return async (request, context) => {
    const caller = callerOf(context);
    if (request.site === undefined) throw invalidField('site', 'is required');
    const sent = toRecord<SiteJson>(SiteSchema, request.site);
    const asked = withSiteDefaults(keepSiteSecrets(sent, null));
    const now = new Date(parts.clock.nowMs()).toISOString();
    const stored = await parts.store.write((tx) => {
      const checked = checkSite(asked, surroundingsIn(tx, caller.tenantId, parts.clock.nowMs()));
      return keep(tx, caller, siteKind, null, newSiteRecord(checked, caller.tenantId, now));
    });
    return { site: toMessage(SiteSchema, stored) };
  };
}

/** Errors: invalid_argument for a status that an operator cannot give. */
export function checkStatus(status: SiteJson['status']): void {
  if (status === 'RESOURCE_STATUS_ACTIVE' || status === 'RESOURCE_STATUS_DISABLED') return;
  throw invalidField('site.status', 'must be RESOURCE_STATUS_ACTIVE or RESOURCE_STATUS_DISABLED');
}

/** What protects a site that states nothing: the default policy, blocking. */
export const standardWaf = { enabled: true, mode: 'WAF_MODE_BLOCKING' } as const;

/** A site to be created, with standard values where it states none. */
export function withSiteDefaults(site: SiteJson): SiteJson {
  const { id: _id, deletedAt: _deletedAt, ...rest } = site;
  const status = rest.status ?? 'RESOURCE_STATUS_ACTIVE';
  checkStatus(status);
  return {
    ...rest,
    status,
    tls: rest.tls ?? { mode: 'TLS_MODE_NONE' },
    waf: rest.waf === undefined ? standardWaf : { mode: 'WAF_MODE_BLOCKING', ...rest.waf },
  };
}
