/** How a fact of a failure, a refusal or a fault becomes an error event. Pure. */

import { fromBinary } from '@bufbuild/protobuf';
import { ErrorFactSchema, type ErrorFact } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import type { ErrorEventJson } from '../../proto/gen/waf/v1/log_pb.ts';
import { errorFactVersion } from '../../base/protocol-versions.ts';
import { traceIdOf, withoutDefaults } from './event-json.ts';
import type { EventIdentity, EventKind } from './events/event-kind.ts';

const decoder = new TextDecoder();

/** Error events: failures of origins, refusals of requests, faults of our own. */
export const errorKind: EventKind<ErrorEventJson> = {
  schemaVersion: errorFactVersion,
  timeField: ErrorFactSchema.field.atMs.number,
  fields: ['request', 'site', 'agent', 'level', 'logger'],
  ranked: ['site', 'level', 'logger'],
  toEvent: (fact, identity) => toErrorEvent(fromBinary(ErrorFactSchema, fact), identity),
  termsOf: ({ uniqueId = '', siteId = '', agentId = '', level = '', logger = '' }) => ({
    request: uniqueId === '' ? [] : [uniqueId],
    site: siteId === '' ? [] : [siteId],
    agent: [agentId],
    level: [level],
    logger: [logger],
  }),
};

/** The event of a fact, in JSON form. All of them are kept: no policy selects among them. */
export function toErrorEvent(fact: ErrorFact, identity: EventIdentity): ErrorEventJson {
  const { id, tenantId, agentId } = identity;
  return withoutDefaults<ErrorEventJson>({
    id,
    uniqueId: fact.requestId,
    tenantId,
    siteId: fact.siteId,
    agentId,
    occurredAt: new Date(Number(fact.atMs)).toISOString(),
    level: fact.level,
    logger: fact.logger,
    message: fact.message,
    raw: {
      reason: fact.reason,
      endpoint: fact.endpoint,
      clientIp: fact.clientIp,
      method: decoder.decode(fact.method),
      host: decoder.decode(fact.host),
      target: decoder.decode(fact.target),
      status: fact.status,
      durationUs: Number(fact.durationUs),
      ...traceIdOf(fact.traceId),
    },
    detailSelection: {
      retentionTier: 'DETAIL_RETENTION_TIER_FULL',
      captureReasons: ['all'],
      featureCount: 1,
    },
  });
}
