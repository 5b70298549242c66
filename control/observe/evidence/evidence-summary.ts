/** What an event says of the evidence of its request. Pure, but for asking the store. */

import type {
  DetailSelectionJson,
  RequestEvidenceMetadataJson,
  RequestEvidenceModeJson,
  RequestEvidenceSummaryJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { evidenceStoreLimits } from '../../limits/observation-limits.ts';
import type { EvidenceStore } from './evidence-store.ts';

const dayMs = 24 * 3600 * 1000;

/** What decides whether evidence is there. */
export interface EvidenceAround {
  readonly evidence: Pick<EvidenceStore, 'ofRequest'>;
  readonly nowMs: number;
  readonly retentionDays: number;
  /** The mode of evidence of a site that is in force. */
  modeOf(siteId: string): RequestEvidenceModeJson;
}

/** The parts of an event that name its request. */
export interface EvidencedEvent {
  readonly requestId?: string;
  readonly occurredAt?: string;
  readonly siteId?: string;
  readonly tenantId?: string;
  /** Of access events. */
  readonly detailSelection?: DetailSelectionJson;
  readonly raw?: Readonly<Record<string, unknown>>;
}

/** What kind of event asks for the evidence of its request. */
export type EvidencedKind = 'security' | 'access';

/** When evidence that began at a time ends, milliseconds. */
export function evidenceEndMs(
  metadata: RequestEvidenceMetadataJson,
  retentionDays: number,
): number {
  return Date.parse(metadata.startedAt ?? '') + retentionDays * dayMs;
}

/**
 * The evidence of an event's request, or why there is none: `expired`, `not_kept` by policy, or
 * `not_received`. Clients may send one request id again: the time tells requests apart.
 */
export function evidenceOfEvent(
  event: EvidencedEvent,
  kind: EvidencedKind,
  around: EvidenceAround,
): RequestEvidenceSummaryJson {
  const { requestId = '', occurredAt = '', siteId = '', tenantId = '' } = event;
  const endMs = Date.parse(occurredAt) + around.retentionDays * dayMs;
  if (around.nowMs >= endMs) return { unavailableReason: 'expired' };
  let looked = 0;
  for (const found of around.evidence.ofRequest(requestId)) {
    if (++looked > evidenceStoreLimits.sameRequestIdMax) break;
    const same = found.tenantId === tenantId && (found.siteId ?? '') === siteId;
    if (!same || Date.parse(found.startedAt ?? '') !== Date.parse(occurredAt)) continue;
    return summaryOf(found, new Date(endMs).toISOString());
  }
  const wanted = isWanted(around.modeOf(siteId), kind === 'security' || wasSecurity(event));
  return { unavailableReason: wanted ? 'not_received' : 'not_kept' };
}

/** True where the mode keeps evidence of a request that has this event. */
function isWanted(mode: RequestEvidenceModeJson, security: boolean): boolean {
  return mode.endsWith('_RETAINED_LOGS') || (mode.endsWith('_SECURITY_ONLY') && security);
}

/** True for the access event of a request that has a security event, too. */
function wasSecurity({ detailSelection, raw = {} }: EvidencedEvent): boolean {
  if (detailSelection?.captureReasons?.includes('security') === true) return true;
  const { blocked, outcome } = raw;
  return blocked === true || outcome === 'refused' || outcome === 'inspection_failed';
}

function summaryOf(
  metadata: RequestEvidenceMetadataJson,
  expiresAt: string,
): RequestEvidenceSummaryJson {
  const { evidenceId, available, headerOriginalBytes, headerCapturedBytes } = metadata;
  const { bodyOriginalBytes, bodyCapturedBytes, headerTruncated, bodyTruncated } = metadata;
  const stated = {
    ...{ evidenceId, available, headerOriginalBytes, headerCapturedBytes, bodyOriginalBytes },
    ...{ bodyCapturedBytes, headerTruncated, bodyTruncated, expiresAt },
    unavailableReason: metadata.unavailableReason,
  };
  const known = Object.entries(stated).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as RequestEvidenceSummaryJson;
}
