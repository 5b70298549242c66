/** UpstreamService/ListUpstreamHealth: what nodes reported of the endpoints of pools. */

import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { UpstreamService } from '../../../proto/gen/waf/v1/upstream_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { agentsOf, localNodeId } from '../agent-service/known-nodes.ts';
import { callerOf, type Uses } from '../context.ts';
import type { Method } from '../method.ts';
import { ownedBy } from '../resource/owned.ts';
import { upstreamKind } from './upstream.ts';
import { staleAfterMs } from './unhealthy-origins.ts';

const idsMax = 200;

/**
 * One state for each endpoint on each node. What no node reported, or nobody for a while, is
 * unknown.
 */
export function listUpstreamHealth(
  parts: Uses<'store' | 'clock' | 'nodes'>,
): Method<typeof UpstreamService, 'listUpstreamHealth'> {
  return ({ upstreamIds }, context) => {
    if (upstreamIds.length > idsMax) {
      throw invalidField('upstreamIds', `has at most ${idsMax} entries`);
    }
    const caller = callerOf(context);
    const wanted = new Set(upstreamIds);
    const pools = ownedBy(parts.store, caller, upstreamKind).filter(
      (pool) => wanted.size === 0 || wanted.has(pool.id),
    );
    const nodeIds = [localNodeId, ...agentsOf(parts.store, caller).map(({ id }) => id)];
    const items = nodeIds.flatMap((nodeId) => {
      const reported = reportsOf(parts, nodeId);
      return pools.flatMap((pool) =>
        (pool.endpoints ?? []).map(({ url = '' }) => {
          const report = reported.get(`${pool.id} ${originOf(url)}`);
          return report
            ? { ...report, endpointUrl: url }
            : { nodeId, upstreamId: pool.id, endpointUrl: url, status: 'unknown' };
        }),
      );
    });
    return { items, expectedNodeIds: nodeIds };
  };
}

/** Scheme, host and port in one spelling; what is no URL stays as it is. */
function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

/** Reports of a node by pool and endpoint; stale ones say unknown. */
function reportsOf(parts: Uses<'clock' | 'nodes'>, nodeId: string) {
  const node = parts.nodes.get(nodeId);
  const nowMs = parts.clock.nowMs();
  return new Map(
    (node?.upstreamHealth ?? []).map((report) => {
      const atMs = report.reportedAt === undefined ? 0 : timestampMs(report.reportedAt);
      const fresh = node?.connected === true && nowMs - atMs <= staleAfterMs;
      const key = `${report.upstreamId} ${originOf(report.endpointUrl)}`;
      return [key, { ...report, nodeId, status: fresh ? report.status : 'unknown' }] as const;
    }),
  );
}
