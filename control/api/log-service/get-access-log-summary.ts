/** LogService/GetAccessLogSummary: exact counts of every request, whatever is kept of it. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { LogService } from '../../../proto/gen/waf/v1/log_pb.ts';
import type { TrafficStep } from '../../observe/traffic-series.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { bucketsIn, totalOf, trafficOf } from '../system-service/traffic.ts';

const topMax = 20;

/**
 * Totals and a trend of all requests; `errors` are answers with 5xx. Methods are ranked by hour,
 * by a sketch that never overstates: rare ones may be missing.
 */
export function getAccessLogSummary(
  parts: Uses<'store' | 'clock' | 'counters'>,
): Method<typeof LogService, 'getAccessLogSummary'> {
  return ({ timeRange, siteId }, context) => {
    const caller = callerOf(context);
    if (siteId !== '') storedSite(parts.store, caller, siteId, 'siteId');
    const buckets = bucketsIn(parts, timeRange, '');
    const steps = trafficOf(parts, caller, siteId, buckets);
    const total = totalOf(steps);
    const { tenantId } = caller;
    const { startMs, endMs } = buckets;
    const { method } = parts.counters.rankings(tenantId, siteId, startMs, endMs);
    const perRequestUs = total.requests === 0 ? 0 : total.durationUs / total.requests;
    return {
      total: BigInt(total.requests),
      blocked: BigInt(total.blocked),
      errors: BigInt(errorsOf(total)),
      avgDurationMs: BigInt(Math.round(perRequestUs / 1000)),
      totalBytes: BigInt(total.bytesIn + total.bytesOut),
      trend: steps.map((step) => ({
        time: timestampFromMs(step.atMs),
        count: BigInt(step.requests),
        blocked: BigInt(step.blocked),
        errors: BigInt(errorsOf(step)),
      })),
      topStatuses: topOf(Object.entries(total.statuses)),
      topMethods: topOf(method.map(({ key, total: count }) => [key, count])),
    };
  };
}

function errorsOf({ statuses }: TrafficStep): number {
  return Object.entries(statuses)
    .filter(([status]) => status.startsWith('5'))
    .reduce((sum, [, count]) => sum + count, 0);
}

function topOf(counts: readonly (readonly [string, number])[]) {
  return [...counts]
    .sort(([one, left], [other, right]) => right - left || (one < other ? -1 : 1))
    .slice(0, topMax)
    .map(([key, count]) => ({ key, count: BigInt(count) }));
}
