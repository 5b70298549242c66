/** OperationControlService/PreviewBodyChange and what ChangeBodyControl makes again to compare. */

import {
  BodyChangeApprovalSchema,
  PreviewBodyChangeRequestSchema,
  PreviewBodyChangeResponseSchema,
  type BodyChangeApprovalJson,
  type OperationControlService,
  type PreviewBodyChangeRequest,
} from '../../../proto/gen/waf/v1/operation_control_pb.ts';
import { changeSlots } from '../../domain/documents/body-control.ts';
import { reservationOf } from '../../domain/documents/body-inheritance.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import {
  jsonSha256,
  type BodyControl,
  type BodySlot,
  type ControlReview,
  type OperationIntentRecord,
  type SiteControls,
} from '../../domain/documents/operation-control.ts';
import type { SiteRecord } from '../../domain/records.ts';
import type { PublicationRecord } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { base64Json } from './body-preview.ts';
import { controlsAfter, readBodyState, type BodyState } from './body-state.ts';
import { intentsBefore } from './intents.ts';
import { appliedSource, recoveryOf, servingNodes } from './recovery.ts';
import { readReview, reviewJson } from './review.ts';
import { apiDocumentLimits } from '../../limits/api-document-limits.ts';

/** A change as it was previewed. */
export interface BodyChangePreview {
  readonly approval: BodyChangeApprovalJson;
  readonly before: SiteControls;
  readonly after: SiteControls;
  readonly review: ControlReview;
  /** What is discarded, removed or restored. */
  readonly slot: BodySlot;
  /** Null but for a rollback. */
  readonly recovery: PublicationRecord | null;
}

/** Shows what a change would do. */
export function previewBodyChange(
  parts: Uses<'store' | 'publisher' | 'nodes'>,
): Method<typeof OperationControlService, 'previewBodyChange'> {
  return (request, context) => {
    const { store } = parts;
    const site = storedSite(store, callerOf(context), request.siteId, 'siteId');
    const preview = previewSlotChange(parts, store, site, request, '');
    const rollsBack = preview.recovery !== null;
    return toMessage(PreviewBodyChangeResponseSchema, {
      approval: preview.approval,
      beforeSnapshotJson: base64Json(preview.before),
      afterSnapshotJson: base64Json(preview.after),
      selectedSpecJson: base64Json(preview.slot.spec),
      executionSupported: preview.review.unsupported === '',
      recoveryEligible: rollsBack,
      // It was approved for the requests of its time; nobody looked at those of today.
      currentImpactUnverified: rollsBack,
    });
  };
}

/** Previews a change. Errors: invalid_argument, not_found, failed_precondition. */
export function previewSlotChange(
  parts: Uses<'publisher' | 'nodes'>,
  store: ReadStore,
  site: SiteRecord,
  request: PreviewBodyChangeRequest,
  at: string,
): BodyChangePreview {
  const state = readBodyState(store, site, request.apiAssetId, `${at}apiAssetId`);
  const { slot, body, recovery, authored } = selected(store, site, request, state, at);
  const after = controlsAfter(state, body);
  const { wanted, inherited } = state;
  const review = readReview(parts, store, site, after);
  const previousIntentId = wanted.intent?.id ?? '';
  const approval: BodyChangeApprovalJson = {
    selection: toRecord(PreviewBodyChangeRequestSchema, request),
    review: reviewJson(review),
    assetRevision: String(state.asset.revision),
    previousIntentId,
    beforeSnapshotSha256: wanted.snapshotSha256,
    afterSnapshotSha256: jsonSha256(after),
    baselineSha256: jsonSha256(inherited),
    servingTargetsSha256: jsonSha256(servingNodes(store, previousIntentId)),
    policyFilesSha256: review.policySha256,
    changeFingerprint: jsonSha256([request.action, state.asset.id, state.body, body]),
    beforeRawReservationBytes: String(reservationOf(state.body, inherited)),
    afterRawReservationBytes: String(reservationOf(body, inherited)),
    baselineWafEnabled: inherited.wafEnabled,
    baselineRequestBodyLimit: String(inherited.requestBodyLimit),
    ...(authored === null ? {} : { recoveryApprovalSha256: authored.approvalSha256 }),
    ...recoveryOf(recovery),
  };
  return {
    // As it reads when it comes back.
    approval: toRecord(BodyChangeApprovalSchema, toMessage(BodyChangeApprovalSchema, approval)),
    ...{ before: wanted.controls, after, review, slot, recovery },
  };
}

interface Selected {
  readonly slot: BodySlot;
  readonly body: BodyControl | null;
  readonly recovery: PublicationRecord | null;
  readonly authored: OperationIntentRecord | null;
}

function selected(
  store: ReadStore,
  site: SiteRecord,
  request: PreviewBodyChangeRequest,
  { asset, body }: BodyState,
  at: string,
): Selected {
  const { action } = request;
  if (action === 'rollback_effective') return rolledBack(store, site, request, body, at);
  for (const field of ['sourceIntentId', 'sourceConfigRevisionId', 'approvalIntentId'] as const) {
    if (request[field] === '') continue;
    throw invalidField(`${at}${field}`, 'is for the action rollback_effective only');
  }
  if (action !== 'discard_candidate' && action !== 'remove_effective') {
    const actions = 'discard_candidate, remove_effective or rollback_effective';
    throw invalidField(`${at}action`, `must be ${actions}`);
  }
  const after = changeSlots(asset.id, body, { action });
  const slot = action === 'discard_candidate' ? body?.candidate : body?.effective;
  return { slot: slot!, body: after, recovery: null, authored: null };
}

/** The slot that was in effect with an intent that nodes applied, with its first approval. */
function rolledBack(
  store: ReadStore,
  site: SiteRecord,
  request: PreviewBodyChangeRequest,
  body: BodyControl | null,
  at: string,
): Selected {
  const { sourceIntentId, sourceConfigRevisionId, apiAssetId, approvalIntentId } = request;
  if (sourceIntentId === '') {
    throw invalidField(`${at}sourceIntentId`, 'is required for the action rollback_effective');
  }
  const { intent, recovery } = appliedSource(
    store,
    site.id,
    sourceIntentId,
    sourceConfigRevisionId,
  );
  const source = intent.controls.bodies.find((one) => one.apiAssetId === apiAssetId)?.effective;
  if (source === undefined) {
    const problem = 'had no body control in effect for this endpoint';
    throw refusal('failed_precondition', `${at}sourceIntentId: ${problem}`);
  }
  if (jsonSha256(source) === jsonSha256(body?.effective ?? null)) {
    throw refusal('failed_precondition', `${at}sourceIntentId: its body control is in effect now`);
  }
  const authored = authoredApproval(store, site.id, apiAssetId, source);
  if (authored === null) {
    const problem = 'the approval of its body control is not kept any more; apply it anew';
    throw refusal('failed_precondition', `${at}sourceIntentId: ${problem}`);
  }
  if (approvalIntentId !== '' && approvalIntentId !== authored.id) {
    const problem = 'is not where the body control in effect was first approved';
    throw invalidField(`${at}approvalIntentId`, problem);
  }
  const change = { action: 'rollback_effective', slot: source } as const;
  return { slot: source, body: changeSlots(apiAssetId, body, change), recovery, authored };
}

/** The first intent that put a specification into effect by itself. */
function authoredApproval(
  store: ReadStore,
  siteId: string,
  apiAssetId: string,
  { specRevision, specSha256 }: BodySlot,
): OperationIntentRecord | null {
  const kept = intentsBefore(store, siteId, 0, apiDocumentLimits.intentsPerSiteMax);
  const approved = kept.filter(
    ({ bodyReview }) =>
      bodyReview?.apiAssetId === apiAssetId &&
      bodyReview.action === 'set' &&
      bodyReview.mode === 'enforce' &&
      bodyReview.specRevision === specRevision &&
      bodyReview.specSha256 === specSha256,
  );
  return approved.at(-1) ?? null;
}
