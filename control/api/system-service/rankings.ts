/** The rankings of traffic in the overview: what nodes counted, with what is left over. */

import type { Caller } from '../../auth/permissions.ts';
import type { Buckets } from '../../domain/traffic-buckets.ts';
import { rankingStepMs, type RankedValue } from '../../observe/ranking-series.ts';
import type { Uses } from '../context.ts';
import { totalOf } from './traffic.ts';

/** Rankings by path, program, method and protocol in the hours that a span touches. */
export function topValues(
  { counters }: Uses<'counters'>,
  { tenantId }: Caller,
  siteId: string,
  { startMs, endMs }: Buckets,
  limit: number,
) {
  const firstMs = Math.floor(startMs / rankingStepMs) * rankingStepMs;
  const found = counters.rankings(tenantId, siteId, firstMs, endMs);
  const all = totalOf(counters.traffic('hour', tenantId, siteId, firstMs, endMs));
  const ranking = (values: readonly RankedValue[]) => {
    const shown = values.slice(0, limit);
    const total = shown.reduce((sum, one) => sum + one.total, 0);
    const blocked = shown.reduce((sum, one) => sum + one.blocked, 0);
    return {
      items: shown.map((one) => ({
        key: one.key,
        total: BigInt(one.total),
        blocked: BigInt(one.blocked),
      })),
      otherTotal: BigInt(Math.max(0, all.requests - total)),
      otherBlocked: BigInt(Math.max(0, all.blocked - blocked)),
    };
  };
  return {
    topPaths: ranking(found.path),
    topUserAgents: ranking(found.user_agent),
    topMethods: ranking(found.method),
    topHttpVersions: ranking(found.http_version),
    topTransportVersions: ranking(found.transport_version),
  };
}
