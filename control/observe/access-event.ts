/** How a fact of a finished request becomes an access event. Pure. */

import { canonicalHttpVersion } from '../../base/http-version.ts';
import { fromBinary } from '@bufbuild/protobuf';
import {
  AccessFactSchema,
  type AccessFact,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import type { AccessEventJson } from '../../proto/gen/waf/v1/log_pb.ts';
import { accessFactVersion } from '../../base/protocol-versions.ts';
import { accessTerms } from './access-terms.ts';
import { int64Json, selectionOf, traceIdOf, withoutDefaults } from './event-json.ts';
import type { EventIdentity, EventKind } from './events/event-kind.ts';
import { networkTerms, pathTerms } from './events/event-terms.ts';

const decoder = new TextDecoder();

/** Access events: finished requests. */
export const accessKind: EventKind<AccessEventJson> = {
  schemaVersion: accessFactVersion,
  timeField: AccessFactSchema.field.receivedAtMs.number,
  fields: [
    ...['request', 'client', 'net', 'site', 'agent', 'path', 'dir', 'host', 'method', 'status'],
    ...['upstream', 'route'],
  ],
  ranked: ['client', 'path', 'host', 'site'],
  toEvent: (fact, identity) => toAccessEvent(fromBinary(AccessFactSchema, fact), identity),
  termsOf: (event) => ({
    request: filled(event.requestId),
    client: filled(event.clientIp),
    net: networkTerms(event.clientIp ?? ''),
    site: filled(event.siteId),
    agent: filled(event.agentId),
    path: filled(event.path),
    dir: pathTerms(event.path ?? ''),
    host: filled(event.host),
    method: filled(event.method),
    status: [String(event.status ?? 0)],
    upstream: filled(event.upstreamId),
    route: filled(event.routeId),
  }),
  termsOfFact: accessTerms,
};

/** The event of a fact, in JSON form. */
export function toAccessEvent(fact: AccessFact, identity: EventIdentity): AccessEventJson {
  const { id, tenantId, agentId } = identity;
  const target = decoder.decode(fact.target);
  const durationUs = Number(fact.durationUs);
  return withoutDefaults<AccessEventJson>({
    id,
    uniqueId: fact.requestId,
    tenantId,
    siteId: fact.siteId,
    agentId,
    occurredAt: new Date(Number(fact.receivedAtMs)).toISOString(),
    clientIp: fact.clientIp,
    method: decoder.decode(fact.method),
    host: decoder.decode(fact.host).replace(/:\d{1,5}$/, ''),
    path: target.split('?', 1)[0] ?? '',
    status: fact.status,
    durationMs: int64Json(Math.round(durationUs / 1000)),
    bytesRead: int64Json(fact.bytesIn),
    bytesWritten: int64Json(fact.bytesOut),
    raw: {
      target,
      referer: decoder.decode(fact.referer),
      clientPort: fact.clientPort,
      outcome: fact.outcome,
      refusal: fact.refusal,
      blocked: fact.blocked,
      inboundScore: fact.inboundScore,
      durationUs,
      ...(fact.originUsPlusOne === 0n ? {} : { originUs: Number(fact.originUsPlusOne) - 1 }),
      ...(fact.ja4 === '' ? {} : { ja4: fact.ja4 }),
      ...(fact.endpoint === '' ? {} : { endpoint: fact.endpoint }),
      ...traceIdOf(fact.trace?.traceId),
    },
    routeId: fact.routeId,
    upstreamId: fact.upstreamId,
    detailSelection: selectionOf(fact),
    requestId: fact.requestId,
    userAgent: decoder.decode(fact.userAgent),
    httpVersion: canonicalHttpVersion(fact.httpVersion),
    transportVersion: fact.transportVersion || 'PLAINTEXT',
  });
}

function filled(value: string | undefined): readonly string[] {
  return value === undefined || value === '' ? [] : [value];
}
