/** How a fact from a node becomes a security event. Pure. */

import { canonicalHttpVersion } from '../../base/http-version.ts';
import { fromBinary } from '@bufbuild/protobuf';
import type { SecurityMatch } from '../../proto/gen/waf/runtime/v1/engine_pb.ts';
import {
  SecurityFactSchema,
  type GuardDecision,
  type SecurityFact,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import type { SecurityEventJson, SecurityMessageJson } from '../../proto/gen/waf/v1/log_pb.ts';
import { securityFactVersion } from '../../base/protocol-versions.ts';
import { int64Json, selectionOf, traceIdOf, withoutDefaults } from './event-json.ts';
import { compactFact } from './compact-fact.ts';
import { entryForm, type Entry } from './events/entry.ts';
import type { EventIdentity, EventKind } from './events/event-kind.ts';
import { networkTerms, pathTerms } from './events/event-terms.ts';
import { attackTypesOf, pathShape, severityName, unique, worstSeverity } from './attack-types.ts';
import { ruleTextSeparator, securityTerms } from './security-terms.ts';

const decoder = new TextDecoder();

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
  withoutDetails: compactEntry,
  termsOfFact: securityTerms,
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

/** As nodes send a fact whose detail no log policy keeps: the rules, not what they found. */
function compactEntry(entry: Entry): Entry {
  const { form, bytes } = entry;
  if (form === entryForm.json) {
    const event = JSON.parse(decoder.decode(bytes)) as SecurityEventJson;
    const { detailAvailable: _, detailSelection: _selection, messages = [], ...rest } = event;
    const kept = messages.map(
      ({ ruleId, severity, message, tags, phase, operator, disruptive }) => {
        return { ruleId, severity, message, tags, phase, operator, disruptive };
      },
    );
    return { ...entry, bytes: Buffer.from(JSON.stringify({ ...rest, messages: kept })) };
  }
  return { ...entry, bytes: compactFact(bytes) };
}

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
      ...(fact.uninspectedBytes > 0n && { uninspectedBytes: Number(fact.uninspectedBytes) }),
      ...(fact.guards.length === 0 ? {} : { guards: fact.guards.map(showDecision) }),
      ...(fact.ja4 === '' ? {} : { ja4: fact.ja4 }),
      ...(fact.endpoint === '' ? {} : { endpoint: fact.endpoint }),
      ...traceIdOf(fact.traceId),
      detectionOnly: fact.detectionOnly,
      outboundScore: fact.outboundScore,
      durationUs: Number(fact.durationUs),
      inspectionUs: Number(fact.inspectionUs),
      matchesDropped: fact.matchesDropped,
    },
    attackType: attackTypes[0] ?? (fact.refusal === '' || fact.guards.length > 0 ? '' : 'protocol'),
    attackTypes,
    targetIdentity: `${method} ${host}${pathShape(path)}`,
    severity: worstSeverity(fact.matches),
    anomalyScore: fact.inboundScore,
    ruleMatchCount: fact.matches.length + fact.matchesDropped,
    ruleIds: unique(fact.matches.map(({ ruleId }) => String(ruleId))),
    tags: unique(fact.matches.flatMap(({ tags }) => tags)),
    detailAvailable: !fact.compact,
    detailSelection: selectionOf(fact),
    httpVersion: canonicalHttpVersion(fact.httpVersion),
    transportVersion: fact.transportVersion || 'PLAINTEXT',
  });
}

/** What a guard decided, and what its bypass skipped. */
function showDecision({ guard, action, reason, ruleId, detail, skipped }: GuardDecision) {
  return { guard, action, reason, ruleId, detail: decoder.decode(detail), skipped: [...skipped] };
}

function toMessage(match: SecurityMatch): SecurityMessageJson {
  const values = match.matched.map(({ name, value }) => ({
    ...splitName(decoder.decode(name)),
    value: decoder.decode(value),
  }));
  const [first] = values;
  return withoutDefaults<SecurityMessageJson>({
    ruleId: String(match.ruleId),
    severity: severityName(match.severity),
    message: match.message,
    tags: [...match.tags],
    matchVariable: first?.variable ?? '',
    matchKey: first?.key ?? '',
    matchValue: first?.value ?? '',
    matchData: match.data,
    matchedText: matchedText(match.data, values),
    phase: match.phase,
    operator: match.operator,
    disruptive: match.disruptive,
    matchValueTruncated: match.truncated,
    matchedValues: values.map((one) => withoutDefaults(one)),
    scoreContribution: match.score,
    bodyOffset: int64Json(match.bodyOffset),
  });
}

/** The collection and the name inside it of, for example, `ARGS:q`. */
function splitName(name: string): { variable: string; key: string } {
  const colon = name.indexOf(':');
  if (colon < 0) return { variable: name, key: '' };
  return { variable: name.slice(0, colon), key: name.slice(colon + 1) };
}

interface MatchedValue {
  readonly variable: string;
  readonly key: string;
  readonly value: string;
}

/**
 * The part of a value that matched. Rules of CRS log it as `Matched Data: TEXT found within NAME:
 * VALUE`; of other rules it is not known. The value may hold the same words: the last ones count.
 */
function matchedText(data: string, values: readonly MatchedValue[]): string {
  const start = 'Matched Data: ';
  if (!data.startsWith(start)) return '';
  for (const { variable, key, value } of values.toReversed()) {
    const name = key === '' ? variable : `${variable}:${key}`;
    const end = ` found within ${name}: ${value}`;
    const at = data.endsWith(end) ? data.length - end.length : -1;
    if (at >= start.length) return data.slice(start.length, at);
  }
  const at = data.indexOf(' found within ');
  return at < 0 ? '' : data.slice(start.length, at);
}

/**
 * True for what rankings of attacks count: a request that was stopped, or that a rule matched with
 * more than a notice.
 */
export function isAttack({ blocked, severity }: SecurityEventJson): boolean {
  return isAttackBy(blocked === true, severity ?? '');
}

/** Severities that are more than a notice. */
export const attackSeverities: readonly string[] = ['critical', 'error', 'warning'];

/** The same, of an event's properties. */
export function isAttackBy(blocked: boolean, severity: string): boolean {
  return blocked || attackSeverities.includes(severity);
}
