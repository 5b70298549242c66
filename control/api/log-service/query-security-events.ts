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
  return (request, context) => {
    const { items, nextCursor, hasMore } = query(parts.events, callerOf(context).tenantId, request);
    return {
      items: items.map((event) => toMessage(SecurityEventSchema, event)),
      page: { nextCursor, hasMore },
    };
  };
}
