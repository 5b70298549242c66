/**
 * Keeping what an endpoint learned as drafts, and making documents of them. A document is a draft
 * as any other: nothing is in use before it is declared, reviewed and published.
 */

import { randomUUID } from 'node:crypto';
import {
  ApiSchemaService,
  type StageLearnedDocumentRequest,
} from '../../../proto/gen/waf/v1/api_schema_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { learnedDocument, type LearnedPlace } from '../../documents/learned-document.ts';
import type { JsonObject } from '../../documents/pointer.ts';
import {
  type ApiLearningRecord,
  type LearnedDraftRecord,
  type LearnedEvidence,
} from '../../domain/documents/api-learning.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import { notFound, refusal } from '../../domain/errors.ts';
import { jsonSha256 } from '../../domain/documents/operation-control.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { apiDocumentLimits } from '../../limits/api-document-limits.ts';
import { apiLearning, learnedDrafts } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, requireText, toMessage } from '../convert.ts';
import { writeOnce } from '../idempotency.ts';
import type { Built } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { declarationInUse, mappingsWith } from './declaration-in-use.ts';
import { draftsOf, endpointOf, evidenceOf, shownCoverage, shownEvidence } from './learned-state.ts';
import {
  content,
  contentJson,
  jsonBytes,
  keepStaged,
  objectOfSite,
  putText,
  textSha256,
} from './objects.ts';
import { keepSource } from './sources.ts';

type Methods = Pick<
  Built<typeof ApiSchemaService>,
  'snapshotSchemaLearning' | 'stageLearnedDocument' | 'exportLearnedDocument'
>;

const draftFormat = 'waf.schema_learning_revision.v1';

/** A draft as it is kept. */
interface DraftDocument {
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly learned: LearnedEvidence;
}

/** Methods on drafts of what was learned. */
export function learnedDraftMethods(
  parts: Uses<'store' | 'clock' | 'counters' | 'documents'>,
): Methods {
  const { store } = parts;
  return {
    snapshotSchemaLearning: async ({ siteId, assetId }, context) => {
      const caller = callerOf(context);
      const site = storedSite(store, caller, siteId, 'siteId');
      const draft = await store.write((tx) => {
        endpointOf(tx, parts, site, assetId);
        const record = tx.get(apiLearning, assetId);
        const evidence = evidenceOf(parts, record);
        if (record === undefined || evidence.samples === 0) {
          throw refusal('failed_precondition', 'assetId: nothing was learned of it yet');
        }
        return keepDraft(tx, caller, record, evidence, isoNow(parts.clock));
      });
      return { revisionJson: content(store, draft.blob) };
    },
    stageLearnedDocument: async (request, context) => {
      const caller = callerOf(context);
      const site = storedSite(store, caller, request.siteId, 'siteId');
      const method = ApiSchemaService.method.stageLearnedDocument;
      const staged = attempt(() => stagedDocument(store, site, request));
      if ('refused' in staged) {
        // A retry gets its first answer, whatever moved since.
        return writeOnce(parts, caller, method, request, () => {
          throw staged.refused;
        });
      }
      const bytes = jsonBytes(staged.document);
      const read = await parts.documents({ type: 'read', bytes, format: 'json' });
      return writeOnce(parts, caller, method, request, (tx) => {
        // What was read before may have moved meanwhile.
        stagedDocument(tx, site, request);
        const source = keepSource(
          tx,
          caller,
          site,
          read,
          {
            name: staged.name,
            format: 'json',
            bytes,
            learnedRevisionId: staged.draft.id,
            learnedSha256: staged.draft.sha256,
            learnedMappingsJson: Buffer.from(jsonBytes(staged.mappings)).toString('base64'),
          },
          isoNow(parts.clock),
        );
        return toMessage(method.output, { source });
      });
    },
    exportLearnedDocument: (request, context) => {
      const site = storedSite(store, callerOf(context), request.siteId, 'siteId');
      const { draft, learned } = draftOf(store, site, request);
      const { method, path, learned: evidence } = learned;
      const made = learnedDocument(null, { method, path, evidence, pointer: '' });
      if ('problem' in made) throw new Error('a new document has no operation');
      return { documentJson: jsonBytes(withOrigin(made.document, draft, evidence)) };
    },
  };
}

function attempt<T extends object>(make: () => T): T | { readonly refused: unknown } {
  try {
    return make();
  } catch (refused) {
    return { refused };
  }
}

/** The newest draft where it has the same evidence, else a new one; of too many the oldest goes. */
function keepDraft(
  tx: WriteStore,
  caller: Caller,
  { id: assetId, tenantId, siteId, method, host, path }: ApiLearningRecord,
  learned: LearnedEvidence,
  createdAt: string,
): LearnedDraftRecord {
  const evidenceSha256 = jsonSha256(learned);
  const drafts = draftsOf(tx, assetId);
  const last = drafts.at(-1);
  if (last?.evidenceSha256 === evidenceSha256) return last;
  const surplus = drafts.length + 1 - apiDocumentLimits.learnedDraftsMax;
  for (const old of drafts.slice(0, Math.max(0, surplus))) {
    tx.removeBlob(old.blob);
    tx.remove(learnedDrafts, old.id);
  }
  const id = `learned-${randomUUID()}`;
  const revision = (last?.revision ?? 0) + 1;
  const shown = { evidence: shownEvidence(learned), coverage: shownCoverage(learned) };
  const head = { schema: draftFormat, revision_id: id, revision: String(revision) };
  const place = { site_id: siteId, asset_id: assetId, method, host, path };
  const body = { ...head, ...place, created_at: createdAt, ...shown, learned };
  const sha256 = textSha256(canonicalJson(body));
  const blob = putText(tx, `learned-draft-${id}`, canonicalJson({ ...body, sha256 }));
  const kept = { tenantId, siteId, assetId, revision, evidenceSha256, sha256, createdAt };
  const record: LearnedDraftRecord = { id, ...kept, blob };
  const kind = { collection: learnedDrafts, audit: 'learned_draft' };
  const samples = String(learned.samples);
  return keepStaged(tx, caller, kind, record, { assetId, revision, sha256, samples });
}

/** A draft of an asset. Errors: invalid_argument, not_found. */
function draftOf(
  store: ReadStore,
  site: SiteRecord,
  { assetId, revisionId }: { readonly assetId: string; readonly revisionId: string },
) {
  requireText(assetId, 'assetId');
  const kind = 'learned revision';
  const draft = objectOfSite(store, learnedDrafts, kind, site.id, revisionId, 'revisionId');
  if (draft.assetId !== assetId) throw notFound(kind, revisionId);
  return { draft, learned: contentJson<DraftDocument>(store, draft.blob) };
}

/** Says where the document comes from, and that the evidence is a sample. */
function withOrigin(
  document: JsonObject,
  { id, sha256 }: LearnedDraftRecord,
  evidence: LearnedEvidence,
): JsonObject {
  const learning = { revision_id: id, revision_sha256: sha256, coverage: shownCoverage(evidence) };
  return { ...document, 'x-waf-learning': learning };
}

/**
 * The document in use, or a new one, with what was learned. Errors: aborted where another
 * declaration is in use, failed_precondition where the document says something of the body.
 */
function stagedDocument(store: ReadStore, site: SiteRecord, request: StageLearnedDocumentRequest) {
  const { draft, learned } = draftOf(store, site, request);
  const inUse = declarationInUse(store, site.id, request.expectedContractId);
  const { contract, document: base } = inUse;
  const { mappings, basePath } = mappingsWith(contract, learned);
  const place: LearnedPlace = {
    method: learned.method,
    path: learned.path.slice(basePath.length),
    evidence: learned.learned,
    pointer: contract?.operations.find(({ assetId }) => assetId === draft.assetId)?.pointer ?? '',
  };
  const made = learnedDocument(base, place);
  if ('problem' in made) throw authored(made.problem);
  const name = inUse.name ?? `Learned ${learned.method} ${learned.path}`;
  return { draft, document: made.document, mappings, name };
}

function authored(problem: 'operation' | 'request_body') {
  const what =
    problem === 'operation'
      ? 'the document in use has this operation for other hosts'
      : 'the document in use says what the body of this operation is';
  return refusal(
    'failed_precondition',
    `assetId: ${what}; learning never overwrites it: export it`,
  );
}
