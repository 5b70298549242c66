/** Access events and error events on their way to control, in the form in which they travel. */

import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import {
  AccessFactSchema,
  ErrorFactSchema,
  type TraceFactSchema,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { fromByteString } from '../base/byte-string.ts';
import { traceLimits } from '../base/observation-limits.ts';
import type { RequestEvent } from '../contract/events.ts';
import { captureReasons, exportBit } from '../contract/logging.ts';
import { errorOf, type RequestError } from '../contract/request-error.ts';
import { fromHex, selectionFields, traceFields, type EncodedFact } from './security-fact.ts';

/** The access fact of a request; null where the log policy keeps none. */
export function encodeAccess(event: RequestEvent): EncodedFact | null {
  const kept = (event.selection?.access ?? 0) & ~exportBit;
  return kept === 0 ? null : encoded(event, kept);
}

/**
 * The access fact of a request that is handed on to other systems, to collectors of traces among
 * them; null where none is.
 */
export function encodeExport(event: RequestEvent): EncodedFact | null {
  const exported = ((event.selection?.access ?? 0) & exportBit) !== 0;
  return exported || event.trace !== undefined ? encoded(event, 0) : null;
}

function encoded(event: RequestEvent, kept: number): EncodedFact {
  const { selection, receivedAtMs } = event;
  const reasons = captureReasons.filter((_, bit) => (kept & (1 << bit)) !== 0);
  const fact = create(AccessFactSchema, {
    requestId: event.requestId,
    siteId: event.siteId,
    receivedAtMs: BigInt(receivedAtMs),
    durationUs: whole(event.durationUs),
    originUsPlusOne: event.originUs < 0 ? 0n : whole(event.originUs + 1),
    clientIp: event.clientIp,
    clientPort: event.clientPort,
    method: fromByteString(event.method),
    host: fromByteString(event.host),
    target: fromByteString(event.target),
    httpVersion: event.httpVersion,
    transportVersion: event.tls?.version ?? '',
    ja4: event.tls?.ja4 ?? '',
    userAgent: fromByteString(event.userAgent),
    referer: fromByteString(event.referer ?? ''),
    status: event.status,
    outcome: event.outcome,
    refusal: event.refusal ?? '',
    blocked: event.blocked,
    bytesIn: whole(event.bytesIn),
    bytesOut: whole(event.bytesOut),
    endpoint: event.endpoint ?? '',
    upstreamId: event.upstreamId ?? '',
    routeId: event.routeId ?? '',
    inboundScore: event.transaction?.inboundScore ?? 0,
    ...selectionFields(selection, reasons),
    ...(event.trace && { trace: traceFact(event) }),
  });
  return { receivedAtMs, bytes: toBinary(AccessFactSchema, fact) };
}

function traceFact(event: RequestEvent): MessageInitShape<typeof TraceFactSchema> {
  const { transaction, trace } = event;
  const { parentId, state, startUs, origin } = trace!;
  const logged = (transaction?.matchedRules ?? []).filter(({ log }) => log);
  return {
    ...traceFields(event),
    parentId: fromHex(parentId),
    state: fromByteString(state),
    startUs: whole(startUs),
    ruleIds: logged.slice(0, traceLimits.rulesMax).map(({ ruleId }) => ruleId),
    rules: logged.length + (transaction?.matchesLeftOut ?? 0),
    detectionOnly: transaction?.detectionOnly ?? false,
    inspectionUs: whole(transaction?.inspectionUs ?? 0),
    ...(origin !== null && {
      origin: {
        spanId: fromHex(origin.spanId),
        fromUs: whole(origin.fromUs),
        untilUs: whole(origin.untilUs),
        status: origin.status,
        resends: origin.resends,
        secure: origin.scheme === 'https',
        skip: origin.skip,
      },
    }),
  };
}

/** True where every request is kept, not a sample. */
export function isFullAccess({ selection }: RequestEvent): boolean {
  return ((selection?.access ?? 0) & 1) === 1;
}

/** The error fact of a request; null for one that was served or blocked as it should be. */
export function encodeError(event: RequestEvent): EncodedFact | null {
  const error = errorOf(event);
  if (error === null) return null;
  const atMs = event.receivedAtMs;
  const fact = create(ErrorFactSchema, {
    ...error,
    requestId: event.requestId,
    siteId: event.siteId,
    atMs: BigInt(atMs),
    endpoint: event.endpoint ?? '',
    clientIp: event.clientIp,
    method: fromByteString(event.method),
    host: fromByteString(event.host),
    target: fromByteString(event.target),
    status: event.status,
    durationUs: whole(event.durationUs),
    ...traceFields(event),
  });
  return { receivedAtMs: atMs, bytes: toBinary(ErrorFactSchema, fact) };
}

/** The error fact of a fault that concerns no request. */
export function encodeFault(error: RequestError, atMs: number): EncodedFact {
  const fact = create(ErrorFactSchema, { ...error, atMs: BigInt(atMs) });
  return { receivedAtMs: atMs, bytes: toBinary(ErrorFactSchema, fact) };
}

function whole(value: number): bigint {
  return BigInt(Math.max(0, Math.round(value)));
}
