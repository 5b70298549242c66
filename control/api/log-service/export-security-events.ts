/** Owns LogService/ExportSecurityEvents. */

import type { LogService } from '../../../proto/gen/waf/v1/log_pb.ts';
import { controlLimits } from '../../../engine/base/limits.ts';
import { invalidField } from '../../domain/errors.ts';
import { matchingEvents } from '../../observe/query.ts';
import { actorNote, callerOf, type ApiParts } from '../context.ts';
import type { Method } from '../method.ts';

/** Matching events as lines of JSON; the export is audited. */
export function exportSecurityEvents(
  parts: ApiParts,
): Method<typeof LogService, 'exportSecurityEvents'> {
  return async ({ query }, context) => {
    const caller = callerOf(context);
    if (query === undefined) throw invalidField('query', 'is required');
    const lines: string[] = [];
    for (const event of matchingEvents(
      parts.events,
      caller.tenantId,
      query,
      controlLimits.exportedEventsMax,
    )) {
      lines.push(`${JSON.stringify(event)}\n`);
    }
    await parts.store.write((tx) =>
      tx.audit({
        ...actorNote(caller),
        action: 'export',
        resourceType: 'security_events',
        resourceId: query.siteId,
        metadata: { events: String(lines.length) },
      }),
    );
    const day = new Date(parts.clock.nowMs()).toISOString().slice(0, 10);
    return {
      ndjson: new TextEncoder().encode(lines.join('')),
      filename: `security-events-${day}.ndjson`,
    };
  };
}
