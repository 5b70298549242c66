/** Owns applying a Site document, with its routing table and its override where it states them. */

import { randomUUID } from 'node:crypto';
import { warningsFor } from '../../domain/enforcement.ts';
import { keepSiteSecrets } from '../../domain/site/header-secrets.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { checkSite } from '../../domain/site/site.ts';
import { checkRouting, requireDefault } from '../../domain/site/site-routing.ts';
import type { ManifestDocument } from '../../publish/manifests/manifest-documents.ts';
import { readSiteSpec, siteSpec, type SiteSpec } from '../../publish/manifests/manifest-site.ts';
import { siteOverrides, siteRoutings } from '../../store/collections.ts';
import { nextRevision } from '../convert.ts';
import { checkOverrideRanges } from '../site-service/policy-override.ts';
import { keep } from '../resource/owned.ts';
import { routingOf } from '../site-service/routing.ts';
import { siteKind } from '../site-service/stored-site.ts';
import { changeOf, type ApplyRun, type DocumentChange } from './context.ts';
import { findBefore, refuseTakenId } from './find-before.ts';

/** Makes the site what the document says. Errors: AppError naming the field. */
export function applySite(run: ApplyRun, document: ManifestDocument): DocumentChange {
  const { tx, caller, now, references } = run;
  const before = findBefore(run, 'site', document, (id) => run.sites.get(id));
  if (before === null) refuseTakenId(document, run.sites.get(document.statedId));
  const asked = readSiteSpec(document, references);
  const { around } = run;
  const id = before?.id ?? (document.statedId || `site-${randomUUID()}`);
  const checked = checkSite({ ...keepSiteSecrets(asked.site, before), id }, around);
  const draft: SiteRecord = {
    ...checked,
    id,
    tenantId: caller.tenantId,
    name: checked.name ?? '',
    primaryHost: checked.primaryHost ?? '',
    revision: before === null ? '1' : nextRevision(before.revision),
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
  };
  const settled = settleExtras(run, draft, asked, around);
  run.warn(...warningsFor('waf.v1.Site', { ...draft }));
  const earlier = before === null ? null : storedSpec(run, before);
  const later = siteSpec({ ...settled, site: draft }, references);
  const change = changeOf(document, id, draft.revision, earlier, later);
  const renamed = before !== null && before.name !== draft.name;
  if (change.action === 'unchanged' && !renamed) {
    return { ...change, revision: before?.revision ?? '1' };
  }
  run.sites.set(id, draft);
  references.add('site', id, draft.name);
  keepExtras(run, draft, settled);
  keep(tx, caller, siteKind, before, draft);
  return renamed ? { ...change, action: 'update', changedPaths: ['metadata.name'] } : change;
}

function storedSpec({ tx, references }: ApplyRun, site: SiteRecord) {
  const routing = tx.get(siteRoutings, site.id)?.routing;
  return siteSpec({ site, routing, policyOverride: tx.get(siteOverrides, site.id) }, references);
}

/** Routing and override as they will be: what the document states, else what there is. */
function settleExtras(
  { tx }: ApplyRun,
  site: SiteRecord,
  asked: SiteSpec,
  around: ApplyRun['around'],
): Omit<SiteSpec, 'site'> {
  const known = tx.get(siteRoutings, site.id)?.routing;
  let routing = known;
  if (asked.routing === undefined) requireDefault(routingOf(tx, site.id), site);
  else {
    const idOf = new Map((known?.routes ?? []).map((route) => [route.pathPrefix, route.id]));
    const routes = (asked.routing.routes ?? []).map((route) => {
      const id = route.id ?? idOf.get(route.pathPrefix);
      return id === undefined ? route : { ...route, id };
    });
    routing = checkRouting(
      { ...asked.routing, routes },
      {
        site,
        upstreamExists: around.upstreamExists,
        upstreamActive: around.upstreamActive,
        newId: () => `route-${randomUUID()}`,
      },
    );
  }
  if (asked.policyOverride !== undefined) checkOverrideRanges(asked.policyOverride);
  return { routing, policyOverride: asked.policyOverride ?? tx.get(siteOverrides, site.id) };
}

function keepExtras(
  { tx, now }: ApplyRun,
  site: SiteRecord,
  settled: Omit<SiteSpec, 'site'>,
): void {
  if (settled.routing !== undefined) {
    tx.put(siteRoutings, { id: site.id, routing: settled.routing });
  }
  if (settled.policyOverride === undefined) return;
  const before = tx.get(siteOverrides, site.id);
  tx.put(siteOverrides, {
    ...settled.policyOverride,
    id: site.id,
    siteId: site.id,
    tenantId: site.tenantId,
    policyId: site.waf?.policyId ?? '',
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
  });
}
