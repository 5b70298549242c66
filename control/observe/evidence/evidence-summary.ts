/** What an event says of the evidence of its request. Pure, but for asking the store. */

import type {
  RequestEvidenceMetadataJson,
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
  /** Evidence of requests of a site is kept at all. */
  keeps(siteId: string): boolean;
}

/** The parts of an event that name its request. */
interface EvidencedEvent {
  readonly requestId?: string;
  readonly occurredAt?: string;
  readonly siteId?: string;
  readonly tenantId?: string;
}

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
  return { unavailableReason: around.keeps(siteId) ? 'not_received' : 'not_kept' };
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
