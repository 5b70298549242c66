/**
 * Requests as spans of OTLP: one of the request, one of the request to the origin. Attributes are
 * those of OpenTelemetry's semantic conventions for HTTP; own ones begin with `waf.`. Source:
 * opentelemetry-proto 1.x, trace.proto. Pure.
 */

import type { AccessFact, TraceFact } from '../../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { hexOf, splitTarget, textOf, type ExportedFact } from '../fact.ts';
import {
  otlpAttributes,
  otlpMicroseconds,
  type OtlpAttribute,
  type OtlpRecord,
} from './otlp-values.ts';

const kinds = { server: 2, client: 3 } as const;
const statusError = 2;
/** Trace flags of a span: sampled, and whether the parent is another's is known. */
const flags = { sampled: 0x1, parentKnown: 0x100, parentRemote: 0x200 } as const;

/** Methods that span names and `http.request.method` show as they are (RFC 9110, RFC 5789). */
const methods = new Set([
  ...['CONNECT', 'DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE'],
]);

/** The spans of a request, its own first; none where it is in no trace. */
export function spansOf(exported: ExportedFact): OtlpRecord[] {
  if (exported.event !== 'access') return [];
  const { fact } = exported;
  const { trace } = fact;
  if (trace === undefined) return [];
  const server = serverSpan(exported, fact, trace);
  return trace.origin === undefined ? [server] : [server, originSpan(fact, trace, trace.origin)];
}

/** The request that carries spans. */
export function tracesRequest(
  resource: readonly OtlpAttribute[],
  version: string,
  spans: readonly OtlpRecord[],
): object {
  const scopeSpans = [{ scope: { name: 'waf', version }, spans }];
  return { resourceSpans: [{ resource: { attributes: resource }, scopeSpans }] };
}

function serverSpan(
  { agentId, tenantId }: Pick<ExportedFact, 'agentId' | 'tenantId'>,
  fact: AccessFact,
  trace: TraceFact,
): OtlpRecord {
  const { path, query } = splitTarget(textOf(fact.target));
  const { method, attributes } = methodOf(fact);
  const error = fact.status >= 500 || fact.outcome === 'origin_error';
  const unanswered = fact.status === 0;
  return {
    traceId: hexOf(trace.traceId),
    spanId: hexOf(trace.spanId),
    ...(trace.parentId.length > 0 && { parentSpanId: hexOf(trace.parentId) }),
    ...(trace.state.length > 0 && { traceState: textOf(trace.state) }),
    flags: trace.parentId.length === 0 ? flags.sampled : remoteParent,
    name: method,
    kind: kinds.server,
    startTimeUnixNano: otlpMicroseconds(trace.startUs),
    endTimeUnixNano: otlpMicroseconds(trace.startUs + fact.durationUs),
    attributes: otlpAttributes({
      ...attributes,
      'url.scheme': fact.transportVersion === '' ? 'http' : 'https',
      'url.path': path,
      'url.query': said(query),
      ...addressOf(textOf(fact.host)),
      'http.response.status_code': unanswered ? undefined : fact.status,
      'error.type': error || unanswered ? fact.refusal || String(fact.status) : undefined,
      'network.protocol.version': protocolOf(fact.httpVersion),
      'tls.protocol.version': said(fact.transportVersion.replace(/^TLSv/, '')),
      'client.address': fact.clientIp,
      'client.port': fact.clientPort,
      'user_agent.original': said(textOf(fact.userAgent)),
      'http.request.body.size': Number(fact.bytesIn),
      'http.response.body.size': Number(fact.bytesOut),
      'waf.outcome': fact.outcome,
      'waf.reason': said(fact.refusal),
      'waf.blocked': fact.blocked,
      'waf.detection_only': trace.detectionOnly ? true : undefined,
      'waf.score.inbound': fact.inboundScore,
      'waf.rule.ids': trace.ruleIds.length === 0 ? undefined : trace.ruleIds,
      'waf.rule.count': trace.rules === 0 ? undefined : trace.rules,
      'waf.inspection.duration_us': Number(trace.inspectionUs),
      'waf.site.id': said(fact.siteId),
      'waf.upstream.id': said(fact.upstreamId),
      'waf.route.id': said(fact.routeId),
      'waf.request.id': fact.requestId,
      'waf.node.id': agentId,
      'waf.tenant.id': tenantId,
    }),
    ...(error && { status: { code: statusError } }),
  };
}

const remoteParent = flags.sampled | flags.parentKnown | flags.parentRemote;

function originSpan(
  fact: AccessFact,
  trace: TraceFact,
  origin: NonNullable<TraceFact['origin']>,
): OtlpRecord {
  const { method, attributes } = methodOf(fact);
  const { status } = origin;
  const error = status === 0 || status >= 400;
  return {
    traceId: hexOf(trace.traceId),
    spanId: hexOf(origin.spanId),
    parentSpanId: hexOf(trace.spanId),
    ...(trace.state.length > 0 && { traceState: textOf(trace.state) }),
    flags: flags.sampled | flags.parentKnown,
    name: method,
    kind: kinds.client,
    startTimeUnixNano: otlpMicroseconds(trace.startUs + origin.fromUs),
    endTimeUnixNano: otlpMicroseconds(trace.startUs + origin.untilUs),
    attributes: otlpAttributes({
      ...attributes,
      'url.full': fullUrl(fact, origin),
      ...addressOf(fact.endpoint),
      'http.response.status_code': status === 0 ? undefined : status,
      'error.type': error
        ? status === 0
          ? fact.refusal || fact.outcome
          : String(status)
        : undefined,
      'http.request.resend_count': origin.resends === 0 ? undefined : origin.resends,
      'waf.upstream.id': said(fact.upstreamId),
    }),
    ...(error && { status: { code: statusError } }),
  };
}

/** What the origin was asked for; undefined where the client named more than a path. */
function fullUrl(
  { endpoint, target }: AccessFact,
  { secure, skip }: NonNullable<TraceFact['origin']>,
): string | undefined {
  const text = textOf(target);
  if (!text.startsWith('/') || endpoint === '') return undefined;
  const rest = text.slice(skip);
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  return `${secure ? 'https' : 'http'}://${endpoint}${path}`;
}

function methodOf({ method: bytes }: AccessFact) {
  const original = textOf(bytes);
  if (methods.has(original)) {
    return { method: original, attributes: { 'http.request.method': original } };
  }
  const attributes = {
    'http.request.method': '_OTHER',
    'http.request.method_original': said(original),
  };
  return { method: 'HTTP', attributes };
}

/** Name or address, and port where one is named. */
function addressOf(host: string): Record<string, unknown> {
  if (host === '') return {};
  const found = /^(.*?)(?::(\d{1,5}))?$/s.exec(host);
  const port = found?.[2] === undefined ? undefined : Number(found[2]);
  const address = (found?.[1] ?? '').replace(/^\[(.*)\]$/s, '$1');
  return { 'server.address': said(address), 'server.port': port };
}

/** `1.1`, `1.0` or `2`. */
function protocolOf(httpVersion: string): string | undefined {
  return said(httpVersion.replace(/^HTTP\//, '').replace(/^([23])\.0$/, '$1'));
}

function said(text: string): string | undefined {
  return text === '' ? undefined : text;
}
