/** LogService/QueryAccessEvents. */

import { AccessEventSchema, type LogService } from '../../../proto/gen/waf/v1/log_pb.ts';
import { accessFilter, queryEvents } from '../../observe/query.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { detailAnnotations, observationCoverage } from './coverage.ts';
import { withEvidence } from './request-evidence.ts';

/** Access events of the caller's tenant, newest first. */
export function queryAccessEvents(
  parts: Uses<'store' | 'clock' | 'events' | 'evidence' | 'publisher' | 'nodes'>,
): Method<typeof LogService, 'queryAccessEvents'> {
  return async (request, context) => {
    const { tenantId } = callerOf(context);
    const filter = accessFilter(tenantId, request);
    const { events } = parts;
    const found = await queryEvents(events, 'access', filter, request.page, context.signal);
    const { items, nextCursor, hasMore } = found;
    return {
      items: withEvidence(parts, 'access', items).map((event) =>
        toMessage(AccessEventSchema, event),
      ),
      page: { nextCursor, hasMore },
      detailPolicyAnnotations: detailAnnotations(parts, tenantId, request.siteId),
      observationCoverage: observationCoverage(parts),
    };
  };
}
