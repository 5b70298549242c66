/** Owns how a fact from a node becomes a security event. Pure. */

import { fromBinary } from '@bufbuild/protobuf';
import type { SecurityMatch } from '../../proto/gen/waf/runtime/v1/engine_pb.ts';
import {
  SecurityFactSchema,
  type GuardDecision,
  type SecurityFact,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import type { SecurityEventJson, SecurityMessageJson } from '../../proto/gen/waf/v1/log_pb.ts';
import { securityFactVersion } from '../../engine/base/protocol-versions.ts';
import { selectionOf, withoutDefaults } from './event-json.ts';
import type { EventIdentity, EventKind } from './events/event-kind.ts';
import { networkTerms, pathTerms } from './events/event-terms.ts';

/** Severities from worst to least; the names that filters use. */
export const severityNames = ['critical', 'error', 'warning', 'notice', 'info', 'debug'] as const;

const decoder = new TextDecoder();

/** The name of a numeric severity (0 emergency .. 7 debug); '' for none. */
export function severityName(severity: number): string {
  if (severity < 0) return '';
  return severityNames[Math.max(0, severity - 2)] ?? '';
}

/** Security events: requests that a rule matched or the front refused. */
export const securityKind: EventKind<SecurityEventJson> = {
  schemaVersion: securityFactVersion,
  timeField: SecurityFactSchema.field.receivedAtMs.number,
  fields: [
    ...['request', 'client', 'net', 'site', 'agent', 'rule', 'rule_text', 'attack', 'first_attack'],
    ...['target', 'path', 'dir', 'host', 'method', 'outcome', 'severity', 'status'],
  ],
  ranked: [
    ...['client', 'site', 'rule_text', 'first_attack', 'target', 'path', 'method', 'outcome'],
    'severity',
  ],
  toEvent: (fact, identity) => toSecurityEvent(fromBinary(SecurityFactSchema, fact), identity),
  termsOf: (event) => ({
    request: filled(event.requestId),
    client: filled(event.clientIp),
    net: networkTerms(event.clientIp ?? ''),
    site: filled(event.siteId),
    agent: filled(event.agentId),
    rule: event.ruleIds ?? [],
    rule_text: ruleTexts(event),
    attack: unique([...(event.attackTypes ?? []), ...filled(event.attackType)]),
    first_attack: filled(event.attackType),
    target: filled(event.targetIdentity),
    path: filled(event.path),
    dir: pathTerms(event.path ?? ''),
    host: filled(event.host),
    method: filled(event.method),
    outcome: [event.blocked === true ? 'blocked' : 'passed'],
    severity: filled(event.severity),
    status: filled(event.status === undefined ? '' : String(event.status)),
  }),
};

/** Between a rule's id and its message in the index field `rule_text`. */
export const ruleTextSeparator = ' ';

function ruleTexts({ messages = [] }: SecurityEventJson): string[] {
  const texts = new Map(messages.map((one) => [one.ruleId ?? '', one.message ?? '']));
  return [...texts].map(([id, text]) => `${id}${ruleTextSeparator}${text}`);
}

function filled(value: string | undefined): readonly string[] {
  return value === undefined || value === '' ? [] : [value];
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
  const { id, tenantId, agentId } = identity;
  return withoutDefaults<SecurityEventJson>({
    id,
    tenantId,
    agentId,
    uniqueId: fact.requestId,
    requestId: fact.requestId,
    siteId: fact.siteId,
    occurredAt: new Date(Number(fact.receivedAtMs)).toISOString(),
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
      pcreLimitedRules: [...fact.pcreLimitedRules],
      limitsReached: [...fact.limitsReached],
      ...(fact.guards.length === 0 ? {} : { guards: fact.guards.map(showDecision) }),
      ...(fact.ja4 === '' ? {} : { ja4: fact.ja4 }),
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
    detailAvailable: !fact.compact,
    detailSelection: selectionOf(fact),
    httpVersion: fact.httpVersion,
    transportVersion: fact.transportVersion || 'PLAINTEXT',
  });
}

/** What a guard decided, and what its bypass skipped. */
function showDecision({ guard, action, reason, ruleId, detail, skipped }: GuardDecision) {
  return { guard, action, reason, ruleId, detail: decoder.decode(detail), skipped: [...skipped] };
}

function toMessage(match: SecurityMatch): SecurityMessageJson {
  const first = match.matched[0];
  const name = first === undefined ? '' : decoder.decode(first.name);
  const colon = name.indexOf(':');
  return withoutDefaults<SecurityMessageJson>({
    ruleId: String(match.ruleId),
    severity: severityName(match.severity),
    message: match.message,
    tags: [...match.tags],
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
  return isAttackBy(blocked === true, severity ?? '');
}

/** The same, of an event's properties. */
export function isAttackBy(blocked: boolean, severity: string): boolean {
  return blocked || ['critical', 'error', 'warning'].includes(severity);
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
