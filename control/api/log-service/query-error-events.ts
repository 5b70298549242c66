/** LogService/QueryErrorEvents. */

import { ErrorEventSchema, type LogService } from '../../../proto/gen/waf/v1/log_pb.ts';
import { errorFilter, queryEvents } from '../../observe/query.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import type { Method } from '../method.ts';

/** Error events of the caller's tenant, newest first. */
export function queryErrorEvents(
  parts: Uses<'events'>,
): Method<typeof LogService, 'queryErrorEvents'> {
  return async (request, context) => {
    const filter = errorFilter(callerOf(context).tenantId, request);
    const { events } = parts;
    const found = await queryEvents(events, 'error', filter, request.page, context.signal);
    const { items, nextCursor, hasMore } = found;
    return {
      items: items.map((event) => toMessage(ErrorEventSchema, event)),
      page: { nextCursor, hasMore },
    };
  };
}
