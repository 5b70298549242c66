/** Previewing and keeping what a document declares on a site, reconciled with the catalog. */

import { randomUUID } from 'node:crypto';
import {
  ApiSchemaService,
  SchemaContractSchema,
  SchemaSourceSchema,
} from '../../../proto/gen/waf/v1/api_schema_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import type { DeclareAnswer } from '../../documents/document-work.ts';
import { reconcile, type Mapping, type Reconciled } from '../../documents/declaration.ts';
import type { ContractDocument } from '../../documents/stored-documents.ts';
import type {
  SchemaContractRecord,
  SchemaSourceRecord,
} from '../../domain/documents/api-records.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import { refusal } from '../../domain/errors.ts';
import { jsonSha256 } from '../../domain/documents/operation-control.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { apiAssets, schemaContracts } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, toMessage } from '../convert.ts';
import { writeOnce } from '../idempotency.ts';
import type { Built } from '../method.ts';
import { wantedControls } from '../operation-control-service/intents.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { decideCoverage, decideOperations, type Decisions } from './decisions.ts';
import { checkMappings } from './mappings.ts';
import {
  allOfSite,
  content,
  contentJson,
  contentText,
  jsonBytes,
  keepStaged,
  objectOfSite,
  putText,
  revisionsBefore,
  sourceOf,
  textSha256,
} from './objects.ts';
import { keepReport } from './reports.ts';
import { makeDraftRoom } from './retention.ts';

type Methods = Pick<
  Built<typeof ApiSchemaService>,
  'previewApiDeclaration' | 'stageApiDeclaration' | 'listSchemaContracts' | 'getSchemaContract'
>;

/** Methods on declarations. */
export function declarationMethods(parts: Uses<'store' | 'clock' | 'documents'>): Methods {
  const { store } = parts;
  return {
    previewApiDeclaration: async (request, context) => {
      const site = storedSite(store, callerOf(context), request.siteId, 'siteId');
      const source = sourceOf(store, site.id, request.sourceId);
      const mappings = checkMappings(site, request.mappings);
      const { declaration, report } = await declareSource(parts, source, mappings);
      const reconciled = reconcile(declaration.operations, store.find(apiAssets, 'site', site.id));
      const { operations, scopes } = declaration;
      return {
        source: toMessage(SchemaSourceSchema, source),
        declarationJson: jsonBytes({ format: 'waf.api_declaration.v1', operations, scopes }),
        reportSha256: report.sha256,
        reportJson: Buffer.from(report.json, 'utf8'),
        reconciliationJson: jsonBytes(reconciliationOf(store, site.id, reconciled)),
        catalogSha256: catalogSha256(store, site.id),
      };
    },
    stageApiDeclaration: async (request, context) => {
      const caller = callerOf(context);
      const site = storedSite(store, caller, request.siteId, 'siteId');
      const source = sourceOf(store, site.id, request.sourceId);
      const mappings = checkMappings(site, request.mappings);
      const declared = await declareSource(parts, source, mappings);
      const method = ApiSchemaService.method.stageApiDeclaration;
      return writeOnce(parts, caller, method, request, (tx) => {
        if (request.reportSha256 !== declared.report.sha256) throw moved('reportSha256');
        if (request.catalogSha256 !== catalogSha256(tx, site.id)) throw moved('catalogSha256');
        const staging = { site, source, mappings, declared, now: isoNow(parts.clock) };
        return toMessage(method.output, { contract: keepContract(tx, caller, staging, request) });
      });
    },
    listSchemaContracts: ({ siteId, beforeRevision }, context) => {
      const site = storedSite(store, callerOf(context), siteId, 'siteId');
      const all = allOfSite(store, schemaContracts, site.id);
      const { items, next } = revisionsBefore(all, beforeRevision);
      const contracts = items.map((one) => toMessage(SchemaContractSchema, one));
      return { contracts, nextBeforeRevision: next };
    },
    getSchemaContract: ({ siteId, contractId }, context) => {
      const site = storedSite(store, callerOf(context), siteId, 'siteId');
      const contract = contractOf(store, site.id, contractId, 'contractId');
      return {
        contract: toMessage(SchemaContractSchema, contract),
        contractJson: content(store, contract.blob),
        changesJson: content(store, contract.changesBlob),
      };
    },
  };
}

/** A declaration of a site. Errors: invalid_argument at `field`, not_found. */
export function contractOf(
  store: ReadStore,
  siteId: string,
  id: string,
  field: string,
): SchemaContractRecord {
  return objectOfSite(store, schemaContracts, 'API declaration', siteId, id, field);
}

/** Names the state of the catalog: entries with their revisions, and the declaration in use. */
export function catalogSha256(store: ReadStore, siteId: string): string {
  const entries = store
    .find(apiAssets, 'site', siteId)
    .map(({ id, revision, cataloged }) => [id, revision, cataloged]);
  return jsonSha256([entries, wantedControls(store, siteId).controls.schema?.contractSha256 ?? '']);
}

function moved(field: string) {
  return refusal('aborted', `${field}: changed since the preview; preview the declaration again`);
}

function declareSource(
  { documents, store }: Uses<'store' | 'documents'>,
  source: SchemaSourceRecord,
  mappings: readonly Mapping[],
): Promise<DeclareAnswer> {
  const documentJson = contentText(store, source.documentBlob);
  const { sourceSha256 } = source;
  return documents({ type: 'declare', documentJson, sourceSha256, mappings });
}

function reconciliationOf(store: ReadStore, siteId: string, operations: readonly Reconciled[]) {
  const met = new Set(operations.flatMap(({ candidates }) => candidates.map((one) => one.assetId)));
  const leaving = store
    .find(apiAssets, 'site', siteId)
    .filter(({ id, cataloged }) => cataloged && !met.has(id))
    .map(({ id, revision }) => ({ assetId: id, assetRevision: revision }));
  return { format: 'waf.api_reconciliation.v1', operations, leavingCatalog: leaving };
}

interface Staging {
  readonly site: SiteRecord;
  readonly source: SchemaSourceRecord;
  readonly mappings: readonly Mapping[];
  readonly declared: DeclareAnswer;
  readonly now: string;
}

function keepContract(
  tx: WriteStore,
  caller: Caller,
  { site, source, mappings, declared, now }: Staging,
  decisions: Decisions,
): SchemaContractRecord {
  // It may have gone while it was worked on.
  sourceOf(tx, site.id, source.id);
  const { declaration, report } = declared;
  const reconciled = reconcile(declaration.operations, tx.find(apiAssets, 'site', site.id));
  const document: ContractDocument = {
    format: 'waf.schema_contract.v1',
    siteId: site.id,
    sourceId: source.id,
    sourceSha256: source.sourceSha256,
    reportSha256: report.sha256,
    mappings,
    scopes: decideCoverage(declaration.scopes, decisions.coverage),
    operations: decideOperations(declaration.operations, reconciled, decisions.decisions),
  };
  const base = { tenantId: site.tenantId, siteId: site.id, createdAt: now };
  makeDraftRoom(tx, schemaContracts, site.id, ({ blob, changesBlob }) => [blob, changesBlob]);
  const kept = keepReport(tx, { ...base, sourceId: source.id }, report);
  const id = `contract-${randomUUID()}`;
  const json = canonicalJson(document);
  const before = wantedControls(tx, site.id).controls.schema;
  const changes = contractChanges(tx, before?.contractId ?? '', document);
  const record: SchemaContractRecord = {
    ...base,
    id,
    sourceId: source.id,
    reportId: kept.id,
    reportSha256: report.sha256,
    revision: String(tx.next(`schema-contract ${site.id}`)),
    sha256: textSha256(json),
    catalogSha256: catalogSha256(tx, site.id),
    previousContractSha256: before?.contractSha256 ?? '',
    sizeBytes: Buffer.byteLength(json),
    blob: putText(tx, `api-contract-${id}`, json),
    changesBlob: putText(tx, `api-changes-${id}`, canonicalJson(changes)),
  };
  const kind = { collection: schemaContracts, audit: 'schema_contract' };
  return keepStaged(tx, caller, kind, record, { sha256: record.sha256 });
}

/** What a declaration changes of the one before: keys of operations, in order. */
export function contractChanges(
  store: ReadStore,
  beforeId: string,
  after: ContractDocument | null,
) {
  const record = store.get(schemaContracts, beforeId);
  const before =
    record === undefined ? [] : contentJson<ContractDocument>(store, record.blob).operations;
  const own = new Map(before.map((one) => [one.key, one]));
  const next = new Map((after?.operations ?? []).map((one) => [one.key, one]));
  return {
    format: 'waf.schema_contract_changes.v1',
    added: [...next.keys()].filter((key) => !own.has(key)),
    removed: [...own.keys()].filter((key) => !next.has(key)),
    changed: [...next]
      .filter(([key, one]) => own.has(key) && jsonSha256(own.get(key)) !== jsonSha256(one))
      .map(([key]) => key),
  };
}
