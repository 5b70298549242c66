/** Events in the Elastic Common Schema 8.11. Own fields stand under `waf`. Pure. */

import type {
  AccessFact,
  ErrorFact,
  SecurityFact,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import {
  filledFields,
  splitTarget,
  spanOf,
  textOf,
  versionNumber,
  type ExportedFact,
} from './fact.ts';

/** The event as a document. */
export function ecsJson(exported: ExportedFact): object {
  const { event, fact, agentId } = exported;
  const span = spanOf(exported);
  const atMs = event === 'error' ? fact.atMs : fact.receivedAtMs;
  return {
    '@timestamp': new Date(Number(atMs)).toISOString(),
    ecs: { version: '8.11.0' },
    observer: { type: 'waf', product: 'waf', name: agentId },
    ...(event === 'security' && ofSecurity(fact)),
    ...(event === 'access' && ofAccess(fact)),
    ...(event === 'error' && ofError(fact)),
    ...(span && { trace: { id: span.traceId }, span: { id: span.spanId } }),
  };
}

function ofSecurity(fact: SecurityFact): object {
  const stopped = fact.blocked || fact.outcome === 'refused';
  const rules = fact.matches.map(({ ruleId }) => String(ruleId));
  return {
    message: fact.matches[0]?.message ?? fact.guards[0]?.reason ?? fact.refusal,
    event: {
      ...{ kind: 'alert', module: 'waf', dataset: 'waf.security' },
      category: ['web', 'intrusion_detection'],
      type: [stopped ? 'denied' : 'allowed'],
      action: fact.outcome,
      outcome: stopped ? 'failure' : 'success',
      id: fact.requestId,
      duration: Number(fact.durationUs) * 1000,
      risk_score: fact.inboundScore,
    },
    ...requestFields(fact),
    rule: filledFields({ id: rules, name: fact.matches.map(({ message }) => message) }),
    waf: filledFields({
      site_id: fact.siteId,
      blocked: fact.blocked,
      refusal: fact.refusal,
      failure: fact.failure,
      detection_only: fact.detectionOnly,
      inbound_score: fact.inboundScore,
      outbound_score: fact.outboundScore,
      tags: [...new Set(fact.matches.flatMap(({ tags }) => tags))],
      matches: fact.matches.map((match) => ({
        rule_id: match.ruleId,
        message: match.message,
        data: match.data,
        variable: textOf(match.matched[0]?.name ?? new Uint8Array()),
        value: textOf(match.matched[0]?.value ?? new Uint8Array()),
        disruptive: match.disruptive,
      })),
      matches_dropped: fact.matchesDropped,
      guards: fact.guards.map(({ guard, action, reason, ruleId }) => {
        return { guard, action, reason, rule_id: ruleId };
      }),
    }),
  };
}

function ofAccess(fact: AccessFact): object {
  const { http, ...rest } = requestFields(fact);
  return {
    event: {
      ...{ kind: 'event', module: 'waf', dataset: 'waf.access', category: ['web'] },
      type: ['access', fact.blocked ? 'denied' : 'allowed'],
      action: fact.outcome,
      outcome: fact.outcome === 'served' && fact.status < 400 ? 'success' : 'failure',
      id: fact.requestId,
      duration: Number(fact.durationUs) * 1000,
    },
    ...rest,
    http: {
      ...http,
      request: { ...http.request, body: { bytes: Number(fact.bytesIn) } },
      response: { ...http.response, body: { bytes: Number(fact.bytesOut) } },
    },
    waf: filledFields({
      site_id: fact.siteId,
      blocked: fact.blocked,
      reason: fact.refusal,
      upstream_id: fact.upstreamId,
      route_id: fact.routeId,
      inbound_score: fact.inboundScore,
    }),
  };
}

function ofError(fact: ErrorFact): object {
  return {
    message: fact.message,
    event: {
      ...{ kind: 'event', module: 'waf', dataset: 'waf.error', category: ['web'] },
      type: ['error'],
      outcome: 'failure',
      duration: Number(fact.durationUs) * 1000,
    },
    log: { level: fact.level, logger: fact.logger },
    error: { code: fact.reason, message: fact.message },
    ...(fact.clientIp === '' ? {} : { source: { ip: fact.clientIp } }),
    ...destination(fact.endpoint),
    url: urlOf(textOf(fact.host), textOf(fact.target)),
    http: filledFields({
      request: filledFields({ id: fact.requestId, method: textOf(fact.method) }),
      response: fact.status === 0 ? undefined : { status_code: fact.status },
    }),
    waf: filledFields({ site_id: fact.siteId }),
  };
}

/** What security and access events say of a request. */
function requestFields(fact: SecurityFact | AccessFact) {
  const secure = fact.transportVersion !== '';
  const version = secure ? fact.transportVersion.replace(/^TLSv/, '') : undefined;
  return {
    source: filledFields({ ip: fact.clientIp, port: fact.clientPort || undefined }),
    ...destination(fact.endpoint),
    url: urlOf(textOf(fact.host), textOf(fact.target)),
    http: {
      version: String(versionNumber(fact.httpVersion)),
      request: filledFields({
        id: fact.requestId,
        method: textOf(fact.method),
        referrer: textOf(fact.referer),
      }),
      response: { status_code: fact.status },
    },
    user_agent: filledFields({ original: textOf(fact.userAgent) }),
    ...(secure ? { tls: filledFields({ version, version_protocol: 'tls' }) } : {}),
  };
}

function urlOf(domain: string, target: string): object {
  const { path, query } = splitTarget(target);
  return filledFields({ domain, path, query, original: target });
}

function destination(endpoint: string): object {
  return endpoint === '' ? {} : { destination: { address: endpoint } };
}
