/** The event in which every request ends: plain data made from the finished request. */

import type { RequestEvent } from '../../contract/events.ts';
import type { TlsFacts } from '../../contract/tls.ts';
import type { TransactionRecord } from '../../contract/verdict.ts';
import { withPatchNotes } from '../../phases/patch-notes.ts';
import type { PhaseDriver } from '../../phases/phase-driver.ts';
import type { Route } from '../generation.ts';
import type { OriginSide } from './origin-side.ts';
import type { RequestClient } from './request-client.ts';
import type { RequestEnding } from './request-ending.ts';
import type { RequestSide } from './request-side.ts';
import type { RequestTexts } from './request-texts.ts';
import type { ResponseSide } from './response-side.ts';
import type { TracedRequest } from '../facts/tracer.ts';

/** A request that has ended. */
export interface FinishedRequest {
  readonly requestId: string;
  readonly site: Route | null;
  readonly tls: TlsFacts | null;
  readonly requestClient: RequestClient;
  readonly texts: RequestTexts;
  readonly endings: RequestEnding;
  readonly phases: PhaseDriver;
  readonly request: RequestSide;
  readonly response: ResponseSide;
  readonly origin: OriginSide;
  readonly trace: TracedRequest | null;
  readonly startedUs: number;
}

/** The event of a request; `transaction` is null where nothing was inspected. */
export function requestEvent(
  finished: FinishedRequest,
  durationUs: number,
  transaction: TransactionRecord | null,
): RequestEvent {
  const { facts } = finished.requestClient;
  const { texts, origin, endings, tls } = finished;
  const notes = withPatchNotes(finished.phases.notes, transaction, endings.blocked);
  const event: RequestEvent = {
    requestId: finished.requestId,
    siteId: finished.site?.site.id ?? '',
    receivedAtMs: texts.receivedAtMs,
    durationUs,
    originUs: origin.originUs,
    clientIp: facts.clientIp,
    clientPort: facts.clientPort,
    method: texts.method,
    host: texts.host,
    target: texts.target,
    httpVersion: texts.httpVersion,
    ...(tls && { tls: { version: tls.version, ja4: tls.ja4 } }),
    userAgent: texts.userAgent,
    referer: texts.referer,
    status: endings.status > 0 ? endings.status : origin.status,
    outcome: endings.outcome,
    blocked: endings.blocked,
    refusal: endings.refusal,
    bytesIn: finished.request.bodyBytes,
    bytesOut: endings.bodyBytes > 0 ? endings.bodyBytes : finished.response.relay.bodyBytes,
    endpoint: origin.endpoint,
    upstreamId: origin.upstreamId,
    routeId: origin.routeId,
    transaction,
    ...traceOf(finished, durationUs),
  };
  return notes.length === 0 ? event : { ...event, guards: notes };
}

function traceOf(
  { trace, origin, startedUs }: FinishedRequest,
  durationUs: number,
): Pick<RequestEvent, 'trace'> {
  if (trace?.sampled !== true) return {};
  const { traceId, spanId, parentId, state, startUs } = trace;
  const originSpan = origin.span(trace, startedUs + durationUs);
  return { trace: { traceId, spanId, parentId, state, startUs, origin: originSpan } };
}
