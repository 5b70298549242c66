/** LogService/ExportSecurityEvents, ExportAccessEvents and ExportErrorEvents. */

import type { HandlerContext } from '@connectrpc/connect';
import type { LogService } from '../../../proto/gen/waf/v1/log_pb.ts';
import { callLimits } from '../../limits/call-limits.ts';
import { invalidField } from '../../domain/errors.ts';
import type { EventFilter } from '../../observe/events/event-filter.ts';
import type { KindName } from '../../observe/events/event-questions.ts';
import { accessFilter, cursorOf, errorFilter, readCursor } from '../../observe/query.ts';
import { actorNote, callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { securityFilterOf } from './country-filter.ts';

/** Security events that match, as lines of JSON. */
export function exportSecurityEvents(
  parts: Uses<'store' | 'clock' | 'events'>,
): Method<typeof LogService, 'exportSecurityEvents'> {
  return async ({ query, cursor }, context) => {
    if (query === undefined) throw invalidField('query', 'is required');
    const { tenantId } = callerOf(context);
    const filter = await securityFilterOf(parts, tenantId, query, context.signal);
    return exportPart(parts, context, { kind: 'security', filter, cursor, siteId: query.siteId });
  };
}

/** Access events that match, as lines of JSON. */
export function exportAccessEvents(
  parts: Uses<'store' | 'clock' | 'events'>,
): Method<typeof LogService, 'exportAccessEvents'> {
  return ({ query, cursor }, context) => {
    if (query === undefined) throw invalidField('query', 'is required');
    const filter = accessFilter(callerOf(context).tenantId, query);
    return exportPart(parts, context, { kind: 'access', filter, cursor, siteId: query.siteId });
  };
}

/** Error events that match, as lines of JSON. */
export function exportErrorEvents(
  parts: Uses<'store' | 'clock' | 'events'>,
): Method<typeof LogService, 'exportErrorEvents'> {
  return ({ query, cursor }, context) => {
    if (query === undefined) throw invalidField('query', 'is required');
    const filter = errorFilter(callerOf(context).tenantId, query);
    return exportPart(parts, context, { kind: 'error', filter, cursor, siteId: query.siteId });
  };
}

/** What is exported, and where the part begins. */
interface ExportWish {
  readonly kind: KindName;
  readonly filter: EventFilter;
  readonly cursor: string;
  readonly siteId: string;
}

/**
 * Newest first. An answer that cannot hold all of them is marked and names the cursor of the next
 * part; every part is audited.
 */
async function exportPart(
  parts: Uses<'store' | 'clock' | 'events'>,
  context: HandlerContext,
  { kind, filter, cursor, siteId }: ExportWish,
) {
  const caller = callerOf(context);
  const beforeId = readCursor(cursor, 'cursor');
  const bytesMax = callLimits.exportPartBytesMax;
  const { ndjson, events, lastId } = await parts.events.ask(
    { ask: 'part', kind, filter, beforeId, bytesMax },
    context.signal,
  );
  await parts.store.write((tx) =>
    tx.audit({
      ...actorNote(caller),
      action: 'export',
      resourceType: `${kind}_events`,
      resourceId: siteId,
      metadata: { events: String(events) },
    }),
  );
  const day = new Date(parts.clock.nowMs()).toISOString().slice(0, 10);
  return {
    ndjson: Uint8Array.from(ndjson),
    filename: `${kind}-events-${day}.ndjson`,
    nextCursor: lastId === '' ? '' : cursorOf(lastId),
    hasMore: lastId !== '',
  };
}
