/** LogService/GetSecurityEvent, GetAccessEvent and GetErrorEvent. */

import {
  AccessEventSchema,
  ErrorEventSchema,
  SecurityEventExplanationSchema,
  SecurityEventSchema,
  type LogService,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { sentNames } from '../../domain/policy/application-notes.ts';
import { notFound } from '../../domain/errors.ts';
import { isEventId } from '../../observe/events/event-id.ts';
import type { EventsByKind, KindName } from '../../observe/events/event-questions.ts';
import type { HandlerContext } from '@connectrpc/connect';
import { callerOf, type Uses } from '../context.ts';
import { requireText, toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { requireOurs } from '../resource/owned.ts';
import { explainEvent } from './explain-event.ts';
import { withEvidence } from './request-evidence.ts';

/** One security event with its messages, and what would have let its request through. */
export function getSecurityEvent(
  parts: Uses<'store' | 'clock' | 'events' | 'evidence'>,
): Method<typeof LogService, 'getSecurityEvent'> {
  return async ({ id }, context) => {
    const found = await findEvent(parts, context, 'security', id, 'security event');
    const [kept] = withEvidence(parts, 'security', [found]);
    const { evidenceId = '', available = false } = kept!.requestEvidence ?? {};
    // Names and a length alone; the answer holds neither: no reading of evidence.
    const sent = available ? sentNames(parts.evidence.headers(evidenceId)) : undefined;
    const { event, explanation } = explainEvent(parts.store, callerOf(context), kept!, sent);
    return {
      event: toMessage(SecurityEventSchema, event),
      explanation: toMessage(SecurityEventExplanationSchema, explanation),
    };
  };
}

/** One access event. */
export function getAccessEvent(
  parts: Uses<'store' | 'clock' | 'events' | 'evidence'>,
): Method<typeof LogService, 'getAccessEvent'> {
  return async ({ id }, context) => {
    const event = await findEvent(parts, context, 'access', id, 'access event');
    return { event: toMessage(AccessEventSchema, withEvidence(parts, 'access', [event])[0]!) };
  };
}

/** One error event. */
export function getErrorEvent(parts: Uses<'events'>): Method<typeof LogService, 'getErrorEvent'> {
  return async ({ id }, context) => {
    const event = await findEvent(parts, context, 'error', id, 'error event');
    return { event: toMessage(ErrorEventSchema, event) };
  };
}

/** Errors: not_found, also for events of other tenants. */
async function findEvent<Name extends KindName>(
  parts: Uses<'events'>,
  context: HandlerContext,
  kind: Name,
  id: string,
  name: string,
): Promise<EventsByKind[Name]> {
  requireText(id, 'id');
  if (!isEventId(id)) throw notFound(name, id);
  const event = await parts.events.ask({ ask: 'get', kind, id }, context.signal);
  return requireOurs(event, callerOf(context), name, id);
}
