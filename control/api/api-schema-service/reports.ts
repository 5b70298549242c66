/** Keeping reports on documents, and returning them page by page. */

import { randomUUID } from 'node:crypto';
import {
  ApiDocumentReportMetadataSchema,
  type ApiSchemaService,
} from '../../../proto/gen/waf/v1/api_schema_pb.ts';
import { apiDocumentLimits } from '../../limits/api-document-limits.ts';
import {
  producerVersion,
  reportFormat,
  reportPage,
  type DocumentReport,
  type SealedReport,
} from '../../documents/document-report.ts';
import type { ApiReportRecord } from '../../domain/documents/api-records.ts';
import { invalidField } from '../../domain/errors.ts';
import { apiReports } from '../../store/collections.ts';
import type { WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage } from '../convert.ts';
import type { Built } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { makeReportRoom } from './retention.ts';
import { contentJson, jsonBytes, objectOfSite, pageBefore, putText, sourceOf } from './objects.ts';

type Methods = Pick<
  Built<typeof ApiSchemaService>,
  'listApiDocumentReports' | 'getApiDocumentReport'
>;

/** Methods on reports. */
export function reportMethods({ store }: Uses<'store'>): Methods {
  return {
    listApiDocumentReports: ({ siteId, sourceId, beforeId }, context) => {
      const site = storedSite(store, callerOf(context), siteId, 'siteId');
      const source = sourceOf(store, site.id, sourceId);
      const all = store.find(apiReports, 'source', source.id);
      const { items, next } = pageBefore(all, beforeId, 'report');
      const reports = items.map((one) => toMessage(ApiDocumentReportMetadataSchema, one));
      return { reports, nextBeforeId: next };
    },
    getApiDocumentReport: ({ siteId, reportId, kind, offset, pageSize }, context) => {
      const site = storedSite(store, callerOf(context), siteId, 'siteId');
      const found = objectOfSite(store, apiReports, 'report', site.id, reportId, 'reportId');
      if (kind !== 'operations' && kind !== 'diagnostics') {
        throw invalidField('kind', 'must be operations or diagnostics');
      }
      const report = contentJson<DocumentReport>(store, found.blob);
      const page = reportPage(report, kind, offset, pageSize || apiDocumentLimits.reportPage);
      const { sourceId, reportSha256, inputSha256, createdAt } = found;
      return {
        reportId: found.id,
        ...{ sourceId, reportSha256, reportFormat, inputSha256, producerVersion, createdAt },
        stage: report.stage,
        sizeBytes: found.sizeBytes ?? 0,
        pageJson: jsonBytes(page),
      };
    },
  };
}

/** Keeps a report as long as something names it; one with the same content is returned. */
export function keepReport(
  tx: WriteStore,
  base: Pick<ApiReportRecord, 'tenantId' | 'siteId' | 'sourceId' | 'createdAt'>,
  { report, json, sha256 }: SealedReport,
): ApiReportRecord {
  const same = tx
    .find(apiReports, 'source', base.sourceId)
    .find(({ reportSha256 }) => reportSha256 === sha256);
  if (same !== undefined) return same;
  makeReportRoom(tx, base.siteId);
  const id = `report-${randomUUID()}`;
  const record: ApiReportRecord = {
    ...base,
    id,
    stage: report.stage,
    reportSha256: sha256,
    inputSha256: report.inputSha256,
    producerVersion,
    sizeBytes: Buffer.byteLength(json),
    blob: putText(tx, `api-report-${id}`, json),
  };
  tx.put(apiReports, record);
  return record;
}
