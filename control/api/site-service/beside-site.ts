/** What lies beside a site: its routing table and its override of the policy, and all it leaves. */

import { randomUUID } from 'node:crypto';
import type { SitePolicyOverrideJson, SiteRoutingJson } from '../../../proto/gen/waf/v1/site_pb.ts';
import { removeAccessOf } from '../../access/remove-place.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { withoutSite } from '../../domain/site/site-options.ts';
import { checkRouting, requireDefault } from '../../domain/site/site-routing.ts';
import type { SiteSurroundings } from '../../domain/site/site.ts';
import {
  apiLearning,
  customRules,
  detectionLearning,
  learnedDrafts,
  logPolicies,
  ruleOverrides,
  settingsId,
  siteOverrides,
  siteRoutings,
  systemSettings,
} from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { forgetApiOfSite } from '../api-schema-service/forget-site.ts';
import { checkOverrideRanges } from './policy-override.ts';
import { routingOf } from './routing.ts';

/** What is asked for beside a site; what is absent stays. */
export interface BesideSite {
  readonly routing?: SiteRoutingJson | undefined;
  readonly policyOverride?: SitePolicyOverrideJson | undefined;
}

/** What is kept beside a site. */
export function storedBeside(store: ReadStore, id: string): BesideSite {
  return {
    routing: store.get(siteRoutings, id)?.routing,
    policyOverride: store.get(siteOverrides, id),
  };
}

/** Routing and override as they will be: what is asked for, else what there is. */
export function settleBeside(
  store: ReadStore,
  site: SiteRecord,
  asked: BesideSite,
  { upstreamExists, upstreamActive }: Required<SiteSurroundings>,
): BesideSite {
  const known = storedBeside(store, site.id);
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
  return { routing, policyOverride: asked.policyOverride ?? known.policyOverride };
}

/** Keeps routing and override of a site. */
export function keepBeside(
  tx: WriteStore,
  { id, tenantId, updatedAt, waf }: SiteRecord,
  { routing, policyOverride }: BesideSite,
): void {
  if (routing !== undefined) tx.put(siteRoutings, { id, routing });
  if (policyOverride === undefined) return;
  const createdAt = tx.get(siteOverrides, id)?.createdAt ?? updatedAt;
  const policyId = waf?.policyId ?? '';
  tx.put(siteOverrides, {
    ...policyOverride,
    ...{ id, siteId: id, tenantId, policyId, createdAt, updatedAt },
  });
}

/** Removes the rules, overrides, documents and settings of a site that goes. */
export function dropBeside(tx: WriteStore, siteId: string): void {
  tx.remove(siteOverrides, siteId);
  removeAccessOf(tx, 'site', siteId);
  tx.remove(siteRoutings, siteId);
  tx.remove(logPolicies, siteId);
  tx.remove(detectionLearning, siteId);
  const stored = tx.get(systemSettings, settingsId);
  const left = withoutSite(stored?.values ?? {}, siteId);
  if (stored !== undefined && left !== null) tx.put(systemSettings, { ...stored, values: left });
  forgetApiOfSite(tx, siteId);
  for (const { id } of tx.find(apiLearning, 'site', siteId)) {
    for (const draft of tx.find(learnedDrafts, 'asset', id)) {
      tx.removeBlob(draft.blob);
      tx.remove(learnedDrafts, draft.id);
    }
    tx.remove(apiLearning, id);
  }
  for (const rule of tx.list(customRules)) {
    if (rule.siteId === siteId) tx.remove(customRules, rule.id);
  }
  for (const override of tx.list(ruleOverrides)) {
    if (override.siteId === siteId) tx.remove(ruleOverrides, override.id);
  }
}
