/** Owns UpstreamService/ListUpstreams, GetUpstream and ListUpstreamHealth. */

import { UpstreamSchema, type UpstreamService } from '../../../proto/gen/waf/v1/upstream_pb.ts';
import { invalidField } from '../../domain/errors.ts';
import { upstreams } from '../../store/collections.ts';
import { callerOf, type ApiParts } from '../context.ts';
import { fitsQuery, pageOf, toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { storedUpstream } from './stored-upstream.ts';

const idsMax = 200;

/** Pools of the caller's tenant, by name. */
export function listUpstreams(parts: ApiParts): Method<typeof UpstreamService, 'listUpstreams'> {
  return (request, context) => {
    const { tenantId } = callerOf(context);
    const found = parts.store
      .list(upstreams)
      .filter((pool) => pool.tenantId === tenantId && fitsQuery(request.query, pool.name))
      .sort((left, right) => left.name.localeCompare(right.name, 'en'));
    const { items, page } = pageOf(found, request.page);
    return { items: items.map((pool) => toMessage(UpstreamSchema, pool)), page };
  };
}

/** One pool. */
export function getUpstream(parts: ApiParts): Method<typeof UpstreamService, 'getUpstream'> {
  return (request, context) => {
    const pool = storedUpstream(parts.store, callerOf(context), request.id, 'id');
    return { upstream: toMessage(UpstreamSchema, pool) };
  };
}

/** What nodes report; a node that has reported nothing is expected and has no items. */
export function listUpstreamHealth(
  parts: ApiParts,
): Method<typeof UpstreamService, 'listUpstreamHealth'> {
  return ({ upstreamIds }) => {
    if (upstreamIds.length > idsMax) {
      throw invalidField('upstreamIds', `has at most ${idsMax} entries`);
    }
    const wanted = new Set(upstreamIds);
    const items = parts.nodes
      .list()
      .flatMap((node) => node.upstreamHealth)
      .filter(({ upstreamId }) => wanted.size === 0 || wanted.has(upstreamId));
    return { items, expectedNodeIds: ['local'] };
  };
}
