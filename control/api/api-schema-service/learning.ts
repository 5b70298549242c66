/**
 * ApiSchemaService/GetSchemaLearning and ChangeSchemaLearning: which endpoints learn the structure
 * of request bodies. Learning never changes what happens to a request.
 */

import {
  ApiSchemaService,
  GetSchemaLearningResponseSchema,
  type ChangeSchemaLearningRequest,
} from '../../../proto/gen/waf/v1/api_schema_pb.ts';
import { create } from '@bufbuild/protobuf';
import type { Caller } from '../../auth/permissions.ts';
import { parsePath } from '../../documents/path-template.ts';
import {
  learningMethods as bodyMethods,
  learningStateOf,
  learningStates,
  withOwnNames,
  type ApiLearningRecord,
  type LearningEvent,
} from '../../domain/documents/api-learning.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { apiDocumentLimits } from '../../limits/api-document-limits.ts';
import { apiAssets, apiLearning, learnedDrafts } from '../../store/collections.ts';
import type { WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, toMessage } from '../convert.ts';
import { writeOnce } from '../idempotency.ts';
import type { Built } from '../method.ts';
import { keep, type Kept } from '../resource/owned.ts';
import { storedSite } from '../site-service/stored-site.ts';
import type { Endpoint } from '../telemetry/endpoints.ts';
import { draftsOf, endpointOf, evidenceOf, shownState } from './learned-state.ts';
import { jsonBytes } from './objects.ts';

type Methods = Pick<Built<typeof ApiSchemaService>, 'getSchemaLearning' | 'changeSchemaLearning'>;

/** Methods on learning itself. */
export function learningMethods(parts: Uses<'store' | 'clock' | 'counters'>): Methods {
  const { store, counters } = parts;
  return {
    getSchemaLearning: ({ siteId, assetId }, context) => {
      const site = storedSite(store, callerOf(context), siteId, 'siteId');
      const endpoint = endpointOf(store, parts, site, assetId);
      const record = store.get(apiLearning, assetId);
      const evidence = evidenceOf(parts, record);
      const state = shownState(store, endpoint, site.id, record, evidence);
      return create(GetSchemaLearningResponseSchema, {
        stateJson: Buffer.from(canonicalJson(state), 'utf8'),
      });
    },
    changeSchemaLearning: async (request, context) => {
      const caller = callerOf(context);
      const site = storedSite(store, caller, request.siteId, 'siteId');
      const method = ApiSchemaService.method.changeSchemaLearning;
      const answer = await writeOnce(parts, caller, method, request, (tx) => {
        const endpoint = endpointOf(tx, parts, site, request.assetId);
        const nowIso = isoNow(parts.clock);
        const record = changeLearning(tx, caller, { site, endpoint, nowIso }, request);
        const evidence = evidenceOf(parts, record);
        const state = shownState(tx, endpoint, site.id, record, evidence);
        return toMessage(method.output, {
          stateJson: Buffer.from(jsonBytes(state)).toString('base64'),
        });
      });
      // Rows of the earlier generation are never read again: the sweep removes them in any case.
      if (request.purge) await counters.forgetLearned();
      return answer;
    },
  };
}

/** What is learned of endpoints. */
const learningKind: Kept<ApiLearningRecord> = {
  collection: apiLearning,
  audit: 'schema_learning',
  nameOf: ({ method, path }) => `${method} ${path}`,
};

interface Place {
  readonly site: SiteRecord;
  readonly endpoint: Endpoint;
  readonly nowIso: string;
}

function changeLearning(
  tx: WriteStore,
  caller: Caller,
  place: Place,
  request: ChangeSchemaLearningRequest,
): ApiLearningRecord | undefined {
  const { assetId } = place.endpoint;
  const event = eventOf(request);
  const before = tx.get(apiLearning, assetId);
  if (BigInt(before?.revision ?? 0) !== request.expectedRevision) {
    throw refusal('aborted', 'expectedRevision: learning was changed since; read it again');
  }
  const next = learningStates[learningStateOf(before)][event];
  if (next === null) return before;
  if (event === 'start') requireEligible(tx, place);
  const base = before ?? firstRecord(tx, place);
  const record: ApiLearningRecord = {
    ...base,
    enabled: next === 'on',
    generation: base.generation + (event === 'purge' ? 1 : 0),
    revision: base.revision + 1,
    updatedAt: place.nowIso,
  };
  return keep(tx, caller, learningKind, before, record, { action: event }, () => {
    for (const draft of event === 'purge' ? draftsOf(tx, assetId) : []) {
      tx.removeBlob(draft.blob);
      tx.remove(learnedDrafts, draft.id);
    }
  });
}

function eventOf({ enabled, purge }: ChangeSchemaLearningRequest): LearningEvent {
  if (!purge) return enabled ? 'start' : 'stop';
  if (enabled) throw invalidField('purge', 'stops learning, too: leave enabled false');
  return 'purge';
}

/** Errors: failed_precondition, resource_exhausted. */
function requireEligible(tx: WriteStore, { site, endpoint: { method, path } }: Place): void {
  if (!bodyMethods.includes(method)) {
    const problem = `only endpoints of ${bodyMethods.join(', ')} learn`;
    throw refusal('failed_precondition', `assetId: ${problem}`);
  }
  if ('problem' in parsePath(withOwnNames(path))) {
    throw refusal('failed_precondition', 'assetId: requests cannot be told by this path');
  }
  const all = tx.list(apiLearning).filter(({ enabled }) => enabled);
  const ofSite = all.filter(({ siteId }) => siteId === site.id).length;
  const { learningMax, learningPerSiteMax } = apiDocumentLimits;
  if (ofSite < learningPerSiteMax && all.length < learningMax) return;
  const most = `${learningPerSiteMax} endpoints of a site and ${learningMax} of all learn at once`;
  throw refusal('resource_exhausted', `At most ${most}; stop another one first.`);
}

/** The record of an endpoint that never learned; its asset gets a record, too. */
function firstRecord(tx: WriteStore, { site, endpoint, nowIso }: Place): ApiLearningRecord {
  const { assetId, method, host, record } = endpoint;
  const path = withOwnNames(endpoint.path);
  const base = { id: assetId, tenantId: site.tenantId, siteId: site.id, method, host, path };
  if (record === undefined) {
    const count = tx.find(apiAssets, 'site', site.id).length;
    if (count >= apiDocumentLimits.assetsPerSiteMax) {
      throw refusal('resource_exhausted', 'the site has as many assets as may be');
    }
    const times = { createdAt: nowIso, updatedAt: nowIso };
    tx.put(apiAssets, { ...base, ...times, revision: 1, cataloged: false, hidden: false });
  }
  return { ...base, enabled: false, generation: 1, revision: 0, updatedAt: nowIso };
}
