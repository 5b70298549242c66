/** How documents state sites, with the routing table and the override where they name them. */

import { randomUUID } from 'node:crypto';
import { warningsFor } from '../../domain/enforcement.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { keepSiteSecrets } from '../../domain/site/header-secrets.ts';
import { checkRouting, requireDefault } from '../../domain/site/site-routing.ts';
import { checkSite } from '../../domain/site/site.ts';
import { readSiteSpec, siteSpec, type SiteSpec } from '../../publish/manifests/manifest-site.ts';
import { siteOverrides, siteRoutings } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { nextRevision } from '../convert.ts';
import type { Kind } from '../resource/resource.ts';
import { checkOverrideRanges } from './policy-override.ts';
import { routingOf } from './routing.ts';
import { siteKind } from './stored-site.ts';
import { surroundingsIn } from './surroundings.ts';

type Beside = Omit<SiteSpec, 'site'>;

/** Sites as documents ask for them. */
export const statedSiteKind: Kind<SiteSpec, SiteRecord> = {
  ...siteKind,
  prefix: 'site',
  settle: ({ tx, caller, nowMs, document }, asked, before, base) => {
    const around = surroundingsIn(tx, caller.tenantId, nowMs);
    const checked = checkSite({ ...keepSiteSecrets(asked.site, before), id: base.id }, around);
    const record: SiteRecord = {
      ...checked,
      ...base,
      name: checked.name ?? '',
      primaryHost: checked.primaryHost ?? '',
      revision: before === null ? '1' : nextRevision(before.revision),
    };
    const beside = settleBeside(tx, record, asked, around);
    document?.warn(...warningsFor('waf.v1.Site', { ...record }));
    return {
      record,
      spec: (references) => siteSpec({ ...beside, site: record }, references),
      keepMore: () => keepBeside(tx, record, beside),
    };
  },
  document: {
    reference: 'site',
    read: readSiteSpec,
    spec: (site, references, store) => {
      const { routing, override } = storedBeside(store, site);
      return siteSpec({ site, routing, policyOverride: override }, references);
    },
    revisionOf: ({ revision }) => revision,
  },
};

function storedBeside(store: ReadStore, { id }: SiteRecord) {
  return { routing: store.get(siteRoutings, id)?.routing, override: store.get(siteOverrides, id) };
}

/** Routing and override as they will be: what the document states, else what there is. */
function settleBeside(
  store: ReadStore,
  site: SiteRecord,
  asked: SiteSpec,
  { upstreamExists, upstreamActive }: ReturnType<typeof surroundingsIn>,
): Beside {
  const known = storedBeside(store, site);
  let { routing } = known;
  if (asked.routing === undefined) requireDefault(routingOf(store, site.id), site);
  else {
    const idOf = new Map((routing?.routes ?? []).map((route) => [route.pathPrefix, route.id]));
    const routes = (asked.routing.routes ?? []).map((route) => {
      const id = route.id ?? idOf.get(route.pathPrefix);
      return id === undefined ? route : { ...route, id };
    });
    const newId = () => `route-${randomUUID()}`;
    routing = checkRouting(
      { ...asked.routing, routes },
      { site, upstreamExists, upstreamActive, newId },
    );
  }
  if (asked.policyOverride !== undefined) checkOverrideRanges(asked.policyOverride);
  return { routing, policyOverride: asked.policyOverride ?? known.override };
}

function keepBeside(tx: WriteStore, site: SiteRecord, { routing, policyOverride }: Beside): void {
  const { id, tenantId, updatedAt } = site;
  if (routing !== undefined) tx.put(siteRoutings, { id, routing });
  if (policyOverride === undefined) return;
  const createdAt = tx.get(siteOverrides, id)?.createdAt ?? updatedAt;
  const policyId = site.waf?.policyId ?? '';
  tx.put(siteOverrides, {
    ...policyOverride,
    ...{ id, siteId: id, tenantId, policyId, createdAt, updatedAt },
  });
}
