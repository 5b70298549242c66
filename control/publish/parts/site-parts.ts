/**
 * The pieces of a bundle that say where traffic goes: sites, pools, block pages. Sites and pools
 * lie in a fixed number of drawers, so that a change of one rebuilds a handful.
 */

import { poolsOf } from '../../domain/site/site-routing.ts';
import { responsesJson } from '../../domain/site/response-settings.ts';
import { certificateChooser, servesTls, travelingTls } from '../../domain/site/site-certificate.ts';
import { travelingOptions } from '../../domain/site/site-options.ts';
import { certificates, settingsId, systemSettings, upstreams } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import {
  poolUpstream,
  toBundleUpstream,
  toRuntimeSite,
  type BundleUpstream,
} from '../build-bundle.ts';
import { drawers } from './drawers.ts';
import type { PartKind, PartPlan } from './part-kind.ts';
import { readServedSites, servedCollections, type ServedSite } from './served-sites.ts';

/** Sites that serve, with the endpoints that they name themselves. */
export const siteKind: PartKind = {
  name: 'site',
  collections: [...servedCollections, 'certificates', 'upstreams'],
  plan: planSites,
};

/** Pools. */
export const upstreamKind: PartKind = {
  name: 'upstream',
  collections: ['upstreams'],
  plan: (store) =>
    drawers(store.list(upstreams), ({ id }) => id).map(([id, pools]) => ({
      id,
      inputs: pools,
      build: () => ({ upstreams: pools.map((pool) => poolUpstream(toBundleUpstream(pool))) }),
    })),
};

/** Block pages of the deployment. */
export const responsesKind: PartKind = {
  name: 'responses',
  collections: ['settings'],
  plan: (store) => {
    const text = responsesJson(store.get(systemSettings, settingsId)?.values ?? {});
    return text === '' ? [] : [{ id: '', inputs: [text], build: () => ({ responsesJson: text }) }];
  },
};

/** What settings of the deployment choose for sites. */
export const siteOptionsKind: PartKind = {
  name: 'site-options',
  collections: ['settings'],
  plan: (store) => {
    const options = travelingOptions(store.get(systemSettings, settingsId)?.values ?? {});
    const text = JSON.stringify(options);
    const build = () => ({ siteOptions: options });
    return options.length === 0 ? [] : [{ id: '', inputs: [text], build }];
  },
};

function planSites(store: ReadStore): PartPlan[] {
  const pools = new Map(store.list(upstreams).map((pool) => [pool.id, toBundleUpstream(pool)]));
  const certificateOf = certificateChooser(store.list(certificates));
  return drawers(readServedSites(store), ({ site }) => site.id).map(([id, served]) => ({
    id,
    inputs: served.flatMap((one) => [...inputsOf(one, pools), certificateOf(one.site)?.id]),
    build: () => {
      const built = served.map((one) => buildSite(one, pools, certificateOf(one.site)?.id ?? ''));
      const inline = built.flatMap((one) => one.upstreams.filter((pool) => !pools.has(pool.id)));
      return { sites: built.map((one) => one.site), upstreams: inline };
    },
  }));
}

function buildSite(
  { site, routing, variant }: ServedSite,
  pools: Map<string, BundleUpstream>,
  certificateId: string,
) {
  const policyId = variant?.id ?? '';
  const sharedPolicyId = variant?.policy.id ?? '';
  const tls = servesTls(site) ? { tls: travelingTls(site, certificateId) } : {};
  const shadow = variant?.shadow;
  const around = { failOpen: false, routing: routing?.routing ?? {}, shadow, ...tls };
  return toRuntimeSite({ site, policyId, sharedPolicyId, ...around }, pools);
}

/** Of a pool a site holds only the name: whether it is there, not what it is. */
function inputsOf(
  { site, routing, variant }: ServedSite,
  pools: ReadonlyMap<string, BundleUpstream>,
): unknown[] {
  const own = (site.upstreams ?? []).flatMap(({ upstreamId }) => upstreamId || []);
  const named = [...own, ...poolsOf(routing?.routing)];
  const missing = named.filter((id) => !pools.has(id)).length;
  return [site, routing, variant?.id, variant?.shadow, missing];
}
