/** LogService. */

import type { LogService } from '../../../proto/gen/waf/v1/log_pb.ts';
import type { ApiParts } from '../context.ts';
import type { Built } from '../method.ts';
import { exportAccessEvents, exportErrorEvents, exportSecurityEvents } from './export-events.ts';
import { getAccessLogRankings } from './get-access-log-rankings.ts';
import { getAccessLogSummary } from './get-access-log-summary.ts';
import { getAccessEvent, getErrorEvent, getSecurityEvent } from './get-event.ts';
import {
  deleteSiteLogPolicyOverride,
  getGlobalLogPolicy,
  getSiteLogPolicy,
  updateGlobalLogPolicy,
  upsertSiteLogPolicyOverride,
} from './log-policies.ts';
import { getSecurityLogSummary } from './get-security-log-summary.ts';
import { queryAccessEvents } from './query-access-events.ts';
import { queryErrorEvents } from './query-error-events.ts';
import { querySecurityEvents } from './query-security-events.ts';
import {
  downloadRequestEvidenceBody,
  getRequestEvidenceHeaders,
  getRequestEvidenceMetadata,
  streamRequestEvidenceBody,
} from './request-evidence.ts';
import { tailSecurityEvents } from './tail-security-events.ts';

/** LogService. */
export function logService(parts: ApiParts): Built<typeof LogService> {
  return {
    getGlobalLogPolicy: getGlobalLogPolicy(parts),
    updateGlobalLogPolicy: updateGlobalLogPolicy(parts),
    getSiteLogPolicy: getSiteLogPolicy(parts),
    upsertSiteLogPolicyOverride: upsertSiteLogPolicyOverride(parts),
    deleteSiteLogPolicyOverride: deleteSiteLogPolicyOverride(parts),
    getRequestEvidenceMetadata: getRequestEvidenceMetadata(parts),
    getRequestEvidenceHeaders: getRequestEvidenceHeaders(parts),
    streamRequestEvidenceBody: streamRequestEvidenceBody(parts),
    downloadRequestEvidenceBody: downloadRequestEvidenceBody(parts),
    querySecurityEvents: querySecurityEvents(parts),
    queryAccessEvents: queryAccessEvents(parts),
    queryErrorEvents: queryErrorEvents(parts),
    getSecurityEvent: getSecurityEvent(parts),
    getAccessEvent: getAccessEvent(parts),
    getErrorEvent: getErrorEvent(parts),
    tailSecurityEvents: tailSecurityEvents(parts),
    exportSecurityEvents: exportSecurityEvents(parts),
    exportAccessEvents: exportAccessEvents(parts),
    exportErrorEvents: exportErrorEvents(parts),
    getSecurityLogSummary: getSecurityLogSummary(parts),
    getAccessLogSummary: getAccessLogSummary(parts),
    getAccessLogRankings: getAccessLogRankings(parts),
  };
}
