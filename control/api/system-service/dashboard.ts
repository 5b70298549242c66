/** SystemService/GetDashboardStats, GetAttackDistribution and GetTopAttackers. */

import { create } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { HandlerContext } from '@connectrpc/connect';
import type { TimeRange } from '../../../proto/gen/waf/v1/common_pb.ts';
import {
  QuerySecurityEventsRequestSchema,
  SecurityEventOutcome,
  type SecurityEventJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import type { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import { openNetworkGeo } from '../../access/network-geo.ts';
import type { Caller } from '../../auth/permissions.ts';
import { invalidField } from '../../domain/errors.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { logEmergencyId } from '../../domain/settings/log-policy.ts';
import type { AcmeOrderRecord } from '../../domain/site/acme.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import { matchingEvents } from '../../observe/query.ts';
import { resolvedLogPolicy } from '../../publish/parts/log-parts.ts';
import { acmeOrders } from '../../store/acme-collections.ts';
import { certificates, logEmergencies, sites } from '../../store/collections.ts';
import { agentsOf } from '../agent-service/known-nodes.ts';
import { showLocalNode, showRemoteNode } from '../agent-service/show-node.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { ownedBy } from '../resource/owned.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { AttackCounts, AttackerCounts } from './attack-counts.ts';

const dayMs = 24 * 3600 * 1000;

/** Which events a question is about. */
interface EventQuestion {
  readonly timeRange?: TimeRange | undefined;
  readonly siteId: string;
}

/** Counts for the head of the overview. */
export function getDashboardStats(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>,
): Method<typeof SystemService, 'getDashboardStats'> {
  return (_request, context) => ({ stats: dashboardStats(parts, callerOf(context)) });
}

/** Counts of sites, certificates and nodes of a tenant. */
export function dashboardStats(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>,
  caller: Caller,
) {
  const nowMs = parts.clock.nowMs();
  const own = ownedBy(parts.store, caller, { collection: sites });
  const used = ownedBy(parts.store, caller, { collection: certificates });
  const endingWithin = (days: number): number =>
    used.filter(({ notAfter = '' }) => Date.parse(notAfter) - nowMs <= days * dayMs).length;
  const agents = agentsOf(parts.store, caller);
  const nodes = [
    showLocalNode(parts).connectionStatus,
    ...agents.map((agent) => showRemoteNode(parts, agent).connectionStatus),
  ];
  return {
    sitesEnabled: own.filter(({ status }) => status === 'RESOURCE_STATUS_ACTIVE').length,
    certsExpiring14d: endingWithin(14),
    certsExpiring30d: endingWithin(30),
    nodesOnline: nodes.filter((status) => status !== 'OFFLINE').length,
    nodesTotal: nodes.length,
    logModeDegradedSites: degradedSites(parts, own),
    ...acmeStats(ownedBy(parts.store, caller, { collection: acmeOrders }), nowMs),
  };
}

/** Sites of which storage pressure takes details away. */
function degradedSites({ store }: Uses<'store'>, among: readonly SiteRecord[]): number {
  if (store.get(logEmergencies, logEmergencyId)?.active !== true) return 0;
  const isDegraded = (siteId: string): boolean =>
    Object.values(resolvedLogPolicy(store, siteId).effectiveSources).includes(
      'LOG_POLICY_SOURCE_EMERGENCY',
    );
  return among.filter(({ id }) => isDegraded(id)).length;
}

/** How orders over ACME stand. */
export function acmeStats(
  orders: readonly Pick<AcmeOrderRecord, 'certificateId' | 'lastFailedAt' | 'lastIssuedAt'>[],
  nowMs: number,
) {
  const isRecent = (time: string): boolean => nowMs - Date.parse(time) < dayMs;
  const issuedMs = orders.flatMap(({ lastIssuedAt }) =>
    lastIssuedAt === '' ? [] : [Date.parse(lastIssuedAt)],
  );
  return {
    acmeOrdersPending: orders.filter(({ certificateId }) => certificateId === '').length,
    acmeRenewalsFailed24h: orders.filter(
      ({ certificateId, lastFailedAt }) => certificateId !== '' && isRecent(lastFailedAt),
    ).length,
    ...(issuedMs.length === 0 ? {} : { acmeLastValidAt: timestampFromMs(Math.max(...issuedMs)) }),
  };
}

/** How often each family of attacks was seen, the most frequent first. */
export function getAttackDistribution(
  parts: Uses<'store' | 'clock' | 'events'>,
): Method<typeof SystemService, 'getAttackDistribution'> {
  return async (request, context) => {
    const limit = limitOf(request.limit, 'limit');
    const counts = new AttackCounts();
    for await (const event of eventsOf(parts, context, request)) counts.add(event);
    return { items: counts.result(limit), coverageLimited: counts.limited };
  };
}

/** The addresses with the most security events, and what they tried. */
export function getTopAttackers(
  parts: Uses<'store' | 'clock' | 'events'>,
): Method<typeof SystemService, 'getTopAttackers'> {
  return async (request, context) => {
    const limit = limitOf(request.limit, 'limit');
    const counts = new AttackerCounts();
    for await (const event of eventsOf(parts, context, request)) counts.add(event);
    const items = counts.result(limit, openNetworkGeo(parts.store));
    return { items, coverageLimited: counts.limited };
  };
}

/** Default 10. Errors: invalid_argument at `field` above 100. */
export function limitOf(limit: number, field: string): number {
  const { answeredValues: limitDefault, answeredValuesMax: limitMax } = observationLimits;
  if (limit < 0 || limit > limitMax) {
    throw invalidField(field, `must be between 1 and ${limitMax}; 0 acts as ${limitDefault}`);
  }
  return limit === 0 ? limitDefault : limit;
}

/** Every event of a span of time, default the last day, the newest first; read in slices. */
export function eventsOf(
  parts: Uses<'store' | 'clock' | 'events'>,
  context: HandlerContext,
  { timeRange, siteId }: EventQuestion,
): AsyncIterable<SecurityEventJson> {
  const caller = callerOf(context);
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
  return matchingEvents(parts.events, caller.tenantId, query, context.signal);
}
