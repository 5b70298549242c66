/** A finished request as web servers write it into a JSON access log. Pure. */

import { canonicalHttpVersion } from '../../base/http-version.ts';
import type { AccessFact } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { textOf } from './fact.ts';

/** The fields that `--access-log-format json` has, and the node. */
export function accessJson(fact: AccessFact, agentId: string): object {
  return {
    time: new Date(Number(fact.receivedAtMs)).toISOString(),
    requestId: fact.requestId,
    siteId: fact.siteId,
    nodeId: agentId,
    clientIp: fact.clientIp,
    clientPort: fact.clientPort,
    method: textOf(fact.method),
    host: textOf(fact.host),
    target: textOf(fact.target),
    protocol: canonicalHttpVersion(fact.httpVersion),
    tls: fact.transportVersion,
    ja4: fact.ja4,
    status: fact.status,
    outcome: fact.outcome,
    reason: fact.refusal,
    blocked: fact.blocked,
    bytesIn: Number(fact.bytesIn),
    bytesOut: Number(fact.bytesOut),
    durationUs: Number(fact.durationUs),
    originUs: Number(fact.originUsPlusOne) - 1,
    endpoint: fact.endpoint,
    upstreamId: fact.upstreamId,
    routeId: fact.routeId,
    referer: textOf(fact.referer),
    userAgent: textOf(fact.userAgent),
    score: fact.inboundScore,
  };
}
