/** Gathers what rules of alerts look at, but for counts: nodes, certificates, origins, storage. */

import { poolsOf } from '../domain/site/site-routing.ts';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type {
  AlertFactSet,
  CertificateFact,
  NodeFact,
  OriginFact,
} from '../domain/alert/alert-facts.ts';
import { certificateChooser } from '../domain/site/site-certificate.ts';
import { defaultTenantId, type SiteRecord } from '../domain/records.ts';
import type { AgentRecord } from '../domain/resource-records.ts';
import { alertLimits } from '../limits/alert-limits.ts';
import { heldNote } from '../publish/held-policies.ts';
import { agents, certificates, siteRoutings, sites, upstreams } from '../store/collections.ts';
import type { ReadStore } from '../store/store.ts';
import { ownedBy } from './resource/owned.ts';
import { lastSeenAt, localNodeId } from './agent-service/known-nodes.ts';
import type { ApiParts } from './context.ts';
import { staleAfterMs } from './upstream-service/unhealthy-origins.ts';

type FactParts = Pick<ApiParts, 'store' | 'clock' | 'nodes' | 'publisher' | 'storage'> & {
  /** Whether nodes may be connected to another controller. */
  readonly sharesStore?: boolean;
};

/** A reader of the facts of a tenant; `startedMs`: when control began to listen to nodes. */
export function alertFactsReader(
  parts: FactParts,
  startedMs: number,
): (tenantId: string) => Omit<AlertFactSet, 'counts' | 'countsFromMs' | 'nowMs'> {
  return (tenantId) => {
    const ours = ownedBy(parts.store, { tenantId }, { collection: sites });
    const nodes = nodeFacts(parts, tenantId, startedMs);
    const named = [...ours, ...nodes];
    return {
      nodes,
      certificates: certificateFacts(parts.store, tenantId, ours),
      origins: originFacts(parts, nodes, ours),
      storage: storageFact(parts),
      names: new Map(named.map(({ id, name }) => [id, name])),
    };
  };
}

function nodeFacts(parts: FactParts, tenantId: string, startedMs: number): NodeFact[] {
  const local = { id: localNodeId, name: 'Built-in node' };
  const remote = ownedBy(parts.store, { tenantId }, { collection: agents });
  return [
    ...(tenantId === defaultTenantId ? [nodeFact(parts, local, startedMs)] : []),
    ...remote.map((agent) => nodeFact(parts, agent, startedMs, agent)),
  ];
}

function nodeFact(
  { clock, nodes, publisher, sharesStore = false }: FactParts,
  { id, name }: { readonly id: string; readonly name: string },
  startedMs: number,
  agent?: AgentRecord,
): NodeFact {
  const state = nodes.get(id);
  const current = publisher.current();
  const nowMs = clock.nowMs();
  const seen = state?.connected === true && nowMs - state.lastSeenMs <= staleAfterMs;
  // Nodes come back one after the other when control was replaced.
  const tooEarly = nowMs - startedMs < alertLimits.startGraceMs;
  // The controller that it is connected to notes when it goes, unless it ended itself.
  const noted = sharesStore && agent?.status === 'AGENT_STATUS_ONLINE';
  const elsewhere = noted && state?.lost !== true;
  const serves = seen && current !== null && state.configHash === current.signed.sha256;
  const apply = state?.apply ?? null;
  const held = serves ? heldNote(current.held) : '';
  return {
    id,
    name,
    online: seen ? true : tooEarly || elsewhere ? null : false,
    lastSeenAt: lastSeenAt(state, agent),
    current: current === null ? null : serves,
    applyFailed: apply?.success === false || held !== '',
    applyError: apply?.error || held,
    revision: apply?.revision ?? '',
  };
}

function certificateFacts(
  store: ReadStore,
  tenantId: string,
  ours: readonly SiteRecord[],
): CertificateFact[] {
  const all = ownedBy(store, { tenantId }, { collection: certificates });
  const choose = certificateChooser(all);
  const users = new Map<string, string[]>();
  for (const site of ours) {
    const id = choose(site)?.id;
    if (id !== undefined) users.set(id, [...(users.get(id) ?? []), site.id]);
  }
  return all.flatMap(({ id, name, notAfter }) => {
    const endsAtMs = typeof notAfter === 'string' ? Date.parse(notAfter) : Number.NaN;
    // One that is being ordered has no end yet.
    if (Number.isNaN(endsAtMs)) return [];
    return [{ id, name, endsAtMs, siteIds: users.get(id) ?? [] }];
  });
}

function originFacts(
  { store, clock, nodes }: FactParts,
  known: readonly NodeFact[],
  ours: readonly SiteRecord[],
): OriginFact[] {
  const bySite = new Map(ours.map((site) => [site.id, site]));
  const users = poolUsers(store, ours);
  return known.flatMap(({ id: nodeId }) => {
    const state = nodes.get(nodeId);
    return (state?.upstreamHealth ?? []).flatMap((one): OriginFact[] => {
      const { upstreamId, endpointUrl, status, reportedAt, lastError } = one;
      const pool = store.get(upstreams, upstreamId);
      const site = bySite.get(upstreamId.replace(/^site-/, ''));
      const owner = pool?.name ?? site?.name;
      if (owner === undefined) return [];
      const atMs = reportedAt === undefined ? 0 : timestampMs(reportedAt);
      const tells = state?.connected === true && clock.nowMs() - atMs <= staleAfterMs;
      const judged = status === 'healthy' ? true : status === 'unhealthy' ? false : null;
      const siteIds = pool === undefined ? [site!.id] : (users.get(pool.id) ?? []);
      return [
        {
          ...{ nodeId, upstreamId, owner, siteIds, endpoint: endpointUrl, error: lastError },
          healthy: tells ? judged : null,
        },
      ];
    });
  });
}

/** Sites by the pool that they ask, by themselves or by a route. */
function poolUsers(store: ReadStore, ours: readonly SiteRecord[]): Map<string, string[]> {
  const users = new Map<string, string[]>();
  for (const site of ours) {
    const own = (site.upstreams ?? []).map(({ upstreamId = '' }) => upstreamId);
    const asked = [...own, ...poolsOf(store.get(siteRoutings, site.id)?.routing)];
    for (const id of new Set(asked)) users.set(id, [...(users.get(id) ?? []), site.id]);
  }
  return users;
}

const storageStatus: Readonly<Record<string, AlertFactSet['storage']['status']>> = {
  LOG_STORAGE_HEALTH_STATUS_HEALTHY: 'healthy',
  LOG_STORAGE_HEALTH_STATUS_WARNING: 'warning',
  LOG_STORAGE_HEALTH_STATUS_CRITICAL: 'critical',
};

function storageFact({ storage }: FactParts): AlertFactSet['storage'] {
  const health = storage.health(0);
  return {
    status: storageStatus[health.status ?? ''] ?? 'unknown',
    availableBytes: String(health.filesystemAvailableBytes ?? '0'),
    estimatedRemainingSeconds: String(health.estimatedRemainingSeconds ?? '0'),
  };
}
