/** OperationControlService/GetOperationControlState: what was approved, and what nodes serve. */

import {
  GetOperationControlStateResponseSchema,
  type GetOperationControlStateResponseJson,
  type OperationControlService,
} from '../../../proto/gen/waf/v1/operation_control_pb.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import {
  jsonSha256,
  noControls,
  type OperationIntentRecord,
} from '../../domain/documents/operation-control.ts';
import { publicationRow } from '../../publish/publication-log.ts';
import { operationIntents } from '../../store/api-collections.ts';
import type { PublicationRecord } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import type { Method } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';
import {
  attemptOf,
  countTargets,
  deploymentStateOf,
  servedInPart,
  supersededBy,
} from './attempts.ts';
import { intentJson, intentOf, publicationsOf, wantedControls } from './intents.ts';
import { readReview, reviewJson } from './review.ts';

/** Reads the wanted intent of a site, or one of its history, with its receipts. */
export function getOperationControlState(
  parts: Uses<'store' | 'publisher' | 'nodes'>,
): Method<typeof OperationControlService, 'getOperationControlState'> {
  return ({ siteId, intentId, configRevisionId }, context) => {
    const { store } = parts;
    const caller = callerOf(context);
    const site = storedSite(store, caller, siteId, 'siteId');
    if (configRevisionId !== '' && intentId === '') {
      throw invalidField('configRevisionId', 'needs intentId');
    }
    const wanted = wantedControls(store, site.id);
    const intent = intentId === '' ? wanted.intent : intentOf(store, site.id, intentId);
    const now = readReview(parts, store, site, intent?.controls ?? noControls(site.id));
    const active = activePublication(parts);
    const shown: GetOperationControlStateResponseJson = {
      review: reviewJson(now),
      ...(active === null ? {} : activeOf(store, caller.tenantId, active, intent)),
      ...(intent === null ? { deploymentState: 'pending' } : {}),
    };
    if (intent === null) return toMessage(GetOperationControlStateResponseSchema, shown);
    const publication = publicationFor(store, intent, configRevisionId);
    const inPart = servedInPart(parts.nodes, site.id);
    const attempt =
      publication === null ? null : attemptOf(publication, intent, supersededBy(store), inPart);
    return toMessage(GetOperationControlStateResponseSchema, {
      ...shown,
      intent: intentJson(store, intent),
      ...(attempt === null ? {} : { latestIntentAttempt: attempt }),
      deploymentState: deploymentStateOf(intent, attempt),
      requiredTargets: intent.requiredTargets.length,
      appliedTargets: countTargets(attempt, 'applied'),
      failedTargets: countTargets(attempt, 'failed'),
      targetsCurrent: jsonSha256(intent.requiredTargets) === now.state.targetsSha256,
      reviewCurrent: isCurrent(intent, now.state.dependenciesSha256, now.state.inputRevision),
    });
  };
}

/** What was reviewed is as it was then, and nothing newer is wanted. */
function isCurrent(
  { supersededByIntentId, reviewed }: OperationIntentRecord,
  dependenciesSha256: string,
  inputRevision: number,
): boolean {
  return (
    supersededByIntentId === '' &&
    reviewed.dependenciesSha256 === dependenciesSha256 &&
    Number(reviewed.inputRevision ?? 0) === inputRevision
  );
}

/** The newest configuration that carried an intent, or the one that is named; it must have. */
function publicationFor(
  store: ReadStore,
  intent: OperationIntentRecord,
  configRevisionId: string,
): PublicationRecord | null {
  const all = publicationsOf(store, intent.id);
  if (configRevisionId === '') return all[0] ?? null;
  const found = all.find(({ revision }) => revision === configRevisionId);
  if (found !== undefined) return found;
  throw refusal('not_found', 'configRevisionId: no configuration of this id carried the intent.');
}

function activePublication({
  publisher,
  store,
}: Uses<'store' | 'publisher'>): PublicationRecord | null {
  const current = publisher.current();
  return current === null ? null : (publicationRow(store, current.revision) ?? null);
}

/** The configuration that control hands out, with the intents of the caller's tenant in it. */
function activeOf(
  store: ReadStore,
  tenantId: string,
  active: PublicationRecord,
  intent: OperationIntentRecord | null,
): Pick<GetOperationControlStateResponseJson, 'controllerActive' | 'controllerActiveManifest'> {
  const carried = (active.intents ?? [])
    .map((id) => store.get(operationIntents, id))
    .filter((one) => one !== undefined)
    .filter((one) => one.tenantId === tenantId);
  return {
    controllerActive: attemptOf(active, intent ?? { requiredTargets: [] }, supersededBy(store)),
    controllerActiveManifest: carried.map((one) => ({
      siteId: one.siteId,
      controlRevision: String(one.controlRevision),
      controlSnapshotSha256: one.snapshotSha256,
      intentId: one.id,
    })),
  };
}
