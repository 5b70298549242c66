/**
 * What a change of the schema part of a site's controls would do, and the approval that names all
 * that was reviewed. Made again when the change comes, so that whatever moved since is noticed.
 */

import {
  SchemaControlApprovalSchema,
  type PreviewSchemaControlRequest,
  PreviewSchemaControlRequestSchema,
  type SchemaControlApprovalJson,
} from '../../../proto/gen/waf/v1/api_schema_pb.ts';
import type { BindingsDocument, ContractDocument } from '../../documents/stored-documents.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import {
  jsonSha256,
  withSchema,
  type ControlReview,
  type SchemaControl,
  type SiteControls,
  type UndeclaredAction,
} from '../../domain/documents/operation-control.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { schemaBindings, schemaContracts, schemaProfiles } from '../../store/collections.ts';
import type { PublicationRecord } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import type { Uses } from '../context.ts';
import { toMessage, toRecord } from '../convert.ts';
import { wantedControls } from '../operation-control-service/intents.ts';
import { appliedSource, recoveryOf } from '../operation-control-service/recovery.ts';
import { readReview, reviewJson } from '../operation-control-service/review.ts';
import { catalogSha256, contractChanges, contractOf } from './declarations.ts';
import { contentJson } from './objects.ts';
import { bindingsOf } from './profiles.ts';

/** A change as it was previewed. */
export interface SchemaPreview {
  readonly approval: SchemaControlApprovalJson;
  readonly after: SiteControls;
  readonly review: ControlReview;
  readonly changes: object;
  readonly resources: SchemaResources;
  readonly recovery: PublicationRecord | null;
}

/** What the controls cost nodes. */
export interface SchemaResources {
  readonly format: 'waf.schema_resources.v1';
  readonly operations: number;
  readonly observed: number;
  readonly enforced: number;
  readonly partial: number;
  readonly artifactBytes: number;
  readonly undeclaredAction: string;
  /** Why the nodes cannot carry it out; '' where they can. */
  readonly unsupported: string;
}

/** Previews a change. Errors: invalid_argument, not_found, failed_precondition. */
export function previewChange(
  parts: Uses<'publisher' | 'nodes'>,
  store: ReadStore,
  site: SiteRecord,
  request: PreviewSchemaControlRequest,
): SchemaPreview {
  const wanted = wantedControls(store, site.id);
  const { schema, recovery } = selected(store, site, request);
  const after = withSchema(wanted.controls, schema);
  const review = readReview(parts, store, site, after);
  const contract = documentOf<ContractDocument>(store, schemaContracts, schema?.contractId);
  const bindings = documentOf<BindingsDocument>(store, schemaBindings, schema?.bindingId);
  const before = wanted.controls.schema;
  const modesBefore = documentOf<BindingsDocument>(store, schemaBindings, before?.bindingId);
  const approval: SchemaControlApprovalJson = {
    selection: toRecord(PreviewSchemaControlRequestSchema, request),
    review: reviewJson(review),
    contractSha256: schema?.contractSha256 ?? '',
    catalogSha256: catalogSha256(store, site.id),
    previousContractSha256: before?.contractSha256 ?? '',
    policyFilesSha256: review.policySha256,
    // Nodes get what follows from exactly these.
    previewRuntimeSha256: jsonSha256(['waf.api_checks', schema]),
    snapshotSha256: jsonSha256(after),
    beforeSnapshotSha256: wanted.snapshotSha256,
    requiresPartialAcceptance: (bindings?.partialOperationKeys.length ?? 0) > 0,
    bindingSha256: schema?.bindingSha256 ?? '',
    previousBindingSha256: before?.bindingSha256 ?? '',
    ...recoveryOf(recovery),
  };
  return {
    // As it reads when it comes back.
    approval: toRecord(
      SchemaControlApprovalSchema,
      toMessage(SchemaControlApprovalSchema, approval),
    ),
    after,
    review,
    recovery,
    changes: {
      ...contractChanges(store, before?.contractId ?? '', contract),
      format: 'waf.schema_control_changes.v1',
      modes: modeChanges(modesBefore, bindings),
      undeclaredAction: [before?.undeclaredAction ?? 'allow', schema?.undeclaredAction ?? 'allow'],
    },
    resources: resourcesOf(store, schema, contract, bindings, review),
  };
}

interface Selected {
  readonly schema: SchemaControl | null;
  readonly recovery: PublicationRecord | null;
}

function selected(
  store: ReadStore,
  site: SiteRecord,
  request: PreviewSchemaControlRequest,
): Selected {
  const current = wantedControls(store, site.id).controls.schema;
  const { action, contractId, bindingId, undeclaredAction, sourceIntentId } = request;
  if (action !== 'rollback' && (sourceIntentId || request.sourceConfigRevisionId)) {
    throw invalidField('sourceIntentId', 'is for the action rollback only');
  }
  switch (action) {
    case 'activate':
      return {
        schema: activated(
          store,
          site,
          contractId,
          bindingId,
          undeclaredAction || current?.undeclaredAction || 'allow',
        ),
        recovery: null,
      };
    case 'deactivate':
      if (current === null) {
        throw refusal('failed_precondition', 'action: the site has no API declaration in use');
      }
      if (contractId !== '' && contractId !== current.contractId) {
        throw refusal('failed_precondition', 'contractId: is not the declaration in use');
      }
      if (bindingId || undeclaredAction) {
        throw invalidField('bindingId', 'and undeclaredAction are not for the action deactivate');
      }
      return { schema: null, recovery: null };
    case 'rollback':
      if (contractId || bindingId || undeclaredAction) {
        throw invalidField(
          'contractId',
          'is for the action activate only: rollback names an intent',
        );
      }
      return rolledBack(store, site, sourceIntentId, request.sourceConfigRevisionId);
    default:
      throw invalidField('action', 'must be activate, deactivate or rollback');
  }
}

function activated(
  store: ReadStore,
  site: SiteRecord,
  contractId: string,
  bindingId: string,
  undeclaredAction: string,
): SchemaControl {
  if (!['allow', 'observe', 'block'].includes(undeclaredAction)) {
    throw invalidField('undeclaredAction', 'must be empty, allow, observe or block');
  }
  const contract = contractOf(store, site.id, contractId, 'contractId');
  const base = {
    contractId: contract.id,
    contractSha256: contract.sha256,
    undeclaredAction: undeclaredAction as UndeclaredAction,
  };
  if (bindingId === '') {
    return { ...base, bindingId: '', bindingSha256: '', profileId: '', artifactSha256: '' };
  }
  const bindings = bindingsOf(store, site.id, bindingId, 'bindingId');
  if (bindings.declarationId !== contract.id) {
    throw invalidField('bindingId', 'must be a binding of this declaration');
  }
  const { artifactSha256 } = contentJson<BindingsDocument>(store, bindings.blob);
  const { profileId, sha256: bindingSha256 } = bindings;
  return { ...base, bindingId: bindings.id, bindingSha256, profileId, artifactSha256 };
}

function rolledBack(
  store: ReadStore,
  site: SiteRecord,
  sourceIntentId: string,
  revision: string,
): Selected {
  if (sourceIntentId === '') throw invalidField('sourceIntentId', 'is required for a rollback');
  const { intent, recovery } = appliedSource(store, site.id, sourceIntentId, revision);
  return { schema: intent.controls.schema, recovery };
}

function documentOf<T>(
  store: ReadStore,
  collection: typeof schemaContracts | typeof schemaBindings,
  id: string | undefined,
): T | null {
  const found = store.get<{ id: string; blob: string }>(collection as never, id ?? '');
  return found === undefined ? null : contentJson<T>(store, found.blob);
}

function modeChanges(before: BindingsDocument | null, after: BindingsDocument | null) {
  const own = new Map(before?.operations.map(({ key, mode }) => [key, mode]));
  const next = new Map(after?.operations.map(({ key, mode }) => [key, mode]));
  return [...new Set([...own.keys(), ...next.keys()])]
    .sort()
    .map((key) => ({ key, before: own.get(key) ?? 'off', after: next.get(key) ?? 'off' }))
    .filter((one) => one.before !== one.after);
}

function resourcesOf(
  store: ReadStore,
  schema: SchemaControl | null,
  contract: ContractDocument | null,
  bindings: BindingsDocument | null,
  review: ControlReview,
): SchemaResources {
  const count = (mode: string): number =>
    bindings?.operations.filter((one) => one.mode === mode).length ?? 0;
  return {
    format: 'waf.schema_resources.v1',
    operations: contract?.operations.length ?? 0,
    observed: count('observe'),
    enforced: count('enforce'),
    partial: bindings?.partialOperationKeys.length ?? 0,
    artifactBytes: store.get(schemaProfiles, schema?.profileId ?? '')?.artifactBytes ?? 0,
    undeclaredAction: schema?.undeclaredAction ?? 'allow',
    unsupported: review.unsupported,
  };
}
