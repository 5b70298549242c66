/** What is shown of an endpoint that learns: evidence, how far it goes, drafts. Never a value. */

import {
  coverageState,
  noEvidence,
  objectsAround,
  occurrences,
  type ApiLearningRecord,
  type LearnedDraftRecord,
  type LearnedEvidence,
} from '../../domain/documents/api-learning.ts';
import { notFound } from '../../domain/errors.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { apiDocumentLimits } from '../../limits/api-document-limits.ts';
import { learnedDrafts } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import type { Uses } from '../context.ts';
import { requireText } from '../convert.ts';
import { endpointsOf, type Endpoint } from '../telemetry/endpoints.ts';
import { contentJson } from './objects.ts';

const stateFormat = 'waf.schema_learning.v1';

/** An endpoint of a site, by its asset. Errors: invalid_argument, not_found. */
export function endpointOf(
  store: ReadStore,
  { counters }: Uses<'counters'>,
  { tenantId, id }: SiteRecord,
  assetId: string,
): Endpoint {
  const wanted = requireText(assetId, 'assetId');
  const found = endpointsOf({ store, counters }, tenantId, id).find(
    (one) => one.assetId === wanted,
  );
  if (found === undefined) throw notFound('API asset', wanted);
  return found;
}

/** What an endpoint learned; nothing where it never did. */
export function evidenceOf(
  { counters }: Uses<'counters'>,
  record: ApiLearningRecord | undefined,
): LearnedEvidence {
  return record === undefined ? noEvidence : counters.learned(record.id, record.generation);
}

/** Drafts of an asset, the oldest first. */
export function draftsOf(store: ReadStore, assetId: string): LearnedDraftRecord[] {
  return store
    .find(learnedDrafts, 'asset', assetId)
    .sort((one, other) => one.revision - other.revision);
}

/** What is shown; `record` is absent where the endpoint never learned. */
export function shownState(
  store: ReadStore,
  { assetId, method, host, path }: Pick<Endpoint, 'assetId' | 'method' | 'host' | 'path'>,
  siteId: string,
  record: ApiLearningRecord | undefined,
  evidence: LearnedEvidence,
) {
  const place = record ?? { method, host, path };
  return {
    schema: stateFormat,
    site_id: siteId,
    asset_id: assetId,
    method: place.method,
    host: place.host,
    path: place.path,
    enabled: record?.enabled ?? false,
    revision: String(record?.revision ?? 0),
    generation: String(record?.generation ?? 0),
    updated_at: record?.updatedAt ?? '',
    evidence: shownEvidence(evidence),
    coverage: shownCoverage(evidence),
    drafts: draftsOf(store, assetId).map(({ blob }) => contentJson<unknown>(store, blob)),
    drafts_max: apiDocumentLimits.learnedDraftsMax,
    fields_max: apiDocumentLimits.learnedFieldsMax,
  };
}

/** Fields with their types and how often they were there, by path. */
export function shownEvidence(evidence: LearnedEvidence) {
  const fields = Object.entries(evidence.fields).sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    first_at: timeOf(evidence.firstMs),
    last_at: timeOf(evidence.lastMs),
    samples: String(evidence.samples),
    fields: fields.map(([path, types]) => {
      const objects = objectsAround(evidence, path);
      return {
        path,
        types: textsOf(types),
        seen: String(occurrences(types)),
        // Only members are present or not.
        ...(objects === null ? {} : { of: String(objects) }),
      };
    }),
  };
}

/** How far the evidence goes. */
export function shownCoverage(evidence: LearnedEvidence) {
  return {
    state: coverageState(evidence),
    requests: String(evidence.requests),
    samples: String(evidence.samples),
    not_learned: textsOf(evidence.gaps),
    dropped: textsOf(evidence.dropped),
    // What a node counted and lost before it was reported leaves no trace.
    lost_reports: 'not_known',
  };
}

function textsOf(counts: Readonly<Record<string, number>>): Record<string, string> {
  return Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, String(count)]));
}

function timeOf(atMs: number): string {
  return atMs === 0 ? '' : new Date(atMs).toISOString();
}
