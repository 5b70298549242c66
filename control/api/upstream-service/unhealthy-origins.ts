/** Finds the origins that a node reports as failing, of pools and of sites alike. */

import type { HandlerContext } from '@connectrpc/connect';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Caller } from '../../auth/permissions.ts';
import { sites, upstreams } from '../../store/collections.ts';
import { agentsOf, localNodeId } from '../agent-service/known-nodes.ts';
import { callerOf, type Uses } from '../context.ts';
import { ours } from '../resource/owned.ts';

/** Nodes report every 15 seconds; three missed reports say nothing any more. */
export const staleAfterMs = 45_000;

/** One line for each origin that fails on a node of the caller's tenant: where, whose, and why. */
export function unhealthyOrigins(
  parts: Uses<'store' | 'clock' | 'nodes'>,
  context: HandlerContext,
): string[] {
  const caller = callerOf(context);
  const nowMs = parts.clock.nowMs();
  const lines: string[] = [];
  for (const nodeId of [localNodeId, ...agentsOf(parts.store, caller).map(({ id }) => id)]) {
    const node = parts.nodes.get(nodeId);
    if (node?.connected !== true) continue;
    for (const { status, upstreamId, endpointUrl, reportedAt, lastError } of node.upstreamHealth) {
      const atMs = reportedAt === undefined ? 0 : timestampMs(reportedAt);
      if (status !== 'unhealthy' || nowMs - atMs > staleAfterMs) continue;
      const owner = ownerOf(parts, caller, upstreamId);
      if (owner === null) continue;
      const where = nodeId === localNodeId ? '' : ` on node ${nodeId}`;
      lines.push(`${endpointUrl} of ${owner}${where}: ${lastError || 'its probe fails'}`);
    }
  }
  return lines.sort();
}

/** The pool or site that has the endpoint; null for one of another tenant, or one that is gone. */
function ownerOf({ store }: Uses<'store'>, caller: Caller, upstreamId: string): string | null {
  const pool = store.get(upstreams, upstreamId);
  if (pool !== undefined) return ours(pool, caller) === undefined ? null : `pool ${pool.name}`;
  const site = upstreamId.startsWith('site-')
    ? store.get(sites, upstreamId.slice('site-'.length))
    : undefined;
  const own = ours(site, caller);
  return own === undefined ? null : `site ${own.name}`;
}
