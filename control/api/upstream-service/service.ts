/** UpstreamService. A pool that is created or changed is probed once; the answer shows it. */

import type { UpstreamService } from '../../../proto/gen/waf/v1/upstream_pb.ts';
import type { Uses } from '../context.ts';
import type { Built } from '../method.ts';
import { serve } from '../resource/serve.ts';
import { listUpstreamHealth } from './list-upstream-health.ts';
import { probePool } from './probe-pool.ts';
import { upstreamKind } from './upstream.ts';

/** UpstreamService. */
export function upstreamService(
  parts: Uses<'store' | 'clock' | 'engine' | 'nodes'>,
): Built<typeof UpstreamService> {
  const { show, asked, list, get, create, update, remove } = serve(parts, upstreamKind);
  return {
    listUpstreams: list,
    getUpstream: (request, context) => ({ upstream: get(request, context) }),
    createUpstream: async ({ upstream }, context) => {
      const stored = await create(asked(upstream), context);
      return { upstream: show(stored), probes: await probePool(parts, stored) };
    },
    updateUpstream: async (request, context) => {
      const stored = await update(asked(request.upstream), request, context);
      const active = stored.status !== 'RESOURCE_STATUS_DISABLED';
      return { upstream: show(stored), probes: active ? await probePool(parts, stored) : [] };
    },
    deleteUpstream: remove,
    listUpstreamHealth: listUpstreamHealth(parts),
  };
}
