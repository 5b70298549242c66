/** Owns SiteService/UpdateSite. */

import { SiteSchema, type SiteJson, type SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { keepSiteSecrets } from '../../domain/site/header-secrets.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { checkSite, type SiteSurroundings } from '../../domain/site/site.ts';
import { requireDefault } from '../../domain/site/site-routing.ts';
import { applyMask, type MaskFields } from '../../domain/update-mask.ts';
import { sites } from '../../store/collections.ts';
import { actorNote, callerOf, type ApiParts } from '../context.ts';
import { nextRevision, requireRevision, toMessage, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { checkStatus, standardWaf } from './create-site.ts';
import { routingOf } from './routing.ts';
import { storedSite } from './stored-site.ts';
import { surroundingsIn } from './surroundings.ts';

const maskFields: MaskFields = {
  name: true,
  primaryHost: true,
  aliases: true,
  upstreams: true,
  status: true,
  tls: {
    mode: true,
    certId: true,
    minVersion: true,
    httpBehavior: true,
    hstsMaxAgeSeconds: true,
    hstsIncludeSubdomains: true,
  },
  waf: { enabled: true, policyId: true, mode: true },
  botProtection: {
    mode: true,
    challengeTtlSeconds: true,
    clearanceTtlSeconds: true,
    proofDifficulty: true,
    bindNetwork: true,
    challengePaths: true,
    exemptPaths: true,
    exemptMethods: true,
    challengeCrawlers: true,
    trustedIpListIds: true,
  },
};

/** Changes the masked fields of a site. */
export function updateSite(parts: ApiParts): Method<typeof SiteService, 'updateSite'> {
  return async (request, context) => {
    const caller = callerOf(context);
    if (request.site === undefined) throw invalidField('site', 'is required');
    const change = toRecord<SiteJson>(SiteSchema, request.site);
    const now = new Date(parts.clock.nowMs()).toISOString();
    const stored = await parts.store.write((tx) => {
      const before = storedSite(tx, caller, change.id ?? '', 'site.id');
      requireRevision(request.revision, before.revision);
      const masked = applyMask(before, change, request.updateMask, maskFields);
      const around = unchangedPasses(
        surroundingsIn(tx, caller.tenantId, parts.clock.nowMs()),
        before,
      );
      const checked = checkSite(keepSiteSecrets(masked, before), around);
      checkStatus(checked.status);
      requireDefault(routingOf(tx, before.id), checked);
      const after: SiteRecord = {
        ...before,
        ...checked,
        waf: checked.waf ?? standardWaf,
        id: before.id,
        name: checked.name ?? '',
        primaryHost: checked.primaryHost ?? '',
        tenantId: before.tenantId,
        createdAt: before.createdAt,
        updatedAt: now,
        revision: nextRevision(before.revision),
      };
      tx.put(sites, after);
      tx.audit({
        ...actorNote(caller),
        action: 'update',
        resourceType: 'site',
        resourceId: after.id,
        resourceName: after.name,
        before,
        after,
      });
      return after;
    });
    return { site: toMessage(SiteSchema, stored) };
  };
}

/** An ended certificate or a policy that a site already has does not refuse another change. */
function unchangedPasses(around: SiteSurroundings, before: SiteRecord): SiteSurroundings {
  return {
    ...around,
    certificate: (id) => {
      const facts = around.certificate?.(id);
      return facts === undefined || id !== before.tls?.certId
        ? facts
        : { ...facts, expired: false };
    },
    policyProblem: (id) => (id === before.waf?.policyId ? '' : (around.policyProblem?.(id) ?? '')),
  };
}
