/** Owns LogService/ExportSecurityEvents. */

import type { LogService } from '../../../proto/gen/waf/v1/log_pb.ts';
import { controlLimits } from '../../../engine/base/limits.ts';
import { invalidField } from '../../domain/errors.ts';
import { cursorOf, matchingEvents, readCursor } from '../../observe/query.ts';
import { actorNote, callerOf, type ApiParts } from '../context.ts';
import type { Method } from '../method.ts';

/**
 * Matching events as lines of JSON, newest first. An answer that cannot hold all of them is
 * marked and names the cursor of the next part; every part is audited.
 */
export function exportSecurityEvents(
  parts: ApiParts,
): Method<typeof LogService, 'exportSecurityEvents'> {
  return async ({ query, cursor }, context) => {
    const caller = callerOf(context);
    if (query === undefined) throw invalidField('query', 'is required');
    const reading = { beforeId: readCursor(cursor, 'cursor'), signal: context.signal };
    const lines: Buffer[] = [];
    let bytes = 0;
    let lastId = '';
    let nextCursor = '';
    for await (const event of matchingEvents(parts.events, caller.tenantId, query, reading)) {
      const line = Buffer.from(`${JSON.stringify(event)}\n`);
      if (lines.length > 0 && bytes + line.length > controlLimits.exportPartBytesMax) {
        nextCursor = cursorOf(lastId);
        break;
      }
      lines.push(line);
      bytes += line.length;
      lastId = event.id ?? '';
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
      ndjson: new Uint8Array(Buffer.concat(lines)),
      filename: `security-events-${day}.ndjson`,
      nextCursor,
      hasMore: nextCursor !== '',
    };
  };
}
