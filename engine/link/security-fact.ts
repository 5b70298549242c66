/** Owns which finished requests travel to control as security facts, and in which form. */

import { create } from '@bufbuild/protobuf';
import {
  SecurityMatchSchema,
  type SecurityMatch,
} from '../../proto/gen/waf/runtime/v1/engine_pb.ts';
import {
  SecurityFactSchema,
  type SecurityFact,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { decodeUtf8, fromByteString } from '../base/byte-string.ts';
import { linkLimits } from '../base/limits.ts';
import type { RequestEvent } from '../contract/events.ts';
import type { MatchedRule } from '../contract/verdict.ts';

/** The fact of a request that a rule matched, or that was refused; null for every other one. */
export function toSecurityFact(event: RequestEvent): SecurityFact | null {
  const record = event.transaction;
  const logged = record === null ? [] : record.matchedRules.filter((rule) => rule.log);
  const refused = event.outcome === 'refused' || event.outcome === 'inspection_failed';
  const failed = record?.failure !== undefined;
  if (logged.length === 0 && !event.blocked && !refused && !failed) return null;
  const kept = logged.slice(0, linkLimits.matchesMax);
  return create(SecurityFactSchema, {
    requestId: event.requestId,
    siteId: event.siteId,
    receivedAtMs: BigInt(event.receivedAtMs),
    durationUs: BigInt(Math.max(0, Math.round(event.durationUs))),
    clientIp: event.clientIp,
    method: fromByteString(event.method),
    host: fromByteString(event.host),
    target: fromByteString(event.target),
    httpVersion: event.httpVersion,
    userAgent: fromByteString(event.userAgent),
    status: event.status,
    blocked: event.blocked,
    outcome: event.outcome,
    refusal: event.refusal ?? '',
    inboundScore: record?.inboundScore ?? 0,
    outboundScore: record?.outboundScore ?? 0,
    detectionOnly: record?.detectionOnly ?? false,
    inspectionUs: BigInt(Math.max(0, Math.round(record?.inspectionUs ?? 0))),
    matches: kept.map(toSecurityMatch),
    matchesDropped: logged.length - kept.length + (record?.matchesLeftOut ?? 0),
    failure: record?.failure ?? '',
  });
}

/** About what a fact weighs as it travels, in bytes; it costs no encoding. */
export function weightOf({ target, userAgent, matches }: SecurityFact): number {
  let bytes = 256 + target.length + userAgent.length;
  for (const { message, data, operator, tags, matched, file } of matches) {
    bytes += 32 + message.length + data.length + operator.length + file.length;
    for (const tag of tags) bytes += 2 + tag.length;
    for (const { name, value } of matched) bytes += 4 + name.length + value.length;
  }
  return bytes;
}

/** One matched rule as it travels; long values are cut and marked. */
export function toSecurityMatch(rule: MatchedRule): SecurityMatch {
  const variables = rule.matched.slice(0, linkLimits.matchedVariablesMax);
  const bytesMax = linkLimits.matchedValueBytesMax;
  return create(SecurityMatchSchema, {
    ruleId: rule.ruleId,
    phase: rule.phase,
    message: decodeUtf8(rule.message),
    data: decodeUtf8(rule.data.slice(0, bytesMax)),
    severity: rule.severity,
    tags: [...rule.tags],
    operator: decodeUtf8(rule.operator.slice(0, bytesMax)),
    matched: variables.map(({ name, value }) => ({
      name: fromByteString(name.slice(0, bytesMax)),
      value: fromByteString(value.slice(0, bytesMax)),
    })),
    disruptive: rule.disruptive,
    file: rule.file,
    line: rule.line,
    truncated:
      variables.length < rule.matched.length ||
      variables.some(({ value }) => value.length > bytesMax),
  });
}
