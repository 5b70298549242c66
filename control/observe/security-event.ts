/** Owns how a fact from a node becomes a security event. Pure. */

import { create, toJson } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { SecurityMatch } from '../../proto/gen/waf/runtime/v1/engine_pb.ts';
import type { GuardDecision, SecurityFact } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import {
  SecurityEventSchema,
  SecurityMessageSchema,
  type SecurityEventJson,
  type SecurityMessage,
} from '../../proto/gen/waf/v1/log_pb.ts';

/** Severities from worst to least; the names that filters use. */
export const severityNames = ['critical', 'error', 'warning', 'notice', 'info', 'debug'] as const;

const decoder = new TextDecoder();

/** The name of a numeric severity (0 emergency .. 7 debug); '' for none. */
export function severityName(severity: number): string {
  if (severity < 0) return '';
  return severityNames[Math.max(0, severity - 2)] ?? '';
}

/** Where the event comes from and under which id it is kept. */
export interface EventIdentity {
  readonly id: string;
  readonly tenantId: string;
  readonly agentId: string;
}

/** The event of a fact, in JSON form. */
export function toSecurityEvent(fact: SecurityFact, identity: EventIdentity): SecurityEventJson {
  const target = decoder.decode(fact.target);
  const path = target.split('?', 1)[0] ?? '';
  const method = decoder.decode(fact.method);
  const host = decoder.decode(fact.host).replace(/:\d{1,5}$/, '');
  const attackTypes = attackTypesOf(fact.matches);
  const worst = fact.matches
    .map(({ severity }) => severity)
    .filter((severity) => severity >= 0)
    .sort((left, right) => left - right)[0];
  const event = create(SecurityEventSchema, {
    ...identity,
    uniqueId: fact.requestId,
    requestId: fact.requestId,
    siteId: fact.siteId,
    occurredAt: timestampFromMs(Number(fact.receivedAtMs)),
    clientIp: fact.clientIp,
    method,
    host,
    path,
    status: fact.status,
    blocked: fact.blocked || fact.outcome === 'refused',
    messages: fact.matches.map(toMessage),
    raw: {
      target,
      userAgent: decoder.decode(fact.userAgent),
      outcome: fact.outcome,
      refusal: fact.refusal,
      failure: fact.failure,
      pcreLimitedRules: fact.pcreLimitedRules,
      limitsReached: fact.limitsReached,
      ...(fact.guards.length === 0 ? {} : { guards: fact.guards.map(showDecision) }),
      ...(fact.endpoint === '' ? {} : { endpoint: fact.endpoint }),
      detectionOnly: fact.detectionOnly,
      outboundScore: fact.outboundScore,
      durationUs: Number(fact.durationUs),
      inspectionUs: Number(fact.inspectionUs),
      matchesDropped: fact.matchesDropped,
    },
    attackType: attackTypes[0] ?? (fact.refusal === '' || fact.guards.length > 0 ? '' : 'protocol'),
    attackTypes,
    targetIdentity: `${method} ${host}${pathShape(path)}`,
    severity: worst === undefined ? '' : severityName(worst),
    anomalyScore: fact.inboundScore,
    ruleMatchCount: fact.matches.length + fact.matchesDropped,
    ruleIds: unique(fact.matches.map(({ ruleId }) => String(ruleId))),
    tags: unique(fact.matches.flatMap(({ tags }) => tags)),
    detailAvailable: true,
    httpVersion: fact.httpVersion,
    transportVersion: 'PLAINTEXT',
  });
  return toJson(SecurityEventSchema, event);
}

/** What a guard decided, and what its bypass skipped. */
function showDecision({ guard, action, reason, ruleId, detail, skipped }: GuardDecision) {
  return { guard, action, reason, ruleId, detail: decoder.decode(detail), skipped };
}

function toMessage(match: SecurityMatch): SecurityMessage {
  const first = match.matched[0];
  const name = first === undefined ? '' : decoder.decode(first.name);
  const colon = name.indexOf(':');
  return create(SecurityMessageSchema, {
    ruleId: String(match.ruleId),
    severity: severityName(match.severity),
    message: match.message,
    tags: match.tags,
    matchVariable: colon < 0 ? name : name.slice(0, colon),
    matchKey: colon < 0 ? '' : name.slice(colon + 1),
    matchValue: first === undefined ? '' : decoder.decode(first.value),
    matchData: match.data,
    phase: match.phase,
    operator: match.operator,
    disruptive: match.disruptive,
    matchValueTruncated: match.truncated,
  });
}

/**
 * True for what rankings of attacks count: a request that was stopped, or that a rule matched with
 * more than a notice.
 */
export function isAttack({ blocked, severity }: SecurityEventJson): boolean {
  return blocked === true || ['critical', 'error', 'warning'].includes(severity ?? '');
}

/** What a match of each severity, from emergency on, adds to an anomaly score in CRS. */
const severityScores = [5, 5, 5, 4, 3, 2] as const;
/** CRS 3 tags with it the rules that add up scores. */
const anyAttack = 'generic';

interface FamilyScore {
  best: number;
  total: number;
}

/**
 * Attack families by the tags that CRS gives: first that of the rule with the highest score; among
 * equals the one whose rules have the most together, then the one met first.
 */
function attackTypesOf(matches: readonly SecurityMatch[]): string[] {
  const scores = new Map<string, FamilyScore>();
  for (const { tags, severity } of matches) {
    const score = severityScores[severity] ?? 0;
    for (const tag of unique(tags)) {
      if (!tag.startsWith('attack-')) continue;
      const type = tag.slice('attack-'.length);
      const known = scores.get(type) ?? { best: 0, total: 0 };
      scores.set(type, { best: Math.max(known.best, score), total: known.total + score });
    }
  }
  return [...scores].sort(byScore).map(([type]) => type);
}

function byScore(
  [left, one]: readonly [string, FamilyScore],
  [right, other]: readonly [string, FamilyScore],
): number {
  const vague = Number(left === anyAttack) - Number(right === anyAttack);
  return vague || other.best - one.best || other.total - one.total;
}

/** A path with what looks like an identifier taken out. */
function pathShape(path: string): string {
  return path
    .split('/')
    .map((part) => (/^(?:\d+|[0-9a-f]{8,}|[0-9a-f-]{32,})$/i.test(part) ? '{id}' : part))
    .join('/');
}

function unique(list: readonly string[]): string[] {
  return [...new Set(list)];
}
