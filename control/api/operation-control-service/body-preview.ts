/** OperationControlService/PreviewBodyControl and what ApplyBodyControl makes again to compare. */

import { randomUUID } from 'node:crypto';
import {
  BodyControlApprovalSchema,
  BodyControlDraftSchema,
  PreviewBodyControlResponseSchema,
  type BodyControlApprovalJson,
  type BodyControlDraft,
  type BodyControlDraftJson,
  type OperationControlService,
} from '../../../proto/gen/waf/v1/operation_control_pb.ts';
import type { BindingsDocument, ContractDocument } from '../../documents/stored-documents.ts';
import { changeSlots, readBodyDraft, type BodyDraft } from '../../domain/documents/body-control.ts';
import { reservationOf } from '../../domain/documents/body-inheritance.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import {
  jsonSha256,
  type BodyControl,
  type BodySlot,
  type ControlReview,
  type SiteControls,
} from '../../domain/documents/operation-control.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { schemaBindings, schemaContracts } from '../../store/api-collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { contentJson } from '../api-schema-service/objects.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage, toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';
import {
  controlsAfter,
  readBodyState,
  resourcesOf,
  runtimeSha256,
  type BodyState,
} from './body-state.ts';
import { readReview, reviewJson } from './review.ts';

/** A draft as it was previewed. */
export interface BodyPreview {
  readonly approval: BodyControlApprovalJson;
  readonly after: SiteControls;
  readonly review: ControlReview;
  readonly resources: ReturnType<typeof resourcesOf>;
  /** Null where the draft has none. */
  readonly slot: BodySlot | null;
  readonly draft: BodyDraft;
}

/** Shows what a draft would change. */
export function previewBodyControl(
  parts: Uses<'store' | 'publisher' | 'nodes'>,
): Method<typeof OperationControlService, 'previewBodyControl'> {
  return ({ draft }, context) => {
    const { store } = parts;
    if (draft === undefined) throw invalidField('draft', 'is required');
    const site = storedSite(store, callerOf(context), draft.siteId, 'draft.siteId');
    const { approval, after, resources, slot } = previewDraft(parts, store, site, draft, 'draft');
    return toMessage(PreviewBodyControlResponseSchema, {
      approval,
      ...(slot === null ? {} : { specJson: base64Json(slot.spec) }),
      snapshotJson: base64Json(after),
      resourcesJson: base64Json(resources),
      executionSupported: resources.unsupported === '',
    });
  };
}

/** A JSON value as answers carry it. */
export function base64Json(value: unknown): string {
  return Buffer.from(canonicalJson(value), 'utf8').toString('base64');
}

/** Previews a draft. Errors: invalid_argument, not_found, failed_precondition. */
export function previewDraft(
  parts: Uses<'publisher' | 'nodes'>,
  store: ReadStore,
  site: SiteRecord,
  message: BodyControlDraft,
  at: string,
): BodyPreview {
  const state = readBodyState(store, site, message.apiAssetId, `${at}.apiAssetId`);
  const sent = toRecord<BodyControlDraftJson>(BodyControlDraftSchema, message);
  const draft = readBodyDraft(sent, state.asset);
  requireMode(store, state, sent.schemaMode ?? '');
  const slot = draft.spec === null ? null : slotOf(sent.specRevision ?? '', draft, state);
  const body = bodyAfter(draft, slot, state);
  const after = controlsAfter(state, body);
  const review = readReview(parts, store, site, after);
  const approval: BodyControlApprovalJson = {
    draft: filled(sent, draft, slot),
    review: reviewJson(review),
    assetRevision: String(state.asset.revision),
    specSha256: slot?.specSha256 ?? '',
    beforeSnapshotSha256: state.wanted.snapshotSha256,
    afterSnapshotSha256: jsonSha256(after),
    policyFilesSha256: review.policySha256,
    previewRuntimeSha256: runtimeSha256(state, body),
    rawReservationBytes: String(reservationOf(body, state.inherited)),
  };
  return {
    // As it reads when it comes back.
    approval: toRecord(BodyControlApprovalSchema, toMessage(BodyControlApprovalSchema, approval)),
    after,
    review,
    resources: resourcesOf(state, body, review.unsupported),
    slot,
    draft,
  };
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** The slot that a draft makes; a revision names one content only. */
function slotOf(sent: string, { spec }: BodyDraft, { asset, body }: BodyState): BodySlot {
  if (!asset.cataloged) {
    const problem = 'is not in the catalog: add it by StageApiCatalogChange or a document first';
    throw refusal('failed_precondition', `apiAssetId: ${problem}`);
  }
  if (sent !== '' && !uuid.test(sent)) {
    throw invalidField('draft.specRevision', 'must be empty, or the one that a preview gave');
  }
  const specSha256 = jsonSha256(spec);
  const specRevision = sent === '' ? randomUUID() : sent;
  const known = [body?.effective, body?.candidate].find(
    (one) => one?.specRevision === specRevision,
  );
  if (known !== undefined && known.specSha256 !== specSha256) {
    throw refusal(
      'failed_precondition',
      'draft.specRevision: names another content: leave it empty',
    );
  }
  return { specRevision, specSha256, spec: spec! };
}

function bodyAfter(
  { action, mode }: BodyDraft,
  slot: BodySlot | null,
  { asset, body }: BodyState,
): BodyControl | null {
  if (slot !== null) return changeSlots(asset.id, body, { action: mode, slot });
  const change = action === 'keep' ? 'keep' : 'remove_effective';
  return changeSlots(asset.id, body, { action: change });
}

/** The draft with all that was left to the service. */
function filled(
  { siteId = '', apiAssetId = '', schemaMode = '' }: BodyControlDraftJson,
  { action, mode, spec }: BodyDraft,
  slot: BodySlot | null,
): BodyControlDraftJson {
  const base = { siteId, apiAssetId, schemaMode, bodyAction: action, controlMode: mode };
  if (spec === null) return base;
  const { profile, mismatchAction, allowedFamilies, scope, upload } = spec;
  return {
    ...base,
    specRevision: slot!.specRevision,
    ...{ profile, mismatchAction, allowedFamilies: [...allowedFamilies] },
    scopeJson: base64Json(scope),
    ...(upload === null ? {} : { uploadRequirementsJson: base64Json(upload) }),
  };
}

/** The mode of an operation is part of reviewed bindings: a body control does not change it. */
function requireMode(store: ReadStore, { asset, wanted }: BodyState, asked: string): void {
  if (asked === '') return;
  if (!['off', 'observe', 'enforce'].includes(asked)) {
    throw invalidField('draft.schemaMode', 'must be empty, off, observe or enforce');
  }
  const { schema } = wanted.controls;
  const contract = store.get(schemaContracts, schema?.contractId ?? '');
  const bindings = store.get(schemaBindings, schema?.bindingId ?? '');
  const operations =
    contract === undefined ? [] : contentJson<ContractDocument>(store, contract.blob).operations;
  const modes =
    bindings === undefined ? [] : contentJson<BindingsDocument>(store, bindings.blob).operations;
  const key = operations.find(({ assetId }) => assetId === asset.id)?.key;
  const current = modes.find((one) => one.key === key)?.mode ?? 'off';
  if (asked === current) return;
  throw refusal(
    'failed_precondition',
    `draft.schemaMode: is ${current} now; change it by StageSchemaBindings and ChangeSchemaControl`,
  );
}
