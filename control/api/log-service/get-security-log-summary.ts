/** LogService/GetSecurityLogSummary. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  SecuritySummaryDimension as Dimension,
  type LogService,
  type SecuritySummaryDimensionJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { geoOf, openNetworkGeo } from '../../access/network-geo.ts';
import { invalidField } from '../../domain/errors.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { securityFilterOf } from './country-filter.ts';

const names = new Map<Dimension, SecuritySummaryDimensionJson>([
  [Dimension.ATTACKER, 'SECURITY_SUMMARY_DIMENSION_ATTACKER'],
  [Dimension.SITE, 'SECURITY_SUMMARY_DIMENSION_SITE'],
  [Dimension.TARGET, 'SECURITY_SUMMARY_DIMENSION_TARGET'],
  [Dimension.ATTACK_TYPE, 'SECURITY_SUMMARY_DIMENSION_ATTACK_TYPE'],
  [Dimension.PATH, 'SECURITY_SUMMARY_DIMENSION_PATH'],
  [Dimension.RULE, 'SECURITY_SUMMARY_DIMENSION_RULE'],
  [Dimension.METHOD, 'SECURITY_SUMMARY_DIMENSION_METHOD'],
]);

/** Totals, and the rankings and trend that were asked for. */
export function getSecurityLogSummary(
  parts: Uses<'store' | 'events'>,
): Method<typeof LogService, 'getSecurityLogSummary'> {
  return async ({ query, topLimit, dimensions, includeTrend }, context) => {
    if (query === undefined) throw invalidField('query', 'is required');
    const { answeredValuesMax: topMax } = observationLimits;
    if (topLimit > topMax) throw invalidField('topLimit', `must be between 1 and ${topMax}`);
    const wanted = dimensions.flatMap((dimension) => names.get(dimension) ?? []);
    const { tenantId } = callerOf(context);
    const filter = await securityFilterOf(parts, tenantId, query, context.signal);
    const question = {
      ...({ ask: 'summary', filter, wanted } as const),
      topLimit: topLimit || observationLimits.answeredValues,
      withTrend: includeTrend,
    };
    const { total, blocked, trend, top, limited } = await parts.events.ask(
      question,
      context.signal,
    );
    const ranking = (dimension: Dimension) => [
      ...(top.get(names.get(dimension) ?? 'SECURITY_SUMMARY_DIMENSION_UNSPECIFIED') ?? []),
    ];
    const placeOf = openNetworkGeo(parts.store);
    return {
      total: BigInt(total),
      blocked: BigInt(blocked),
      passed: BigInt(total - blocked),
      trend: trend.map(({ atMs, count, blocked: stopped }) => ({
        time: timestampFromMs(atMs),
        count: BigInt(count),
        blocked: BigInt(stopped),
      })),
      topIps: ranking(Dimension.ATTACKER).map((one) => ({ ...one, ...geoOf(placeOf(one.key)) })),
      topPaths: ranking(Dimension.PATH),
      topRules: ranking(Dimension.RULE),
      topMethods: ranking(Dimension.METHOD),
      topAttackTypes: ranking(Dimension.ATTACK_TYPE),
      topTargets: ranking(Dimension.TARGET),
      topSites: ranking(Dimension.SITE),
      limitedDimensions: dimensions.filter((one) =>
        limited.some((name) => name === names.get(one)),
      ),
    };
  };
}
