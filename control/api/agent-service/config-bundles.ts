/** AgentService/ListConfigBundles and GetConfigBundle. */

import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { AgentService } from '../../../proto/gen/waf/v1/agent_pb.ts';
import { invalidField, notFound } from '../../domain/errors.ts';
import {
  pageOfPublications,
  publicationRow,
  publishedIndex,
} from '../../publish/publication-log.ts';
import type { PublicationRecord } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import { placeOfPage, requireText } from '../convert.ts';
import type { Method } from '../method.ts';
import { localNodeId, requireNode } from './known-nodes.ts';

const idPattern = /^config-([1-9]\d{0,11})$/;

/** Configurations that were published and what became of them on a node, newest first. */
export function listConfigBundles(
  parts: Uses<'store' | 'nodes'>,
): Method<typeof AgentService, 'listConfigBundles'> {
  return ({ nodeId, page: asked }, context) => {
    const caller = callerOf(context);
    const id = nodeId === '' ? localNodeId : nodeId;
    requireNode(parts, caller, id, 'nodeId');
    const { start, page } = placeOfPage(asked);
    const { rows, total } = pageOfPublications(parts.store, start, page.pageSize);
    const items = rows.map((row) => summaryOf(row, caller.tenantId, id));
    return { items, page: { ...page, total: BigInt(total) } };
  };
}

/** One configuration with its signed index; the content of long past ones is not kept. */
export function getConfigBundle(
  parts: Uses<'store'>,
): Method<typeof AgentService, 'getConfigBundle'> {
  return ({ id }, context) => {
    const { tenantId } = callerOf(context);
    const revision = idPattern.exec(requireText(id, 'id'))?.[1];
    if (revision === undefined && !id.startsWith('config-')) {
      throw invalidField('id', 'must be an id from ListConfigBundles, such as config-12');
    }
    const row = revision === undefined ? undefined : publicationRow(parts.store, revision);
    if (row === undefined) throw notFound('configuration', id);
    const signed = publishedIndex(parts.store, row.revision);
    const content =
      signed === undefined ? {} : { bundle: signed.bundle, signature: signed.signature };
    return { bundle: { ...summaryOf(row, tenantId, localNodeId), ...content } };
  };
}

function summaryOf(row: PublicationRecord, tenantId: string, nodeId: string) {
  const delivery = row.nodes?.[nodeId];
  const at = (name: string, time: string | undefined): object =>
    time === undefined || time === '' ? {} : { [name]: timestampFromDate(new Date(time)) };
  return {
    id: `config-${row.revision}`,
    tenantId,
    agentId: nodeId,
    revision: BigInt(row.revision),
    bundleSha256: row.sha256,
    emittedAt: timestampFromDate(new Date(row.createdAt)),
    applyResult: delivery?.result ?? 'unknown',
    applyError: delivery?.error || (row.heldNote ?? ''),
    ...at('deliveredAt', delivery?.deliveredAt),
    ...at('appliedAt', delivery?.appliedAt),
  };
}
