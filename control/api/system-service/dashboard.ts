/** Owns SystemService/GetDashboardStats, GetAttackDistribution and GetTopAttackers. */

import { create } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { TimeRange } from '../../../proto/gen/waf/v1/common_pb.ts';
import {
  QuerySecurityEventsRequestSchema,
  SecurityEventOutcome,
  type SecurityEventJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import type { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import { controlLimits } from '../../../engine/base/limits.ts';
import { geoOf, openNetworkGeo, type NetworkPlace } from '../../access/network-geo.ts';
import type { Caller } from '../../auth/permissions.ts';
import { invalidField } from '../../domain/errors.ts';
import { matchingEvents } from '../../observe/query.ts';
import { certificates, sites } from '../../store/collections.ts';
import { agentsOf } from '../agent-service/known-nodes.ts';
import { showLocalNode, showRemoteNode } from '../agent-service/show-node.ts';
import { callerOf, type ApiParts } from '../context.ts';
import type { Method } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';

const dayMs = 24 * 3600 * 1000;
const limitDefault = 10;
const limitMax = 100;
const tagsShown = 3;

/** Which events a question is about. */
interface EventQuestion {
  readonly timeRange?: TimeRange | undefined;
  readonly siteId: string;
}

/** Counts for the head of the overview. */
export function getDashboardStats(
  parts: ApiParts,
): Method<typeof SystemService, 'getDashboardStats'> {
  return (_request, context) => ({ stats: dashboardStats(parts, callerOf(context)) });
}

/** Counts of sites, certificates and nodes of a tenant. */
export function dashboardStats(parts: ApiParts, caller: Caller) {
  const ours = ({ tenantId }: { readonly tenantId: string }): boolean =>
    tenantId === caller.tenantId;
  const nowMs = parts.clock.nowMs();
  const used = parts.store.list(certificates).filter(ours);
  const endingWithin = (days: number): number =>
    used.filter(({ notAfter = '' }) => Date.parse(notAfter) - nowMs <= days * dayMs).length;
  const agents = agentsOf(parts.store, caller);
  const nodes = [
    showLocalNode(parts).connectionStatus,
    ...agents.map((agent) => showRemoteNode(parts, agent).connectionStatus),
  ];
  return {
    sitesEnabled: parts.store
      .list(sites)
      .filter((site) => ours(site) && site.status === 'RESOURCE_STATUS_ACTIVE').length,
    certsExpiring14d: endingWithin(14),
    certsExpiring30d: endingWithin(30),
    nodesOnline: nodes.filter((status) => status !== 'OFFLINE').length,
    nodesTotal: nodes.length,
  };
}

/** How often each family of attacks was seen, the most frequent first. */
export function getAttackDistribution(
  parts: ApiParts,
): Method<typeof SystemService, 'getAttackDistribution'> {
  return (request, context) => {
    const limit = limitOf(request.limit, 'limit');
    return {
      items: attackDistributionOf(eventsOf(parts, callerOf(context), request), limit),
    };
  };
}

/** The addresses with the most security events, and what they tried. */
export function getTopAttackers(parts: ApiParts): Method<typeof SystemService, 'getTopAttackers'> {
  return (request, context) => {
    const limit = limitOf(request.limit, 'limit');
    const events = eventsOf(parts, callerOf(context), request);
    return { items: topAttackersOf(events, limit, openNetworkGeo(parts.store)) };
  };
}

/** Families of attacks by events. */
export function attackDistributionOf(events: Iterable<SecurityEventJson>, limit: number) {
  const counts = new Map<string, number>();
  for (const event of events) for (const tag of tagsOf(event)) raise(counts, tag);
  return highest(counts, limit).map(([tag, count]) => ({ tag, count: BigInt(count) }));
}

/** Addresses by events. */
export function topAttackersOf(
  events: Iterable<SecurityEventJson>,
  limit: number,
  placeOf: (address: string) => NetworkPlace | null,
) {
  const counts = new Map<string, number>();
  const tags = new Map<string, Map<string, number>>();
  for (const event of events) {
    const ip = event.clientIp ?? '';
    if (ip === '' || !raise(counts, ip)) continue;
    const own = tags.get(ip) ?? new Map<string, number>();
    tags.set(ip, own);
    for (const tag of tagsOf(event)) raise(own, tag);
  }
  return highest(counts, limit).map(([clientIp, count]) => ({
    clientIp,
    count: BigInt(count),
    topTags: highest(tags.get(clientIp) ?? new Map<string, number>(), tagsShown).map(
      ([tag]) => tag,
    ),
    ...geoOf(placeOf(clientIp)),
  }));
}

/** Countries by events; `none` counts addresses that no country is known of. */
export function countriesOf(
  events: Iterable<SecurityEventJson>,
  placeOf: (address: string) => NetworkPlace | null,
): { readonly ranked: readonly (readonly [string, number])[]; readonly none: number } {
  const counts = new Map<string, number>();
  const codes = new Map<string, string>();
  let none = 0;
  for (const { clientIp = '' } of events) {
    let code = codes.get(clientIp);
    if (code === undefined) {
      code = placeOf(clientIp)?.countryCode ?? '';
      if (codes.size < controlLimits.summaryKeysMax) codes.set(clientIp, code);
    }
    if (code === '') none++;
    else raise(counts, code);
  }
  return { ranked: highest(counts, counts.size), none };
}

/** Default 10. Errors: invalid_argument at `field` above 100. */
export function limitOf(limit: number, field: string): number {
  if (limit < 0 || limit > limitMax) {
    throw invalidField(field, `must be between 1 and ${limitMax}; 0 acts as ${limitDefault}`);
  }
  return limit === 0 ? limitDefault : limit;
}

/** Events of a span of time, default the last day; at most 200,000, the newest. */
export function eventsOf(
  parts: ApiParts,
  caller: Caller,
  { timeRange, siteId }: EventQuestion,
): Iterable<SecurityEventJson> {
  if (siteId !== '') storedSite(parts.store, caller, siteId, 'siteId');
  const nowMs = parts.clock.nowMs();
  const end = timeRange?.end ?? timestampFromMs(nowMs + 1);
  const start = timeRange?.start ?? timestampFromMs(timestampMs(end) - dayMs);
  if (timestampMs(end) < timestampMs(start)) {
    throw invalidField('timeRange', 'must not end before it starts');
  }
  const query = create(QuerySecurityEventsRequestSchema, {
    timeRange: { start, end },
    siteId,
    outcome: SecurityEventOutcome.ANY,
  });
  return matchingEvents(parts.events, caller.tenantId, query, controlLimits.scannedMax);
}

function tagsOf({ attackTypes, attackType }: SecurityEventJson): readonly string[] {
  if (attackTypes !== undefined && attackTypes.length > 0) return attackTypes;
  return attackType === undefined || attackType === '' ? [] : [attackType];
}

/** Counts `key`; false when there are too many keys to begin another. */
function raise(counts: Map<string, number>, key: string): boolean {
  const count = counts.get(key);
  if (count === undefined && counts.size >= controlLimits.summaryKeysMax) return false;
  counts.set(key, (count ?? 0) + 1);
  return true;
}

function highest(counts: ReadonlyMap<string, number>, limit: number): [string, number][] {
  return [...counts]
    .sort(([one, left], [other, right]) => right - left || (one < other ? -1 : 1))
    .slice(0, limit);
}
