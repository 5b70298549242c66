/** Collections of API documents, of what is made of them, and of operation controls. */

import type {
  ApiAssetRecord,
  ApiReportRecord,
  SchemaBindingsRecord,
  SchemaContractRecord,
  SchemaProfileRecord,
  SchemaSourceRecord,
} from '../domain/documents/api-records.ts';
import type { ApiLearningRecord, LearnedDraftRecord } from '../domain/documents/api-learning.ts';
import type { DetectionLearningRecord } from '../domain/policy/detection-learning.ts';
import type { OperationIntentRecord } from '../domain/documents/operation-control.ts';
import type { Collection } from './collection.ts';

/** Uploaded documents, by site and revision. */
export const schemaSources: Collection<SchemaSourceRecord> = {
  name: 'schema-sources',
  indexes: {
    site: ({ siteId, revision }) => [orderOf(siteId, revision)],
    draft: ({ draftOf }) => (draftOf ? [`${draftOf.contractId} ${draftOf.operationKey}`] : []),
  },
  blobs: ({ blob, documentBlob }) => [blob, documentBlob],
};

/** Reports on documents, by document. */
export const apiReports: Collection<ApiReportRecord> = {
  name: 'api-reports',
  indexes: { source: ({ sourceId }) => [sourceId], site: ({ siteId }) => [siteId] },
  blobs: ({ blob }) => [blob],
};

/** Reviewed declarations, by site and revision. */
export const schemaContracts: Collection<SchemaContractRecord> = {
  name: 'schema-contracts',
  indexes: { site: ({ siteId, revision }) => [orderOf(siteId, revision)] },
  blobs: ({ blob, changesBlob }) => [blob, changesBlob],
};

/** Compiled checks, by site and revision. */
export const schemaProfiles: Collection<SchemaProfileRecord> = {
  name: 'schema-profiles',
  indexes: { site: ({ siteId, revision }) => [orderOf(siteId, revision)] },
  blobs: ({ blob, artifactBlob }) => [blob, artifactBlob],
};

/** Which operations are validated, by declaration. */
export const schemaBindings: Collection<SchemaBindingsRecord> = {
  name: 'schema-bindings',
  indexes: { declaration: ({ declarationId }) => [declarationId], site: ({ siteId }) => [siteId] },
  blobs: ({ blob }) => [blob],
};

/** Endpoints of sites. */
export const apiAssets: Collection<ApiAssetRecord> = {
  name: 'api-assets',
  indexes: { site: ({ siteId }) => [siteId] },
  counted: ['site'],
};

/** Endpoints that learn, or learned, by site; the id is that of the asset. */
export const apiLearning: Collection<ApiLearningRecord> = {
  name: 'api-learning',
  indexes: { site: ({ siteId }) => [siteId] },
};

/** What sites learned of signs that are content, and what was decided; the id is the site's. */
export const detectionLearning: Collection<DetectionLearningRecord> = {
  name: 'detection-learning',
  indexes: {},
};

/** Kept revisions of what was learned, by asset. */
export const learnedDrafts: Collection<LearnedDraftRecord> = {
  name: 'learned-drafts',
  indexes: { asset: ({ assetId }) => [assetId] },
  blobs: ({ blob }) => [blob],
};

/** Approved changes of operation controls, by site and revision; `wanted` has the newest ones. */
export const operationIntents: Collection<OperationIntentRecord> = {
  name: 'operation-intents',
  indexes: {
    site: ({ siteId, controlRevision }) => [orderOf(siteId, String(controlRevision))],
    wanted: ({ siteId, supersededByIntentId }) => (supersededByIntentId === '' ? [siteId] : []),
    approval: ({ approvalSha256 }) => (approvalSha256 === '' ? [] : [approvalSha256]),
  },
};

/** Value of an index that holds the objects of a site in the order of their revisions. */
export function orderOf(siteId: string, revision: string): string {
  return `${siteId} ${revision.padStart(15, '0')}`;
}
