/** The event in which every request ends: plain data made from the finished request. */

import type { RequestEvent } from '../../contract/events.ts';
import type { EvidenceSource } from '../../contract/evidence.ts';
import type { GuardNote } from '../../contract/guard.ts';
import type { OriginSpan, RequestTrace } from '../../contract/request-trace.ts';
import type { TransactionRecord } from '../../contract/verdict.ts';
import { withPatchNotes } from '../../phases/patch-notes.ts';
import type { PhaseDriver } from '../../phases/phase-driver.ts';
import type { TracedRequest } from '../facts/tracer.ts';
import type { OriginSide } from './origin-side.ts';
import type { RequestState } from './request-state.ts';

/**
 * Tells of a request that ended. A fault in that must end neither its connection nor the thread.
 */
export function reportRequest(
  request: RequestState,
  { notes, lesson }: Pick<PhaseDriver, 'notes' | 'lesson'>,
  origin: OriginSide,
  record: TransactionRecord | null,
  evidence: EvidenceSource,
): void {
  const { front, site, trace, durationUs } = request;
  try {
    const policyId = site?.inspector ? (site.site.waf.policyId ?? '') : '';
    const endUs = request.startedUs + durationUs;
    const span = trace?.sampled === true ? origin.span(trace, endUs) : null;
    const event = requestEvent(request, notes, record, span);
    lesson?.end(event);
    if (site !== null) front.clientCounts.count(event, site.site);
    front.onRequestDone(event, policyId, evidence);
  } catch (thrown) {
    front.onEventFault(thrown);
  }
}

/**
 * The event of a request; `guards` are what guards said, `transaction` is null where nothing was
 * inspected, and `originSpan` where no origin was asked or nobody traces.
 */
export function requestEvent(
  request: RequestState,
  guards: readonly GuardNote[],
  transaction: TransactionRecord | null,
  originSpan: OriginSpan | null,
): RequestEvent {
  const { facts } = request.requestClient;
  const { texts, trace } = request;
  const { tls } = request.client;
  const notes = withPatchNotes(guards, transaction, request.blocked);
  const event: RequestEvent = {
    requestId: request.requestId,
    siteId: request.siteId,
    receivedAtMs: texts.receivedAtMs,
    durationUs: request.durationUs,
    originUs: request.originUs,
    clientIp: facts.clientIp,
    clientPort: facts.clientPort,
    method: texts.method,
    host: texts.host,
    target: texts.target,
    httpVersion: texts.httpVersion,
    ...(tls && { tls: { version: tls.version, ja4: tls.ja4 } }),
    userAgent: texts.userAgent,
    referer: texts.referer,
    status: request.ownStatus > 0 ? request.ownStatus : request.originStatus,
    outcome: request.outcome,
    blocked: request.blocked,
    refusal: request.refusal,
    bytesIn: request.bytesIn,
    bytesOut: request.ownBytes > 0 ? request.ownBytes : request.bytesOut,
    endpoint: request.endpoint,
    upstreamId: request.upstreamId,
    routeId: request.routeId,
    transaction,
    ...(trace?.sampled === true && { trace: traceOf(trace, originSpan) }),
  };
  return notes.length === 0 ? event : { ...event, guards: notes };
}

function traceOf(
  { traceId, spanId, parentId, state, startUs }: TracedRequest,
  origin: OriginSpan | null,
): RequestTrace {
  return { traceId, spanId, parentId, state, startUs, origin };
}
