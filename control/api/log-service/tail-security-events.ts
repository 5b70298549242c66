/** LogService/TailSecurityEvents. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import {
  SecurityEventSchema,
  type LogService,
  type SecurityEventJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { observationLimits } from '../../limits/observation-limits.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { securityCheckOf } from './country-filter.ts';

const heartbeatMs = 10_000;

/** Sends events as they come in; nothing is replayed. */
export function tailSecurityEvents(
  parts: Uses<'clock' | 'events' | 'store'>,
): Method<typeof LogService, 'tailSecurityEvents'> {
  return async function* ({ siteId, agentId, query }, context) {
    const { tenantId } = callerOf(context);
    const fits = query === undefined ? () => true : securityCheckOf(parts, tenantId, query);
    const waiting: SecurityEventJson[] = [];
    let skipped = 0n;
    let wake = (): void => undefined;
    const unsubscribe = parts.events.subscribe((event) => {
      if (event.tenantId !== tenantId) return;
      if (siteId !== '' && event.siteId !== siteId) return;
      if (agentId !== '' && event.agentId !== agentId) return;
      if (!fits(event)) return;
      if (waiting.length >= observationLimits.tailWaitingMax) skipped++;
      else waiting.push(event);
      wake();
    });
    const onAbort = (): void => wake();
    context.signal.addEventListener('abort', onAbort);
    try {
      yield { heartbeatAt: timestampFromMs(parts.clock.nowMs()) };
      while (!context.signal.aborted) {
        const next = waiting.shift();
        if (next !== undefined) {
          const skippedEvents = skipped;
          skipped = 0n;
          yield { event: toMessage(SecurityEventSchema, next), skippedEvents };
          continue;
        }
        const idle = await new Promise<boolean>((resolve) => {
          const timer = setTimeout(() => resolve(true), heartbeatMs);
          wake = () => {
            clearTimeout(timer);
            resolve(false);
          };
        });
        if (idle) yield { heartbeatAt: timestampFromMs(parts.clock.nowMs()) };
      }
    } finally {
      context.signal.removeEventListener('abort', onAbort);
      unsubscribe();
    }
  };
}
