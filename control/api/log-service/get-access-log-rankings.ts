/** LogService/GetAccessLogRankings. */

import { AccessLogRankingDimension, type LogService } from '../../../proto/gen/waf/v1/log_pb.ts';
import { geoOf, openNetworkGeo } from '../../access/network-geo.ts';
import { invalidField } from '../../domain/errors.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import { plainFilter } from '../../observe/query.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';

const fields: ReadonlyMap<AccessLogRankingDimension, string> = new Map([
  [AccessLogRankingDimension.PATH, 'path'],
  [AccessLogRankingDimension.IP, 'client'],
  [AccessLogRankingDimension.HOST, 'host'],
]);

/** The most frequent values among access events that are kept, and how many those are. */
export function getAccessLogRankings(
  parts: Uses<'store' | 'events'>,
): Method<typeof LogService, 'getAccessLogRankings'> {
  return async ({ timeRange, siteId, dimension }, context) => {
    const field = fields.get(dimension);
    if (field === undefined) throw invalidField('dimension', 'is required');
    const filter = plainFilter(callerOf(context).tenantId, timeRange, siteId);
    const question = {
      ask: 'ranking',
      kind: 'access',
      filter,
      field,
      limit: observationLimits.answeredValuesMax,
    } as const;
    const { entries, events, limited } = await parts.events.ask(question, context.signal);
    const placeOf = field === 'client' ? openNetworkGeo(parts.store) : null;
    return {
      entries: entries.map((one) =>
        placeOf === null ? one : { ...one, ...geoOf(placeOf(one.key)) },
      ),
      retainedDetailCount: BigInt(events),
      coverageLimited: limited,
    };
  };
}
