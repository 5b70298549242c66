/** Keeping, listing and returning uploaded documents. A document is read before it is kept. */

import { randomUUID } from 'node:crypto';
import { ApiSchemaService, SchemaSourceSchema } from '../../../proto/gen/waf/v1/api_schema_pb.ts';
import { apiDocumentLimits } from '../../limits/api-document-limits.ts';
import type { Caller } from '../../auth/permissions.ts';
import type { ReadAnswer } from '../../documents/document-work.ts';
import { producerVersion } from '../../documents/document-report.ts';
import type { SourceFormat } from '../../documents/read-document.ts';
import type { SchemaSourceRecord } from '../../domain/documents/api-records.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import type { SiteRecord } from '../../domain/records.ts';
import {
  apiReports,
  schemaContracts,
  schemaProfiles,
  schemaSources,
} from '../../store/collections.ts';
import type { WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, requireText, toMessage } from '../convert.ts';
import { writeOnce } from '../idempotency.ts';
import type { Built } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { allOfSite, content, keepStaged, putText, sourceOf } from './objects.ts';
import { keepReport } from './reports.ts';

type Methods = Pick<
  Built<typeof ApiSchemaService>,
  'stageSchemaSource' | 'listSchemaSources' | 'getSchemaSource'
>;

/** Methods on uploaded documents. */
export function sourceMethods(parts: Uses<'store' | 'clock' | 'documents'>): Methods {
  const { store } = parts;
  return {
    stageSchemaSource: async (request, context) => {
      const caller = callerOf(context);
      const site = storedSite(store, caller, request.siteId, 'siteId');
      requireText(request.name, 'name');
      if (request.format !== 'json' && request.format !== 'yaml') {
        throw invalidField('format', 'must be json or yaml');
      }
      const { format, name, source: bytes } = request;
      const read = await parts.documents({ type: 'read', bytes, format });
      const method = ApiSchemaService.method.stageSchemaSource;
      return writeOnce(parts, caller, method, request, (tx) => {
        const kept = keepSource(
          tx,
          caller,
          site,
          read,
          { name, format, bytes },
          isoNow(parts.clock),
        );
        return toMessage(method.output, { source: kept });
      });
    },
    listSchemaSources: ({ siteId }, context) => {
      const site = storedSite(store, callerOf(context), siteId, 'siteId');
      const all = allOfSite(store, schemaSources, site.id).reverse();
      return {
        sources: all.map((one) => toMessage(SchemaSourceSchema, one)),
        maxRevisions: apiDocumentLimits.sourcesPerSiteMax,
        retentionLimitBytes: BigInt(apiDocumentLimits.sourceRetentionBytes),
      };
    },
    getSchemaSource: ({ siteId, sourceId }, context) => {
      const site = storedSite(store, callerOf(context), siteId, 'siteId');
      const source = sourceOf(store, site.id, sourceId);
      const sourceBytes = content(store, source.blob);
      return { source: toMessage(SchemaSourceSchema, source), sourceBytes };
    },
  };
}

/** What a document is kept with. */
export interface SourceInput {
  readonly name: string;
  readonly format: SourceFormat;
  readonly bytes: Uint8Array;
  readonly manuallyEdited?: boolean;
  readonly draftOf?: SchemaSourceRecord['draftOf'];
  readonly learnedRevisionId?: string;
  readonly learnedSha256?: string;
  /** JSON in base64. */
  readonly learnedMappingsJson?: string;
}

/** Keeps a document that was read. Errors: resource_exhausted where nothing may go for it. */
export function keepSource(
  tx: WriteStore,
  caller: Caller,
  site: SiteRecord,
  read: ReadAnswer,
  { bytes, draftOf, ...input }: SourceInput,
  now: string,
): SchemaSourceRecord {
  // The site may have gone while the document was read.
  storedSite(tx, caller, site.id, 'siteId');
  makeRoom(tx, site.id, bytes.length + read.documentJson.length);
  const id = `source-${randomUUID()}`;
  const base = { tenantId: site.tenantId, siteId: site.id, createdAt: now };
  const report = keepReport(tx, { ...base, sourceId: id }, read.report);
  tx.putBlob(`api-source-${id}`, bytes);
  const record: SchemaSourceRecord = {
    ...base,
    ...input,
    id,
    revision: String(tx.next(`schema-source ${site.id}`)),
    sourceSha256: read.sourceSha256,
    sizeBytes: bytes.length,
    warnings: read.warnings,
    documentFamily: read.family,
    documentVersion: read.version,
    parserVersion: producerVersion,
    parseReportId: report.id,
    parseReportSha256: report.reportSha256,
    blob: `api-source-${id}`,
    documentBlob: putText(tx, `api-document-${id}`, read.documentJson),
    documentBytes: Buffer.byteLength(read.documentJson),
    ...(draftOf === undefined ? {} : { draftOf }),
  };
  const kind = { collection: schemaSources, audit: 'schema_source' };
  const { sourceSha256, format, sizeBytes } = record;
  return keepStaged(tx, caller, kind, record, { sourceSha256, format, sizeBytes });
}

/** Forgets the oldest documents that nothing refers to, as far as bounds ask for it. */
function makeRoom(tx: WriteStore, siteId: string, addedBytes: number): void {
  const all = allOfSite(tx, schemaSources, siteId);
  const used = new Set([
    ...allOfSite(tx, schemaContracts, siteId).map(({ sourceId }) => sourceId),
    ...allOfSite(tx, schemaProfiles, siteId).map(({ sourceId }) => sourceId),
  ]);
  const bytesOf = (one: SchemaSourceRecord): number => one.sizeBytes + one.documentBytes;
  let bytes = all.reduce((sum, one) => sum + bytesOf(one), addedBytes);
  let count = all.length + 1;
  const { sourcesPerSiteMax, sourceRetentionBytes } = apiDocumentLimits;
  for (const one of all) {
    if (count <= sourcesPerSiteMax && bytes <= sourceRetentionBytes) return;
    if (used.has(one.id)) continue;
    for (const report of tx.find(apiReports, 'source', one.id)) {
      tx.removeBlob(report.blob);
      tx.remove(apiReports, report.id);
    }
    tx.removeBlob(one.blob);
    tx.removeBlob(one.documentBlob);
    tx.remove(schemaSources, one.id);
    count--;
    bytes -= bytesOf(one);
  }
  if (count <= sourcesPerSiteMax && bytes <= sourceRetentionBytes) return;
  const most = `${sourcesPerSiteMax} documents and ${sourceRetentionBytes} bytes`;
  throw refusal('resource_exhausted', `A site keeps at most ${most}; all of them are in use.`);
}
