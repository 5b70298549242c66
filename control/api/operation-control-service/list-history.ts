/** OperationControlService/ListOperationControlHistory: intents of a site, the newest first. */

import {
  ListOperationControlHistoryResponseSchema,
  type OperationControlHistoryItemJson,
  type OperationControlService,
} from '../../../proto/gen/waf/v1/operation_control_pb.ts';
import type { OperationIntentRecord } from '../../domain/documents/operation-control.ts';
import { apiDocumentLimits } from '../../limits/api-document-limits.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { attemptOf, servedInPart, supersededBy } from './attempts.ts';
import { intentsBefore, publicationsOf } from './intents.ts';

/** A page of at most 50 intents. */
export function listOperationControlHistory(
  parts: Uses<'store' | 'nodes'>,
): Method<typeof OperationControlService, 'listOperationControlHistory'> {
  return ({ siteId, beforeRevision }, context) => {
    const { store } = parts;
    const site = storedSite(store, callerOf(context), siteId, 'siteId');
    const limit = apiDocumentLimits.historyPage;
    const found = intentsBefore(store, site.id, Number(beforeRevision), limit + 1);
    const page = found.slice(0, limit);
    const more = found.length > limit;
    return toMessage(ListOperationControlHistoryResponseSchema, {
      items: page.map((intent) => itemOf(parts, intent)),
      nextBeforeRevision: String(more ? page.at(-1)!.controlRevision : 0),
    });
  };
}

function itemOf(
  { store, nodes }: Uses<'store' | 'nodes'>,
  intent: OperationIntentRecord,
): OperationControlHistoryItemJson {
  const inPart = servedInPart(nodes, intent.siteId);
  const attempts = publicationsOf(store, intent.id).map((one) =>
    attemptOf(one, intent, supersededBy(store), inPart),
  );
  const [latest] = attempts;
  const activated = attempts.find(({ status }) => status === 'applied');
  const appliedAt = (activated?.targets ?? []).map((target) => target.appliedAt ?? '').sort();
  return {
    intentId: intent.id,
    controlRevision: String(intent.controlRevision),
    snapshotSha256: intent.snapshotSha256,
    reason: intent.reason,
    createdAt: intent.createdAt,
    supersededByIntentId: intent.supersededByIntentId,
    domain: intent.domain,
    contractId: intent.controls.schema?.contractId ?? '',
    latestConfigRevisionId: latest?.configRevisionId ?? '',
    latestStatus: latest?.status ?? 'pending',
    ...(activated === undefined
      ? {}
      : {
          activatedConfigRevisionId: activated.configRevisionId ?? '',
          activatedGeneration: activated.generation ?? '0',
          activatedArtifactSha256: activated.artifactSha256 ?? '',
          // It is active once the last node has it.
          activatedAt: appliedAt.at(-1) || intent.createdAt,
        }),
  };
}
