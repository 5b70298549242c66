/** Owns which methods of UpstreamService are built. */

import type { UpstreamService } from '../../../proto/gen/waf/v1/upstream_pb.ts';
import type { ApiParts } from '../context.ts';
import type { Built } from '../method.ts';
import { getUpstream, listUpstreamHealth, listUpstreams } from './read-upstreams.ts';
import { createUpstream, deleteUpstream, updateUpstream } from './write-upstreams.ts';

/** UpstreamService. */
export function upstreamService(parts: ApiParts): Built<typeof UpstreamService> {
  return {
    listUpstreams: listUpstreams(parts),
    getUpstream: getUpstream(parts),
    createUpstream: createUpstream(parts),
    updateUpstream: updateUpstream(parts),
    deleteUpstream: deleteUpstream(parts),
    listUpstreamHealth: listUpstreamHealth(parts),
  };
}
