/** Previewing and publishing changes of the schema part of a site's controls. */

import {
  ApiSchemaService,
  SchemaControlApprovalSchema,
  type ChangeSchemaControlRequest,
  type SchemaControlApprovalJson,
} from '../../../proto/gen/waf/v1/api_schema_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import type { BindingsDocument, ContractDocument } from '../../documents/stored-documents.ts';
import type { ApiAssetRecord } from '../../domain/documents/api-records.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import {
  jsonSha256,
  type OperationIntentRecord,
} from '../../domain/documents/operation-control.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { apiAssets, schemaBindings, schemaContracts } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, requireText, toMessage, toRecord } from '../convert.ts';
import { writeOnce } from '../idempotency.ts';
import type { Built } from '../method.ts';
import { requireCurrent } from '../operation-control-service/approvals.ts';
import { addIntent, intentJson, wantedControls } from '../operation-control-service/intents.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { previewChange, type SchemaPreview } from './control-preview.ts';
import { contentJson, jsonBytes } from './objects.ts';

type Methods = Pick<
  Built<typeof ApiSchemaService>,
  'previewSchemaControl' | 'changeSchemaControl' | 'getSchemaValidation'
>;

/** Methods on the schema part of controls. */
export function controlMethods(parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>): Methods {
  const { store } = parts;
  return {
    previewSchemaControl: (request, context) => {
      const site = storedSite(store, callerOf(context), request.siteId, 'siteId');
      const preview = previewChange(parts, store, site, request);
      const { approval, after, changes, resources } = preview;
      return {
        approval: toMessage(SchemaControlApprovalSchema, approval),
        snapshotJson: Buffer.from(canonicalJson(after), 'utf8'),
        changesJson: jsonBytes(changes),
        resourcesJson: jsonBytes(resources),
        executionSupported: resources.unsupported === '',
      };
    },
    changeSchemaControl: (request, context) => {
      const caller = callerOf(context);
      const selection = request.approval?.selection;
      if (selection === undefined) throw invalidField('approval.selection', 'is required');
      requireText(request.reason, 'reason');
      requireText(request.idempotencyKey, 'idempotencyKey');
      const method = ApiSchemaService.method.changeSchemaControl;
      return writeOnce(parts, caller, method, request, (tx) => {
        const site = storedSite(tx, caller, selection.siteId, 'approval.selection.siteId');
        const preview = previewChange(parts, tx, site, selection);
        const intent = publish(parts, tx, caller, site, request, preview);
        return toMessage(method.output, { intent: intentJson(tx, intent), state: 'pending' });
      });
    },
    getSchemaValidation: ({ siteId }, context) => {
      const site = storedSite(store, callerOf(context), siteId, 'siteId');
      return { validationJson: jsonBytes(validationOf(store, site.id)) };
    },
  };
}

function publish(
  { clock }: Uses<'clock'>,
  tx: WriteStore,
  caller: Caller,
  site: SiteRecord,
  request: ChangeSchemaControlRequest,
  preview: SchemaPreview,
): OperationIntentRecord {
  const sent = toRecord<SchemaControlApprovalJson>(SchemaControlApprovalSchema, request.approval!);
  requireCurrent(sent, preview.approval);
  requireAcknowledged(request, preview);
  if (preview.resources.unsupported !== '') {
    throw refusal('failed_precondition', preview.resources.unsupported);
  }
  const now = isoNow(clock);
  const { recovery } = preview;
  const intent = addIntent(
    tx,
    caller,
    {
      site,
      controls: preview.after,
      domain: 'schema',
      reason: request.reason,
      approval: sent,
      reviewed: sent.review ?? {},
      now: preview.review,
      ...(recovery === null
        ? {}
        : {
            rollbackSourceIntentId: request.approval!.selection!.sourceIntentId,
            rollbackSourceConfigRevisionId: recovery.revision,
          }),
    },
    now,
  );
  updateCatalog(tx, site, preview.after.schema?.contractId ?? '', now);
  return intent;
}

/** Errors: failed_precondition that names the acknowledgement that is missing. */
function requireAcknowledged(request: ChangeSchemaControlRequest, preview: SchemaPreview): void {
  const { approval, resources } = preview;
  const bound = resources.observed + resources.enforced > 0;
  const needs: readonly (readonly [string, boolean, boolean, string])[] = [
    ['impactAcknowledged', true, request.impactAcknowledged, 'changesJson of the preview'],
    ['resourceAcknowledged', bound, request.resourceAcknowledged, 'resourcesJson of the preview'],
    [
      'typeOnlyAcknowledged',
      resources.enforced > 0,
      request.typeOnlyAcknowledged,
      'that checks look at the form of requests only',
    ],
    [
      'acceptPartial',
      approval.requiresPartialAcceptance === true,
      request.acceptPartial,
      'that some operations are checked in part',
    ],
  ];
  for (const [field, needed, given, what] of needs) {
    if (!needed || given) continue;
    throw refusal('failed_precondition', `${field}: must be true: review ${what}`);
  }
}

/** Entries of the declaration in use are in the catalog, others are not. */
function updateCatalog(tx: WriteStore, site: SiteRecord, contractId: string, now: string): void {
  const contract = tx.get(schemaContracts, contractId);
  const operations =
    contract === undefined ? [] : contentJson<ContractDocument>(tx, contract.blob).operations;
  const known = new Map(tx.find(apiAssets, 'site', site.id).map((one) => [one.id, one]));
  const declared = new Set<string>();
  for (const { assetId, method, host, path } of operations) {
    declared.add(assetId);
    const before = known.get(assetId);
    const base = { id: assetId, tenantId: site.tenantId, siteId: site.id, createdAt: now };
    const asset: Omit<ApiAssetRecord, 'revision' | 'updatedAt'> = {
      ...base,
      hidden: false,
      ...before,
      ...{ method, host, path, cataloged: true },
    };
    keepAsset(tx, before, asset, now);
  }
  for (const asset of known.values()) {
    if (!declared.has(asset.id)) keepAsset(tx, asset, { ...asset, cataloged: false }, now);
  }
}

function keepAsset(
  tx: WriteStore,
  before: ApiAssetRecord | undefined,
  after: Omit<ApiAssetRecord, 'revision' | 'updatedAt'>,
  now: string,
): void {
  const revision = before?.revision ?? 0;
  const updatedAt = before?.updatedAt ?? now;
  if (
    before !== undefined &&
    jsonSha256({ ...after, revision, updatedAt }) === jsonSha256(before)
  ) {
    return;
  }
  tx.put(apiAssets, { ...after, revision: revision + 1, updatedAt: now });
}

/** The validation that is wanted, tied to one snapshot of the controls. */
function validationOf(store: ReadStore, siteId: string) {
  const { intent, controls, controlRevision, snapshotSha256 } = wantedControls(store, siteId);
  const { schema } = controls;
  const contract = schema === null ? undefined : store.get(schemaContracts, schema.contractId);
  const bindings = schema === null ? undefined : store.get(schemaBindings, schema.bindingId);
  const declared =
    contract === undefined ? null : contentJson<ContractDocument>(store, contract.blob);
  const chosen =
    bindings === undefined ? null : contentJson<BindingsDocument>(store, bindings.blob);
  const modes = new Map(chosen?.operations.map(({ key, mode }) => [key, mode]));
  return {
    format: 'waf.api_validation.v1',
    siteId,
    intentId: intent?.id ?? '',
    controlRevision: String(controlRevision),
    snapshotSha256,
    contractId: schema?.contractId ?? '',
    bindingId: schema?.bindingId ?? '',
    undeclaredAction: schema?.undeclaredAction ?? 'allow',
    scopes: declared?.scopes ?? [],
    operations: (declared?.operations ?? []).map(({ key, assetId, method, host, path }) => ({
      ...{ key, assetId, method, host, path },
      mode: modes.get(key) ?? 'off',
    })),
    partialOperationKeys: chosen?.partialOperationKeys ?? [],
  };
}
