/** SystemService/GetObservationPipelineStats: what became of observations since the start. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import { laneStats, type LaneStats } from '../../observe/lane-stats.ts';
import type { TargetStats } from '../../export/siem-exports.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';

/** Batches by lane, and what nodes counted of the tenant's traffic since the store began. */
export function getObservationPipelineStats(
  parts: Uses<'clock' | 'counters' | 'pipeline' | 'siem' | 'nodes'>,
): Method<typeof SystemService, 'getObservationPipelineStats'> {
  return (_request, context) => {
    const { tenantId } = callerOf(context);
    const nowMs = parts.clock.nowMs();
    const startedMs = Math.round(nowMs - process.uptime() * 1000);
    const lanes = laneStats(parts.pipeline);
    const traffic = parts.counters.list().filter((one) => one.tenantId === tenantId);
    const sum = (values: readonly number[]): bigint =>
      BigInt(values.reduce((total, value) => total + value, 0));
    const loads = parts.nodes.list().filter(({ connected }) => connected);
    return {
      stats: {
        lanes: [...lanes.map(showLane), ...parts.siem.stats().map(showTarget)],
        invalidEnvelopes: sum(lanes.map(({ invalid }) => invalid)),
        dataPlaneRequests: sum(traffic.map(({ requests }) => requests)),
        dataPlaneBlocked: sum(traffic.map(({ entries }) => entries['outcome']?.['blocked'] ?? 0)),
        activeConnections: loads.reduce(
          (total, { load }) => total + (load?.metrics.activeConnections ?? 0n),
          0n,
        ),
        available: true,
        epoch: String(startedMs),
        siemDeliveryLosses: BigInt(parts.siem.losses()),
        startedAt: timestampFromMs(startedMs),
        observedAt: timestampFromMs(nowMs),
      },
    };
  };
}

/** What every lane shows. */
type ShownLane = Omit<LaneStats, 'name' | 'invalid'> & { readonly name: string };

/** A SIEM target as a lane: its counts are of messages, not of batches. */
function showTarget(target: TargetStats) {
  const { attempted, admitted, written, dropped, retried } = target;
  const fields = { attempted, admitted, written, dropped, retried };
  const { lastSuccessMs, lastErrorMs, lastError } = target;
  return {
    ...showLane({
      ...{ name: `siem:${target.id}`, displayName: `SIEM target ${target.id}` },
      ...{ fields, lastSuccessMs, lastErrorMs, lastError },
    }),
    pendingItems: BigInt(target.pendingItems),
    pendingBytes: BigInt(target.pendingBytes),
    byteCapacity: BigInt(target.byteCapacity),
  };
}

function showLane({ name, displayName, fields, ...times }: ShownLane) {
  const { attempted, admitted, written, dropped, retried } = fields;
  const { lastSuccessMs, lastErrorMs, lastError } = times;
  return {
    name,
    displayName,
    attempted: BigInt(attempted),
    admitted: BigInt(admitted),
    written: BigInt(written),
    dropped: BigInt(dropped),
    retried: BigInt(retried),
    state: lastError === '' ? 'ready' : 'unavailable',
    lastError,
    ...(lastSuccessMs === 0 ? {} : { lastSuccessAt: timestampFromMs(lastSuccessMs) }),
    ...(lastErrorMs === 0 ? {} : { lastErrorAt: timestampFromMs(lastErrorMs) }),
  };
}
