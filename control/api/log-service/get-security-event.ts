/** Owns LogService/GetSecurityEvent. */

import { SecurityEventSchema, type LogService } from '../../../proto/gen/waf/v1/log_pb.ts';
import { notFound } from '../../domain/errors.ts';
import { callerOf, type ApiParts } from '../context.ts';
import { requireText, toMessage } from '../convert.ts';
import type { Method } from '../method.ts';

/** One security event with its messages. */
export function getSecurityEvent(parts: ApiParts): Method<typeof LogService, 'getSecurityEvent'> {
  return (request, context) => {
    const event = parts.events.get(requireText(request.id, 'id'));
    if (event === undefined || event.tenantId !== callerOf(context).tenantId) {
      throw notFound('security event', request.id);
    }
    return { event: toMessage(SecurityEventSchema, event) };
  };
}
