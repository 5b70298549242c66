/** Which finished requests travel to control as security facts, and in which form. */

import { create, toBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import {
  SecurityMatchSchema,
  type SecurityMatch,
} from '../../proto/gen/waf/runtime/v1/engine_pb.ts';
import {
  SecurityFactBatchSchema,
  SecurityFactSchema,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { decodeUtf8, fromByteString } from '../../base/byte-string.ts';
import { linkLimits } from '../base/observation-limits.ts';
import type { EventSelection } from '../contract/logging.ts';
import type { RequestEvent } from '../contract/events.ts';
import { isIncomplete, type MatchedRule } from '../contract/verdict.ts';

/** A fact in its encoded form: a `SecurityFact`. */
export interface EncodedFact {
  readonly receivedAtMs: number;
  readonly bytes: Uint8Array;
}

/** What a fact says of the log policy's choice. */
export function selectionFields(
  selection: EventSelection | undefined,
  reasons: readonly string[],
): {
  captureReasons: string[];
  sampleWindowMs: bigint;
  reservoirScore: bigint;
  policyRevision: bigint;
} {
  const { windowMs = 0, score = 0, revision = 0 } = selection ?? {};
  return {
    captureReasons: [...reasons],
    sampleWindowMs: BigInt(windowMs),
    reservoirScore: BigInt(Math.floor(score)),
    policyRevision: BigInt(revision),
  };
}

/** The trace that a request is in; nothing where its spans are not sent. */
export function traceFields({ trace }: RequestEvent): {
  traceId?: Uint8Array<ArrayBuffer>;
  spanId?: Uint8Array<ArrayBuffer>;
} {
  return trace === undefined
    ? {}
    : { traceId: fromHex(trace.traceId), spanId: fromHex(trace.spanId) };
}

/** Bytes of hexadecimal digits. */
export function fromHex(digits: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(digits, 'hex'));
}

/** Some fields of a match. */
type MatchParts = Exclude<MessageInitShape<typeof SecurityMatchSchema>, SecurityMatch>;

/**
 * The fact of a request that a rule or a guard matched, or that was refused; null for every other
 * one. Cost: the texts of a rule are encoded once, not with every request that it matches.
 */
export function encodeFact(event: RequestEvent): EncodedFact | null {
  const record = event.transaction;
  const logged = record === null ? [] : record.matchedRules.filter((rule) => rule.log);
  const refused = event.outcome === 'refused' || event.outcome === 'inspection_failed';
  const failed = record !== null && isIncomplete(record);
  const { guards = [] } = event;
  if (logged.length === 0 && guards.length === 0 && !event.blocked && !refused && !failed) {
    return null;
  }
  const kept = logged.slice(0, linkLimits.matchesMax);
  const detail = event.selection?.securityDetail ?? true;
  const fact = create(SecurityFactSchema, {
    requestId: event.requestId,
    siteId: event.siteId,
    receivedAtMs: BigInt(event.receivedAtMs),
    durationUs: BigInt(Math.max(0, Math.round(event.durationUs))),
    clientIp: event.clientIp,
    method: fromByteString(event.method),
    host: fromByteString(event.host),
    target: fromByteString(event.target),
    httpVersion: event.httpVersion,
    transportVersion: event.tls?.version ?? '',
    ja4: event.tls?.ja4 ?? '',
    clientPort: event.clientPort,
    userAgent: fromByteString(event.userAgent),
    referer: fromByteString(event.referer ?? ''),
    status: event.status,
    blocked: event.blocked,
    outcome: event.outcome,
    refusal: event.refusal ?? '',
    inboundScore: record?.inboundScore ?? 0,
    outboundScore: record?.outboundScore ?? 0,
    detectionOnly: record?.detectionOnly ?? false,
    inspectionUs: BigInt(Math.max(0, Math.round(record?.inspectionUs ?? 0))),
    matchesDropped: logged.length - kept.length + (record?.matchesLeftOut ?? 0),
    failure: record?.failure ?? '',
    pcreLimitedRules: [...(record?.pcreLimitedRules ?? [])],
    limitsReached: [...(record?.limitsReached ?? [])],
    uninspectedBytes: BigInt(record?.uninspectedBytes ?? 0),
    endpoint: event.endpoint ?? '',
    guards: guards.map((note) => ({
      ...note,
      skipped: [...note.skipped],
      detail: fromByteString(note.detail),
    })),
    compact: !detail,
    ...selectionFields(event.selection, detail ? ['all'] : []),
    ...traceFields(event),
  });
  const parts: Uint8Array[] = [toBinary(SecurityFactSchema, fact)];
  for (const rule of kept) {
    const texts = encodedTexts(rule);
    const { disruptive, score = 0, bodyOffset = 0 } = rule;
    const found = detail ? findingsOf(rule) : { disruptive, score, bodyOffset: BigInt(bodyOffset) };
    const findings = toBinary(SecurityMatchSchema, create(SecurityMatchSchema, found));
    parts.push(frameOf(matchesField, texts.length + findings.length), texts, findings);
  }
  return { receivedAtMs: event.receivedAtMs, bytes: Buffer.concat(parts) };
}

/** A `SecurityFactBatch` of encoded facts. */
export function encodeFactBatch(facts: readonly EncodedFact[]): Uint8Array {
  return Buffer.concat(facts.flatMap(({ bytes }) => [frameOf(factsField, bytes.length), bytes]));
}

const matchesField = SecurityFactSchema.field.matches.number;
const factsField = SecurityFactBatchSchema.field.facts.number;

/** What stands before a message of `length` bytes within another. */
function frameOf(field: number, length: number): Uint8Array {
  return new BinaryWriter().tag(field, WireType.LengthDelimited).uint32(length).finish();
}

/** Encoded texts of rules, by themselves. */
const textsByRule = new Map<string, Uint8Array>();

/** What a rule brings, encoded: the first part of its match, since parts of a message add up. */
function encodedTexts(rule: MatchedRule): Uint8Array {
  const { ruleId, phase, message, severity, tags, operator, file, line, rev, ver } = rule;
  const about = [rev, ver, rule.maturity, rule.accuracy];
  const key = JSON.stringify([ruleId, phase, message, severity, tags, operator, file, line, about]);
  const known = textsByRule.get(key);
  if (known !== undefined) return known;
  // Macros may make ever new texts of one rule.
  if (textsByRule.size >= linkLimits.ruleTextsMax) textsByRule.clear();
  const bytes = toBinary(SecurityMatchSchema, create(SecurityMatchSchema, textsOf(rule)));
  if (key.length <= linkLimits.ruleTextBytesMax) textsByRule.set(key, bytes);
  return bytes;
}

/** One matched rule as it travels; long values are cut and marked. */
export function toSecurityMatch(rule: MatchedRule): SecurityMatch {
  return create(SecurityMatchSchema, { ...textsOf(rule), ...findingsOf(rule) });
}

function textsOf(rule: MatchedRule): MatchParts {
  return {
    ruleId: rule.ruleId,
    phase: rule.phase,
    message: decodeUtf8(rule.message),
    severity: rule.severity,
    tags: [...rule.tags],
    operator: decodeUtf8(rule.operator.slice(0, linkLimits.matchedValueBytesMax)),
    file: rule.file,
    line: rule.line,
    rev: rule.rev,
    ver: rule.ver,
    maturity: rule.maturity,
    accuracy: rule.accuracy,
  };
}

function findingsOf(rule: MatchedRule): MatchParts {
  const variables = rule.matched.slice(0, linkLimits.matchedVariablesMax);
  const bytesMax = linkLimits.matchedValueBytesMax;
  return {
    data: decodeUtf8(rule.data.slice(0, bytesMax)),
    matched: variables.map(({ name, value }) => ({
      name: fromByteString(name.slice(0, bytesMax)),
      value: fromByteString(value.slice(0, bytesMax)),
    })),
    disruptive: rule.disruptive,
    score: rule.score ?? 0,
    bodyOffset: BigInt(rule.bodyOffset ?? 0),
    truncated:
      variables.length < rule.matched.length ||
      variables.some(({ value }) => value.length > bytesMax),
  };
}
