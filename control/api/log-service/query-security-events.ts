/** LogService/QuerySecurityEvents. */

import { SecurityEventSchema, type LogService } from '../../../proto/gen/waf/v1/log_pb.ts';
import { queryEvents } from '../../observe/query.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { securityFilterOf } from './country-filter.ts';
import { withEvidence } from './request-evidence.ts';

/** Security events of the caller's tenant, newest first. */
export function querySecurityEvents(
  parts: Uses<'store' | 'clock' | 'events' | 'evidence'>,
): Method<typeof LogService, 'querySecurityEvents'> {
  return async (request, context) => {
    const { tenantId } = callerOf(context);
    const filter = await securityFilterOf(parts, tenantId, request, context.signal);
    const { events } = parts;
    const found = await queryEvents(events, 'security', filter, request.page, context.signal);
    const { items, nextCursor, hasMore } = found;
    return {
      items: withEvidence(parts, 'security', items).map((event) =>
        toMessage(SecurityEventSchema, event),
      ),
      page: { nextCursor, hasMore },
    };
  };
}
