/**
 * What the index of security events holds, straight from a fact: the whole event is only made when
 * somebody reads it. Gives what `termsOf` gives of the event; a test compares both. Pure.
 */

import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { SecurityMatchSchema } from '../../proto/gen/waf/runtime/v1/engine_pb.ts';
import { SecurityFactSchema } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { attackTypesOf, pathShape, unique, worstSeverity } from './attack-types.ts';
import type { EventTerms } from './events/event-kind.ts';
import { networkTerms, pathTerms } from './events/event-terms.ts';

/** Between a rule's id and its message in the index field `rule_text`. */
export const ruleTextSeparator = ' ';

interface IndexedMatch {
  ruleId: number;
  message: string;
  severity: number;
  readonly tags: string[];
}

interface IndexedFact {
  requestId: string;
  siteId: string;
  clientIp: string;
  method: string;
  host: string;
  target: string;
  status: number;
  blocked: boolean;
  outcome: string;
  refusal: string;
  guards: number;
  readonly matches: IndexedMatch[];
}

const decoder = new TextDecoder();
const none: readonly string[] = [];
const factField = SecurityFactSchema.field;
const matchField = SecurityMatchSchema.field;
const fields = {
  requestId: factField.requestId.number,
  siteId: factField.siteId.number,
  clientIp: factField.clientIp.number,
  method: factField.method.number,
  host: factField.host.number,
  target: factField.target.number,
  status: factField.status.number,
  blocked: factField.blocked.number,
  outcome: factField.outcome.number,
  refusal: factField.refusal.number,
  guards: factField.guards.number,
  matches: factField.matches.number,
} as const;
const matchFields = {
  ruleId: matchField.ruleId.number,
  message: matchField.message.number,
  severity: matchField.severity.number,
  tags: matchField.tags.number,
} as const;

/** Values by index field. Errors: those of a damaged fact. Cost: about 10 us. */
export function securityTerms(bytes: Uint8Array, agentId: string): EventTerms {
  const fact = readIndexed(bytes);
  const host = fact.host.replace(/:\d{1,5}$/, '');
  const path = fact.target.split('?', 1)[0] ?? '';
  const types = attackTypesOf(fact.matches);
  const protocol = fact.refusal === '' || fact.guards > 0 ? '' : 'protocol';
  const first = types[0] ?? protocol;
  const texts = new Map(fact.matches.map(({ ruleId, message }) => [String(ruleId), message]));
  return {
    request: filled(fact.requestId),
    client: filled(fact.clientIp),
    net: networkTerms(fact.clientIp),
    site: filled(fact.siteId),
    agent: filled(agentId),
    rule: [...texts.keys()],
    rule_text: [...texts].map(([id, text]) => `${id}${ruleTextSeparator}${text}`),
    attack: unique([...types, ...filled(first)]),
    first_attack: filled(first),
    target: [`${fact.method} ${host}${pathShape(path)}`],
    path: filled(path),
    dir: pathTerms(path),
    host: filled(host),
    method: filled(fact.method),
    outcome: [fact.blocked || fact.outcome === 'refused' ? 'blocked' : 'passed'],
    severity: filled(worstSeverity(fact.matches)),
    status: fact.status === 0 ? none : [String(fact.status)],
  };
}

function filled(value: string): readonly string[] {
  return value === '' ? none : [value];
}

/** The fields that are indexed; all others are skipped. */
function readIndexed(bytes: Uint8Array): IndexedFact {
  const fact: IndexedFact = {
    ...{ requestId: '', siteId: '', clientIp: '', method: '', host: '', target: '' },
    ...{ status: 0, blocked: false, outcome: '', refusal: '', guards: 0, matches: [] },
  };
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (type === WireType.LengthDelimited) readText(fact, field, reader.bytes());
    else if (type === WireType.Varint && field === fields.status) fact.status = reader.uint32();
    else if (type === WireType.Varint && field === fields.blocked) fact.blocked = reader.bool();
    else reader.skip(type, field);
  }
  return fact;
}

function readText(fact: IndexedFact, field: number, value: Uint8Array): void {
  if (field === fields.matches) fact.matches.push(readMatch(value));
  else if (field === fields.requestId) fact.requestId = decoder.decode(value);
  else if (field === fields.siteId) fact.siteId = decoder.decode(value);
  else if (field === fields.clientIp) fact.clientIp = decoder.decode(value);
  else if (field === fields.method) fact.method = decoder.decode(value);
  else if (field === fields.host) fact.host = decoder.decode(value);
  else if (field === fields.target) fact.target = decoder.decode(value);
  else if (field === fields.outcome) fact.outcome = decoder.decode(value);
  else if (field === fields.refusal) fact.refusal = decoder.decode(value);
  else if (field === fields.guards) fact.guards++;
}

function readMatch(bytes: Uint8Array): IndexedMatch {
  const match: IndexedMatch = { ruleId: 0, message: '', severity: 0, tags: [] };
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === matchFields.ruleId && type === WireType.Varint) match.ruleId = reader.uint32();
    else if (field === matchFields.severity && type === WireType.Varint) {
      match.severity = reader.int32();
    } else if (field === matchFields.message && type === WireType.LengthDelimited) {
      match.message = ruleText(reader.bytes());
    } else if (field === matchFields.tags && type === WireType.LengthDelimited) {
      match.tags.push(ruleText(reader.bytes()));
    } else reader.skip(type, field);
  }
  return match;
}

/** Texts of rules are short: a decoder, which takes a byte order mark away, costs more to call. */
function ruleText(bytes: Uint8Array): string {
  if (bytes[0] === 0xef) return decoder.decode(bytes);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
