/** SiteService/CreateSite. */

import { AppError } from '../../../base/errors.ts';
import { SiteSchema, type SiteJson, type SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { applicationNote, recognizePage } from '../../domain/policy/application-notes.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { keepSiteSecrets } from '../../domain/site/header-secrets.ts';
import { checkSite } from '../../domain/site/site.ts';
import { toBundleUpstream, upstreamOf, type BundleUpstream } from '../../publish/build-bundle.ts';
import { upstreams } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage, toRecord } from '../convert.ts';
import { policyOfSite } from '../log-service/explain-event.ts';
import type { Method } from '../method.ts';
import { keep } from '../resource/owned.ts';
import { newSiteRecord, siteKind } from './stored-site.ts';
import { surroundingsIn } from './surroundings.ts';

/** Creates a site; without a stated WAF it is protected by the default policy. */
export function createSite(
  parts: Uses<'store' | 'clock' | 'engine'>,
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
    const warnings = request.recognizeApplication ? await applicationOf(parts, stored) : [];
    return { site: toMessage(SiteSchema, stored), warnings };
  };
}

/** What to say of the application that the origin's first page shows; nothing where none does. */
async function applicationOf(
  { store, engine }: Uses<'store' | 'engine'>,
  site: SiteRecord,
): Promise<string[]> {
  const pool = (id: string): BundleUpstream | undefined => {
    const record = store.get(upstreams, id);
    return record?.tenantId === site.tenantId ? toBundleUpstream(record) : undefined;
  };
  const host = (site.primaryHost ?? '').replace(/^\*\./, 'www.');
  const page = await engine.firstPage(upstreamOf({ site }, { get: pool }), host).catch(noPage);
  const found = page === null || page.status === 0 ? null : recognizePage(page);
  const policy = policyOfSite(store, site.tenantId, site.id);
  return found === null ? [] : [applicationNote(found, site.id, policy)];
}

/** The site is made: that nobody can ask its origin is no error of the call. */
function noPage(thrown: unknown): null {
  if (thrown instanceof AppError) return null;
  throw thrown;
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
