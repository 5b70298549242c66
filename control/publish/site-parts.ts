/**
 * Owns the pieces of a bundle that say where traffic goes: sites, pools, block pages. Sites and
 * pools lie in a fixed number of drawers, so that a change of one rebuilds a handful.
 */

import { responsesJson } from '../domain/settings.ts';
import { settingsId, systemSettings, upstreams } from '../store/collections.ts';
import type { ReadStore } from '../store/store.ts';
import {
  poolUpstream,
  toBundleUpstream,
  toRuntimeSite,
  type BundleUpstream,
} from './build-bundle.ts';
import type { PartKind, PartPlan } from './part-kind.ts';
import { readServedSites, servedCollections, type ServedSite } from './served-sites.ts';

const drawerCount = 64;

/** Sites that serve, with the endpoints that they name themselves. */
export const siteKind: PartKind = {
  name: 'site',
  collections: [...servedCollections, 'upstreams'],
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

function planSites(store: ReadStore): PartPlan[] {
  const pools = new Map(store.list(upstreams).map((pool) => [pool.id, toBundleUpstream(pool)]));
  return drawers(readServedSites(store), ({ site }) => site.id).map(([id, served]) => ({
    id,
    inputs: served.flatMap((one) => inputsOf(one, pools)),
    build: () => {
      const built = served.map((one) => buildSite(one, pools));
      const inline = built.flatMap((one) => one.upstreams.filter((pool) => !pools.has(pool.id)));
      return { sites: built.map((one) => one.site), upstreams: inline };
    },
  }));
}

function buildSite({ site, routing, variant }: ServedSite, pools: Map<string, BundleUpstream>) {
  const policyId = variant?.id ?? '';
  return toRuntimeSite({ site, policyId, failOpen: false, routing: routing?.routing ?? {} }, pools);
}

/** Of a pool a site holds only the name: whether it is there, not what it is. */
function inputsOf(
  { site, routing, variant }: ServedSite,
  pools: ReadonlyMap<string, BundleUpstream>,
): unknown[] {
  const named = [...(site.upstreams ?? []), ...(routing?.routing.routes ?? [])];
  const missing = named.filter(({ upstreamId }) => upstreamId && !pools.has(upstreamId)).length;
  return [site, routing, variant?.id, missing];
}

/** Sorts into drawers by a hash of the id; empty drawers are left out. */
function drawers<T>(items: readonly T[], idOf: (item: T) => string): [string, T[]][] {
  const found = new Map<number, T[]>();
  for (const item of items) {
    const at = drawerOf(idOf(item));
    const drawer = found.get(at);
    if (drawer === undefined) found.set(at, [item]);
    else drawer.push(item);
  }
  return [...found].map(([at, content]) => [String(at).padStart(2, '0'), content]);
}

function drawerOf(id: string): number {
  let hash = 0;
  for (let at = 0; at < id.length; at++) hash = (Math.imul(hash, 31) + id.charCodeAt(at)) >>> 0;
  return hash % drawerCount;
}
