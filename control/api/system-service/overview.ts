/**
 * SystemService/GetDashboardOverview: exact counts of traffic, rankings of it by whole hours,
 * and rankings of the security events that are kept.
 */

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { TimeRangeSchema } from '../../../proto/gen/waf/v1/common_pb.ts';
import type { SecuritySummaryDimensionJson } from '../../../proto/gen/waf/v1/log_pb.ts';
import type { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import { geoOf, openNetworkGeo } from '../../access/network-geo.ts';
import type { Caller } from '../../auth/permissions.ts';
import type { Buckets } from '../../domain/traffic-buckets.ts';
import { isAttack } from '../../observe/security-event.ts';
import { SummaryCounts, type SecuritySummary } from '../../observe/summary.ts';
import { agents, sites } from '../../store/collections.ts';
import { agentsOf, localNodeId } from '../agent-service/known-nodes.ts';
import { callerOf, type ApiParts, type Uses } from '../context.ts';
import { observationCoverage } from '../log-service/coverage.ts';
import type { Method } from '../method.ts';
import { overloadFor, overloadFreshness } from '../nodes/node-overload.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { ownedBy } from '../resource/owned.ts';
import { AttackCounts, AttackerCounts, CountryCounts } from './attack-counts.ts';
import { dashboardStats, eventsOf, limitOf } from './dashboard.ts';
import { topValues } from './rankings.ts';
import { bucketsIn, toPoints, toQuality, toStatusRanking, totalOf, trafficOf } from './traffic.ts';

const dimensions: readonly SecuritySummaryDimensionJson[] = [
  'SECURITY_SUMMARY_DIMENSION_ATTACKER',
  'SECURITY_SUMMARY_DIMENSION_SITE',
  'SECURITY_SUMMARY_DIMENSION_TARGET',
  'SECURITY_SUMMARY_DIMENSION_ATTACK_TYPE',
  'SECURITY_SUMMARY_DIMENSION_RULE',
  'SECURITY_SUMMARY_DIMENSION_METHOD',
];
/** Nodes send counts four times a second; older ones than this are worth a word. */
const staleAfterMs = 60_000;

/** The whole overview for a span of time, default the last day. */
export function getDashboardOverview(
  parts: Uses<'store' | 'clock' | 'events' | 'counters' | 'publisher' | 'nodes'>,
): Method<typeof SystemService, 'getDashboardOverview'> {
  return async ({ timeRange, bucketSize, siteId, topKLimit }, context) => {
    const caller = callerOf(context);
    const limit = limitOf(topKLimit, 'topKLimit');
    if (siteId !== '') storedSite(parts.store, caller, siteId, 'siteId');
    const buckets = bucketsIn(parts, timeRange, bucketSize);
    const steps = trafficOf(parts, caller, siteId, buckets);
    const total = totalOf(steps);
    const span = create(TimeRangeSchema, {
      start: timestampFromMs(buckets.startMs),
      end: timestampFromMs(buckets.endMs),
    });
    const placeOf = openNetworkGeo(parts.store);
    const sums = new SummaryCounts(dimensions, false);
    const attacks = new AttackCounts();
    const attackers = new AttackerCounts();
    const countries = new CountryCounts(placeOf);
    for await (const event of eventsOf(parts, context, { timeRange: span, siteId })) {
      if (!isAttack(event)) continue;
      for (const counts of [sums, attacks, attackers, countries]) counts.add(event);
    }
    const summary = sums.result(limit);
    const ranking = (name: string) => toRanking(summary, name, summary.total);
    return {
      timeRange: span,
      trafficBucketSeconds: BigInt(buckets.stepSeconds),
      stats: dashboardStats(parts, caller),
      traffic: toPoints(steps, buckets),
      attackDistribution: attacks.result(limit),
      topAttackers: attackers.result(limit, placeOf),
      topStatuses: toStatusRanking(total, limit),
      ...topValues(parts, caller, siteId, buckets, limit),
      ...(siteId === '' ? topSites(parts, caller, buckets, limit) : {}),
      securityTopAttackers: withPlaces(ranking('ATTACKER'), placeOf),
      securityTopSites: ranking('SITE'),
      securityTopTargets: ranking('TARGET'),
      securityTopAttackTypes: ranking('ATTACK_TYPE'),
      securityTopRules: ranking('RULE'),
      securityTopMethods: ranking('METHOD'),
      securityTopCountries: toCountries(countries.result(), limit),
      freshness: freshnessOf(parts, caller, buckets),
      trafficQuality: toQuality(total),
      coverageLimited: summary.limited.length > 0 || attacks.limited || attackers.limited,
    };
  };
}

/** Sites by requests, the busiest first. */
function topSites(
  parts: Uses<'store' | 'counters'>,
  caller: Caller,
  buckets: Buckets,
  limit: number,
) {
  const { resolution, startMs, endMs } = buckets;
  const counted = ownedBy(parts.store, caller, { collection: sites })
    .map(({ id }) => ({
      id,
      ...totalOf(parts.counters.traffic(resolution, caller.tenantId, id, startMs, endMs)),
    }))
    .filter(({ requests }) => requests > 0)
    .sort((left, right) => right.requests - left.requests || (left.id < right.id ? -1 : 1));
  const rest = counted.slice(limit).reduce((sum, { requests }) => sum + requests, 0);
  return {
    topSites: counted.slice(0, limit).map(({ id, requests, blocked }) => ({
      siteId: id,
      total: BigInt(requests),
      blocked: BigInt(blocked),
    })),
    otherSitesTotal: BigInt(rest),
  };
}

function toRanking(summary: SecuritySummary, name: string, events: number) {
  const dimension = `SECURITY_SUMMARY_DIMENSION_${name}` as SecuritySummaryDimensionJson;
  const items = summary.top.get(dimension) ?? [];
  const shown = items.reduce((sum, { count }) => sum + count, 0n);
  const totalWeight = BigInt(events);
  const otherCount = totalWeight > shown ? totalWeight - shown : 0n;
  return {
    items: items.map(({ key, count, label }) => ({ key, count, label })),
    otherCount,
    totalWeight,
  };
}

type Ranking = ReturnType<typeof toRanking>;
type PlaceOf = ReturnType<typeof openNetworkGeo>;

function withPlaces({ items, ...rest }: Ranking, placeOf: PlaceOf) {
  return { ...rest, items: items.map((one) => ({ ...one, ...geoOf(placeOf(one.key)) })) };
}

function toCountries({ ranked, none }: ReturnType<CountryCounts['result']>, limit: number) {
  const sum = (rows: typeof ranked): number => rows.reduce((total, [, count]) => total + count, 0);
  return {
    items: ranked.slice(0, limit).map(([key, count]) => ({ key, count: BigInt(count) })),
    otherCount: BigInt(sum(ranked.slice(limit)) + none),
    totalWeight: BigInt(sum(ranked) + none),
  };
}

/** Observations that enrolled nodes of a tenant hold or gave up. */
function remoteCoverage(parts: Uses<'store' | 'nodes'>, caller: Caller) {
  const ours = new Set(agentsOf(parts.store, caller).map(({ id }) => id));
  const list = (): ReturnType<ApiParts['nodes']['list']> =>
    parts.nodes.list().filter(({ id }) => ours.has(id));
  return observationCoverage({ nodes: { list } });
}

function freshnessOf(parts: Uses<'store' | 'clock' | 'nodes'>, caller: Caller, buckets: Buckets) {
  const nowMs = parts.clock.nowMs();
  const seenMs = parts.nodes.get('local')?.lastSeenMs ?? 0;
  const connected = parts.nodes.get('local')?.connected === true;
  const load = parts.nodes.get('local')?.load?.metrics;
  const health = load?.observationHealth;
  const stale = !connected || nowMs - seenMs > staleAfterMs;
  return {
    asOf: timestampFromMs(nowMs),
    resolutionSeconds: BigInt(buckets.resolution === 'hour' ? 3600 : 60),
    stale,
    source: 'node_counters',
    snapshotAgeMs: BigInt(seenMs === 0 ? 0 : Math.max(0, nowMs - seenMs)),
    snapshotStale: stale,
    observationDegraded: health !== undefined && health.state !== 'healthy',
    observationDropped: health?.evictedBatches ?? 0n,
    remoteObservationCoverage: remoteCoverage(parts, caller),
    wafAgentCpuPercent: load?.wafAgentCpuPercent ?? 0,
    wafEngineDemandPercent: load?.wafEngineDemandPercent ?? 0,
    wafPhaseP99Millis: load?.wafPhaseP99Millis ?? 0n,
    ...overloadFreshness(overloadFor(parts, caller), (id) =>
      id === localNodeId ? id : (parts.store.get(agents, id)?.name ?? id),
    ),
  };
}
