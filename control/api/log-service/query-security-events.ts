/** Owns LogService/QuerySecurityEvents. */

import { SecurityEventSchema, type LogService } from '../../../proto/gen/waf/v1/log_pb.ts';
import { querySecurityEvents as query } from '../../observe/query.ts';
import { callerOf, type ApiParts } from '../context.ts';
import { toMessage } from '../convert.ts';
import type { Method } from '../method.ts';

/** Security events of the caller's tenant, newest first. */
export function querySecurityEvents(
  parts: ApiParts,
): Method<typeof LogService, 'querySecurityEvents'> {
  return async (request, context) => {
    const { tenantId } = callerOf(context);
    const { signal } = context;
    const { items, nextCursor, hasMore } = await query(parts.events, tenantId, request, signal);
    return {
      items: items.map((event) => toMessage(SecurityEventSchema, event)),
      page: { nextCursor, hasMore },
    };
  };
}
