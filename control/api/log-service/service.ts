/** Owns which methods of LogService are built. */

import type { LogService } from '../../../proto/gen/waf/v1/log_pb.ts';
import type { ApiParts } from '../context.ts';
import type { Built } from '../method.ts';
import { exportSecurityEvents } from './export-security-events.ts';
import { getSecurityEvent } from './get-security-event.ts';
import { getSecurityLogSummary } from './get-security-log-summary.ts';
import { querySecurityEvents } from './query-security-events.ts';
import { tailSecurityEvents } from './tail-security-events.ts';

/** LogService. */
export function logService(parts: ApiParts): Built<typeof LogService> {
  return {
    querySecurityEvents: querySecurityEvents(parts),
    getSecurityEvent: getSecurityEvent(parts),
    tailSecurityEvents: tailSecurityEvents(parts),
    exportSecurityEvents: exportSecurityEvents(parts),
    getSecurityLogSummary: getSecurityLogSummary(parts),
  };
}
