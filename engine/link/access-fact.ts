/** Access events and error events on their way to control, in the form in which they travel. */

import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import {
  AccessFactSchema,
  ErrorFactSchema,
  TraceFactSchema,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { fromByteString } from '../../base/byte-string.ts';
import { traceLimits } from '../base/observation-limits.ts';
import type { RequestEvent } from '../contract/events.ts';
import { captureReasons, exportBit } from '../contract/logging.ts';
import { errorOf, type RequestError } from '../contract/request-error.ts';
import { FlatWriter } from './flat-writer.ts';
import { fromHex, traceFields, type EncodedFact } from './security-fact.ts';

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

const { field } = AccessFactSchema;
const F = {
  requestId: field.requestId.number,
  siteId: field.siteId.number,
  receivedAtMs: field.receivedAtMs.number,
  durationUs: field.durationUs.number,
  originUsPlusOne: field.originUsPlusOne.number,
  clientIp: field.clientIp.number,
  clientPort: field.clientPort.number,
  method: field.method.number,
  host: field.host.number,
  target: field.target.number,
  httpVersion: field.httpVersion.number,
  transportVersion: field.transportVersion.number,
  userAgent: field.userAgent.number,
  referer: field.referer.number,
  status: field.status.number,
  outcome: field.outcome.number,
  refusal: field.refusal.number,
  blocked: field.blocked.number,
  bytesIn: field.bytesIn.number,
  bytesOut: field.bytesOut.number,
  endpoint: field.endpoint.number,
  upstreamId: field.upstreamId.number,
  routeId: field.routeId.number,
  inboundScore: field.inboundScore.number,
  captureReasons: field.captureReasons.number,
  sampleWindowMs: field.sampleWindowMs.number,
  reservoirScore: field.reservoirScore.number,
  policyRevision: field.policyRevision.number,
  ja4: field.ja4.number,
  trace: field.trace.number,
};

/** One message at a time: a fact is written in one go. */
const writer = new FlatWriter();

/** In the order of the fields' numbers, as the library writes them. */
function encoded(event: RequestEvent, kept: number): EncodedFact {
  const { receivedAtMs } = event;
  writer.text(F.requestId, event.requestId);
  writer.text(F.siteId, event.siteId);
  writer.integer(F.receivedAtMs, receivedAtMs);
  writer.integer(F.durationUs, natural(event.durationUs));
  writer.integer(F.originUsPlusOne, event.originUs < 0 ? 0 : natural(event.originUs + 1));
  writer.text(F.clientIp, event.clientIp);
  writer.integer(F.clientPort, event.clientPort);
  writer.byteString(F.method, event.method);
  writer.byteString(F.host, event.host);
  writer.byteString(F.target, event.target);
  writer.text(F.httpVersion, event.httpVersion);
  writer.text(F.transportVersion, event.tls?.version ?? '');
  writer.byteString(F.userAgent, event.userAgent);
  writer.byteString(F.referer, event.referer ?? '');
  writer.integer(F.status, event.status);
  writer.text(F.outcome, event.outcome);
  writer.text(F.refusal, event.refusal ?? '');
  writer.flag(F.blocked, event.blocked);
  writer.integer(F.bytesIn, natural(event.bytesIn));
  writer.integer(F.bytesOut, natural(event.bytesOut));
  writer.text(F.endpoint, event.endpoint ?? '');
  writer.text(F.upstreamId, event.upstreamId ?? '');
  writer.text(F.routeId, event.routeId ?? '');
  writer.integer(F.inboundScore, event.transaction?.inboundScore ?? 0);
  writeSelection(event, kept);
  writer.text(F.ja4, event.tls?.ja4 ?? '');
  if (event.trace !== undefined) writer.bytes(F.trace, encodedTrace(event));
  return { receivedAtMs, bytes: writer.take() };
}

function writeSelection({ selection }: RequestEvent, kept: number): void {
  for (let bit = 0; bit < captureReasons.length; bit++) {
    if ((kept & (1 << bit)) !== 0) writer.textAlways(F.captureReasons, captureReasons[bit]!);
  }
  if (selection === undefined) return;
  writer.integer(F.sampleWindowMs, selection.windowMs);
  writer.fixed64(F.reservoirScore, Math.floor(selection.score));
  writer.integer(F.policyRevision, selection.revision);
}

function encodedTrace(event: RequestEvent): Uint8Array {
  return toBinary(TraceFactSchema, create(TraceFactSchema, traceFact(event)));
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

function natural(value: number): number {
  return Math.max(0, Math.round(value));
}

function whole(value: number): bigint {
  return BigInt(natural(value));
}
