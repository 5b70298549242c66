/** Owns SystemService/GetObservationPipelineStats: what became of observations since the start. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import type { LaneField, ObservationLane } from '../../observe/pipeline.ts';
import { callerOf, type ApiParts } from '../context.ts';
import type { Method } from '../method.ts';

const lanes: readonly (readonly [ObservationLane, string])[] = [
  ['security_fact', 'Security events'],
  ['metric', 'Exact counts'],
  ['other', 'Streams that are not understood'],
];

/** Batches by lane, and what nodes counted of the tenant's traffic since the store began. */
export function getObservationPipelineStats(
  parts: ApiParts,
): Method<typeof SystemService, 'getObservationPipelineStats'> {
  return (_request, context) => {
    const { tenantId } = callerOf(context);
    const nowMs = parts.clock.nowMs();
    const startedMs = Math.round(nowMs - process.uptime() * 1000);
    const counts = new Map(
      parts.pipeline.list().map(({ lane, field, count }) => [`${lane} ${field}`, count]),
    );
    const of = (lane: ObservationLane, field: LaneField): bigint =>
      BigInt(counts.get(`${lane} ${field}`) ?? 0);
    const traffic = parts.counters.list().filter((one) => one.tenantId === tenantId);
    const sum = (values: readonly number[]): bigint =>
      BigInt(values.reduce((total, value) => total + value, 0));
    const damaged = lanes.reduce((total, [lane]) => total + of(lane, 'batches_damaged'), 0n);
    const unknown = lanes.reduce((total, [lane]) => total + of(lane, 'batches_not_understood'), 0n);
    return {
      stats: {
        lanes: lanes.map(([lane, displayName]) => showLane(lane, displayName, of)),
        invalidEnvelopes: damaged + unknown,
        dataPlaneRequests: sum(traffic.map(({ requests }) => requests)),
        dataPlaneBlocked: sum(traffic.map(({ entries }) => entries['outcome']?.['blocked'] ?? 0)),
        available: true,
        epoch: String(startedMs),
        startedAt: timestampFromMs(startedMs),
        observedAt: timestampFromMs(nowMs),
      },
    };
  };
}

/** One lane, in batches; what a node gave up is counted in items. */
function showLane(
  name: ObservationLane,
  displayName: string,
  of: (lane: ObservationLane, field: LaneField) => bigint,
) {
  const written = of(name, 'batches_stored');
  const repeated = of(name, 'batches_repeated');
  const refused = of(name, 'batches_damaged') + of(name, 'batches_not_understood');
  const failed = of(name, 'batches_failed');
  return {
    name,
    displayName,
    attempted: written + repeated + refused + failed,
    admitted: written + repeated + failed,
    written,
    retried: failed,
    dropped: of(name, 'items_lost') + refused,
    state: 'ready',
  };
}
