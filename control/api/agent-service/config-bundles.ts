/** Owns AgentService/ListConfigBundles. */

import { timestampFromDate, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { AgentService } from '../../../proto/gen/waf/v1/agent_pb.ts';
import { notFound } from '../../domain/errors.ts';
import { publications } from '../../store/collections.ts';
import { callerOf, type ApiParts } from '../context.ts';
import { pageOf } from '../convert.ts';
import type { Method } from '../method.ts';

/** Configurations that were published, newest first; the outcome is known of the latest only. */
export function listConfigBundles(
  parts: ApiParts,
): Method<typeof AgentService, 'listConfigBundles'> {
  return ({ nodeId, page: asked }, context) => {
    const { tenantId } = callerOf(context);
    if (nodeId !== '' && nodeId !== 'local') throw notFound('node');
    const apply = parts.nodes.get('local')?.apply ?? null;
    const { items, page } = pageOf(parts.store.list(publications).toReversed(), asked);
    return {
      items: items.map((one) => {
        const mine = apply?.sha256 === one.sha256;
        const appliedAt = mine && apply.success ? { appliedAt: timestampFromMs(apply.atMs) } : {};
        return {
          id: `config-${one.revision}`,
          tenantId,
          agentId: 'local',
          revision: BigInt(one.revision),
          bundleSha256: one.sha256,
          emittedAt: timestampFromDate(new Date(one.createdAt)),
          applyResult: mine ? (apply.success ? 'success' : 'failure') : 'unknown',
          applyError: mine ? apply.error : '',
          ...appliedAt,
        };
      }),
      page,
    };
  };
}
