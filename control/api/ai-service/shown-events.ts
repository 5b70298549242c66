/** Which parts of an event a model gets: those that the rules saw, never evidence. */

import type {
  AccessEventJson,
  ErrorEventJson,
  SecurityEventJson,
} from '../../../proto/gen/waf/v1/log_pb.ts';

/** A security event without what a model does not need. */
export function shownSecurityEvent(event: SecurityEventJson) {
  const { occurredAt, clientIp, method, host, path, status, blocked, anomalyScore } = event;
  return {
    ...{ occurredAt, clientIp, method, host, path, status, blocked, anomalyScore },
    attackTypes: event.attackTypes,
    messages: event.messages?.map((one) => ({
      ...{ ruleId: one.ruleId, severity: one.severity, message: one.message },
      ...{ variable: one.matchVariable, name: one.matchKey, matched: one.matchedText },
      ...{ data: one.matchData, score: one.scoreContribution, phase: one.phase },
    })),
  };
}

/** An access event likewise. */
export function shownAccessEvent(event: AccessEventJson) {
  const { occurredAt, clientIp, method, host, path, status, durationMs, userAgent } = event;
  return { occurredAt, clientIp, method, host, path, status, durationMs, userAgent };
}

/** An error event likewise. */
export function shownErrorEvent({ raw: _raw, ...event }: ErrorEventJson & { raw?: unknown }) {
  return event;
}
