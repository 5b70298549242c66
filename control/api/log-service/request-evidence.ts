/**
 * Reads evidence of requests: what is kept of one, its header fields, its body by range. Evidence
 * is not redacted: each reading leaves an audit row before it answers.
 */

import type { HandlerContext } from '@connectrpc/connect';
import {
  RequestEvidenceHeaderSchema,
  RequestEvidenceMetadataSchema,
  type AccessEventJson,
  type LogService,
  type RequestEvidenceMetadataJson,
  type SecurityEventJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import type { AppError } from '../../../base/errors.ts';
import { invalidField, notFound, refusal } from '../../domain/errors.ts';
import { evidenceStoreLimits } from '../../limits/observation-limits.ts';
import type { LackOfKey } from '../../observe/evidence/evidence-label.ts';
import { isEvidenceId } from '../../observe/evidence/evidence-store.ts';
import {
  evidenceEndMs,
  evidenceOfEvent,
  type EvidenceAround,
  type EvidencedEvent,
  type EvidencedKind,
} from '../../observe/evidence/evidence-summary.ts';
import { globalLogPolicy, resolvedLogPolicy } from '../../publish/parts/log-parts.ts';
import { actorNote, callerOf, type Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { ours } from '../resource/owned.ts';

/** What is kept of a request, by the evidence's id or the request's. */
export function getRequestEvidenceMetadata(
  parts: Uses<'store' | 'clock' | 'evidence'>,
): Method<typeof LogService, 'getRequestEvidenceMetadata'> {
  return async ({ evidenceId, requestId }, context) => {
    const both = evidenceId !== '' && requestId !== '';
    if (evidenceId === '' && requestId === '') {
      throw invalidField('evidenceId', 'is required where requestId is empty');
    }
    const id = evidenceId === '' ? newestOf(parts, context, requestId) : evidenceId;
    const found = findEvidence(parts, context, id);
    if (both && found.requestId !== requestId) throw notFound('evidence', evidenceId);
    await noteReading(parts, context, found, 'metadata');
    const expiresAt = new Date(evidenceEndMs(found, retentionDays(parts))).toISOString();
    return { evidence: toMessage(RequestEvidenceMetadataSchema, { ...found, expiresAt }) };
  };
}

/** The header fields that are kept of a request. */
export function getRequestEvidenceHeaders(
  parts: Uses<'store' | 'clock' | 'evidence'>,
): Method<typeof LogService, 'getRequestEvidenceHeaders'> {
  return async ({ evidenceId }, context) => {
    const found = findEvidence(parts, context, evidenceId);
    requireReadable(found);
    await noteReading(parts, context, found, 'headers');
    const headers = parts.evidence.headers(evidenceId);
    if (headers.length === 0 && Number(found.headerCapturedBytes ?? '0') > 0) {
      throw unreadable(evidenceId, 'damaged');
    }
    return { headers: headers.map((one) => toMessage(RequestEvidenceHeaderSchema, one)) };
  };
}

/** The body that is kept of a request, for display. */
export function streamRequestEvidenceBody(
  parts: Uses<'store' | 'clock' | 'evidence'>,
): Method<typeof LogService, 'streamRequestEvidenceBody'> {
  return (request, context) => readBody(parts, context, request, 'body');
}

/** The body that is kept of a request, for saving. */
export function downloadRequestEvidenceBody(
  parts: Uses<'store' | 'clock' | 'evidence'>,
): Method<typeof LogService, 'downloadRequestEvidenceBody'> {
  return (request, context) => readBody(parts, context, request, 'download');
}

/** What says whether events have evidence. */
export function evidenceAround(parts: Uses<'store' | 'clock' | 'evidence'>): EvidenceAround {
  return {
    evidence: parts.evidence,
    nowMs: parts.clock.nowMs(),
    retentionDays: retentionDays(parts),
    modeOf: (siteId) => resolvedLogPolicy(parts.store, siteId).effective.requestEvidenceMode,
  };
}

/** Events with what is kept of their requests. */
export function withEvidence<E extends SecurityEventJson | AccessEventJson>(
  parts: Uses<'store' | 'clock' | 'evidence'>,
  kind: EvidencedKind,
  events: readonly E[],
): E[] {
  const around = evidenceAround(parts);
  return events.map((event) => {
    const requestEvidence = evidenceOfEvent(event as EvidencedEvent, kind, around);
    const { evidenceId } = requestEvidence;
    const { detailSelection } = event;
    if (evidenceId === undefined || detailSelection === undefined) {
      return { ...event, requestEvidence };
    }
    const named = { ...detailSelection, evidenceBundleId: evidenceId };
    return { ...event, requestEvidence, detailSelection: named };
  });
}

interface BodyRange {
  readonly evidenceId: string;
  readonly offset: bigint;
  readonly limit: bigint;
}

/** Pieces from `offset` on, `limit` bytes at most, 0 for all. The last one of a body is marked. */
async function* readBody(
  parts: Uses<'store' | 'clock' | 'evidence'>,
  context: HandlerContext,
  { evidenceId, offset, limit }: BodyRange,
  what: string,
) {
  const found = findEvidence(parts, context, evidenceId);
  requireReadable(found);
  const size = BigInt(found.bodyCapturedBytes ?? '0');
  if (offset > size) throw invalidField('offset', 'must not lie past the end of the body');
  await noteReading(parts, context, found, what, { offset: String(offset), limit: String(limit) });
  const end = limit === 0n || offset + limit > size ? size : offset + limit;
  let at = offset;
  while (at < end && !context.signal.aborted) {
    const piece = parts.evidence.readBody(evidenceId, Number(at));
    if (piece.length === 0) {
      // Its time may come to an end while it is read.
      findEvidence(parts, context, evidenceId);
      throw unreadable(evidenceId, 'damaged');
    }
    const data = new Uint8Array(piece.subarray(0, Number(end - at)));
    const next = at + BigInt(data.length);
    if (next < end) yield { data, offset: at, eof: false };
    else yield { data, offset: at, eof: end === size };
    at = next;
  }
  if (offset === end) yield { data: new Uint8Array(), offset, eof: end === size };
}

/** Errors: not_found, also for evidence of other tenants and past its time. */
function findEvidence(
  parts: Uses<'store' | 'clock' | 'evidence'>,
  context: HandlerContext,
  evidenceId: string,
): RequestEvidenceMetadataJson {
  const kept = isEvidenceId(evidenceId) ? parts.evidence.metadata(evidenceId) : null;
  const found = ours(kept, callerOf(context));
  if (found === undefined || parts.clock.nowMs() >= evidenceEndMs(found, retentionDays(parts))) {
    throw notFound('evidence', evidenceId);
  }
  return found;
}

/** Errors: failed_precondition for what is kept and cannot be decrypted. */
function requireReadable({ evidenceId = '', unavailableReason }: RequestEvidenceMetadataJson) {
  if (unavailableReason === 'key_missing' || unavailableReason === 'damaged') {
    throw unreadable(evidenceId, unavailableReason);
  }
}

function unreadable(evidenceId: string, why: LackOfKey): AppError {
  if (why === 'damaged') {
    return refusal('failed_precondition', `${evidenceId} cannot be read: it is damaged (damaged).`);
  }
  return refusal(
    'failed_precondition',
    `${evidenceId} cannot be read: the key that encrypted it is missing (key_missing).`,
  );
}

function newestOf(parts: Uses<'evidence'>, context: HandlerContext, requestId: string): string {
  const { tenantId } = callerOf(context);
  let looked = 0;
  for (const one of parts.evidence.ofRequest(requestId)) {
    if (one.tenantId === tenantId) return one.evidenceId ?? '';
    if (++looked >= evidenceStoreLimits.sameRequestIdMax) break;
  }
  throw notFound('evidence of a request', requestId);
}

function retentionDays(parts: Uses<'store'>): number {
  return globalLogPolicy(parts.store).policy.requestEvidenceRetentionDays;
}

async function noteReading(
  parts: Uses<'store'>,
  context: HandlerContext,
  { evidenceId = '', requestId = '' }: RequestEvidenceMetadataJson,
  what: string,
  range: Readonly<Record<string, string>> = {},
): Promise<void> {
  const note = { ...actorNote(callerOf(context)), action: 'read', resourceName: requestId };
  const metadata = { content: what, ...range };
  await parts.store.write((tx) => {
    tx.audit({ ...note, resourceType: 'request_evidence', resourceId: evidenceId, metadata });
  });
}
