/**
 * Events in the Open Cybersecurity Schema Framework 1.3: requests as HTTP Activity (4002) with the
 * profile of security controls, errors as the base event. Pure.
 */

import { canonicalHttpVersion } from '../../base/http-version.ts';
import type {
  AccessFact,
  ErrorFact,
  SecurityFact,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { filledFields, splitTarget, textOf, type ExportedFact } from './fact.ts';

const httpActivity = 4002;
/** Activities of that class by method; 99 for any other. */
const activities: Readonly<Record<string, number>> = {
  ...{ CONNECT: 1, DELETE: 2, GET: 3, HEAD: 4, OPTIONS: 5, POST: 6, PUT: 7, TRACE: 8 },
};
const severities = { informational: 1, low: 2, medium: 3, high: 4, critical: 5 } as const;
const severityNames = ['Unknown', 'Informational', 'Low', 'Medium', 'High', 'Critical'];

/** The event as an object; `version` is that of the product. */
export function ocsfJson(exported: ExportedFact, version: string): object {
  const { event, fact, agentId } = exported;
  const metadata = {
    version: '1.3.0',
    product: { name: 'waf', vendor_name: 'waf', version },
    profiles: event === 'error' ? [] : ['security_control'],
    log_name: event,
    uid: fact.requestId,
  };
  const device = { name: agentId, type_id: 0 };
  if (event === 'error') return { ...ofError(fact), metadata, device };
  return { ...ofRequest(fact, event === 'security' ? fact : null), metadata, device };
}

function ofRequest(fact: SecurityFact | AccessFact, security: SecurityFact | null): object {
  const method = textOf(fact.method);
  const activity = activities[method] ?? 99;
  const stopped = fact.blocked || fact.outcome === 'refused' || fact.outcome === 'challenged';
  const severity = security === null ? severities.informational : severityOf(security);
  const rule = security?.matches.find(({ disruptive }) => disruptive) ?? security?.matches[0];
  return {
    ...{ category_uid: 4, category_name: 'Network Activity' },
    ...{ class_uid: httpActivity, class_name: 'HTTP Activity' },
    ...{ activity_id: activity, type_uid: httpActivity * 100 + activity },
    ...(activity === 99 ? { activity_name: method } : {}),
    ...{ severity_id: severity, severity: severityNames[severity] },
    time: Number(fact.receivedAtMs),
    duration: Math.round(Number(fact.durationUs) / 1000),
    ...{ status_id: stopped ? 2 : 1, status: stopped ? 'Failure' : 'Success' },
    status_detail: fact.outcome,
    ...{ action_id: stopped ? 2 : 1, action: stopped ? 'Denied' : 'Allowed' },
    ...{ disposition_id: stopped ? 2 : 1, disposition: stopped ? 'Blocked' : 'Allowed' },
    src_endpoint: filledFields({ ip: fact.clientIp, port: fact.clientPort || undefined }),
    dst_endpoint: filledFields({ hostname: textOf(fact.host) }),
    http_request: filledFields({
      uid: fact.requestId,
      http_method: method,
      url: urlOf(textOf(fact.host), textOf(fact.target)),
      user_agent: textOf(fact.userAgent),
      referrer: textOf(fact.referer),
      version: canonicalHttpVersion(fact.httpVersion),
    }),
    http_response: { code: fact.status },
    ...(rule === undefined
      ? {}
      : {
          firewall_rule: {
            uid: String(rule.ruleId),
            name: rule.message,
            match_details: [rule.data],
          },
        }),
    ...(fact.transportVersion === '' ? {} : { tls: { version: fact.transportVersion } }),
    unmapped: filledFields({
      site_id: fact.siteId,
      inbound_score: fact.inboundScore,
      reason: fact.refusal,
      rule_ids: security?.matches.map(({ ruleId }) => ruleId),
      guards: security?.guards.map(({ guard, action, reason }) => `${guard} ${action} ${reason}`),
    }),
  };
}

function ofError(fact: ErrorFact): object {
  const severity = fact.level === 'error' ? severities.high : severities.medium;
  return {
    ...{ category_uid: 0, category_name: 'Uncategorized', class_uid: 0, class_name: 'Base Event' },
    ...{ activity_id: 0, type_uid: 0, severity_id: severity, severity: severityNames[severity] },
    time: Number(fact.atMs),
    ...{ status_id: 2, status: 'Failure', status_code: fact.reason },
    message: fact.message,
    unmapped: filledFields({
      logger: fact.logger,
      site_id: fact.siteId,
      endpoint: fact.endpoint,
      client_ip: fact.clientIp,
      http_method: textOf(fact.method),
      url: urlOf(textOf(fact.host), textOf(fact.target)),
    }),
  };
}

function severityOf({ matches, blocked }: SecurityFact): number {
  const stated = matches.map(({ severity }) => severity).filter((severity) => severity >= 0);
  const worst = Math.min(7, ...stated);
  if (worst <= 2) return severities.critical;
  if (worst === 3) return severities.high;
  if (worst === 4 || blocked) return severities.medium;
  return severities.low;
}

function urlOf(hostname: string, target: string): object {
  const { path, query } = splitTarget(target);
  return filledFields({ hostname, path, query_string: query, url_string: target });
}
