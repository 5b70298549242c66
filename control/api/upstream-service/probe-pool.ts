/** Asks the endpoints of a pool once, on the built-in node, and shows what that found. */

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { toAppError } from '../../../base/errors.ts';
import type { ProbedEndpoint } from '../../../proto/gen/waf/runtime/v1/engine_pb.ts';
import type { UpstreamRecord } from '../../domain/records.ts';
import { poolUpstream, toBundleUpstream } from '../../publish/build-bundle.ts';
import { localNodeId } from '../agent-service/known-nodes.ts';
import type { Uses } from '../context.ts';

/**
 * One state for each endpoint. A pool is kept whatever they say: an origin may come later. Never
 * throws; without an engine they are unknown, with the reason.
 */
export async function probePool(parts: Uses<'clock' | 'engine'>, pool: UpstreamRecord) {
  const endpoints = pool.endpoints ?? [];
  let found: readonly ProbedEndpoint[] = [];
  let problem = '';
  try {
    found = (await parts.engine.probe(poolUpstream(toBundleUpstream(pool)))).endpoints;
  } catch (error) {
    problem = `it was not probed: ${toAppError(error).message}`;
  }
  const reportedAt = timestampFromMs(parts.clock.nowMs());
  return endpoints.map(({ url = '' }, at) => {
    const one = found[at];
    const status = one === undefined ? 'unknown' : one.healthy ? 'healthy' : 'unhealthy';
    return {
      nodeId: localNodeId,
      upstreamId: pool.id,
      endpointUrl: url,
      address: one?.address ?? '',
      status,
      reportedAt,
      lastError: one?.error ?? problem,
    };
  });
}
