/**
 * Drafts of documents that change one operation: its request part, or its place in the catalog.
 * A draft is a document as any other; nothing is in use before it is declared and published.
 */

import { ApiSchemaService, SchemaSourceSchema } from '../../../proto/gen/waf/v1/api_schema_pb.ts';
import { meets, type Caller } from '../../auth/permissions.ts';
import {
  editOperation,
  removeOperation,
  requestPart,
  withOperation,
} from '../../documents/edit-document.ts';
import { isObject, type JsonObject } from '../../documents/pointer.ts';
import type { ContractDocument } from '../../documents/stored-documents.ts';
import { withOwnNames } from '../../domain/documents/api-learning.ts';
import type { SchemaSourceRecord } from '../../domain/documents/api-records.ts';
import { invalidField, notFound, refusal } from '../../domain/errors.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { schemaSources } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, requireText, toMessage } from '../convert.ts';
import { writeOnce } from '../idempotency.ts';
import type { Built } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { declarationInUse, mappingsWith } from './declaration-in-use.ts';
import { contractOf } from './declarations.ts';
import { endpointOf } from './learned-state.ts';
import { contentJson, jsonBytes, sourceOf } from './objects.ts';
import { keepSource } from './sources.ts';

type Methods = Pick<
  Built<typeof ApiSchemaService>,
  'stageApiCatalogChange' | 'getApiRequestDocument' | 'stageApiRequestDocument'
>;

/** Methods on drafts of one operation. */
export function requestDocumentMethods(
  parts: Uses<'store' | 'clock' | 'counters' | 'documents'>,
): Methods {
  const { store } = parts;
  return {
    stageApiCatalogChange: async (request, context) => {
      const caller = callerOf(context);
      const site = storedSite(store, caller, request.siteId, 'siteId');
      const change = catalogChange(store, parts, site, request);
      const bytes = jsonBytes(change.document);
      const read = await parts.documents({ type: 'read', bytes, format: 'json' });
      const method = ApiSchemaService.method.stageApiCatalogChange;
      return writeOnce(parts, caller, method, request, (tx) => {
        // What was read before may have moved meanwhile.
        catalogChange(tx, parts, site, request);
        const input = { name: change.name, format: 'json' as const, bytes, manuallyEdited: true };
        const source = keepSource(tx, caller, site, read, input, isoNow(parts.clock));
        return toMessage(method.output, {
          source,
          mappingsJson: Buffer.from(jsonBytes(change.mappings)).toString('base64'),
          affectedOperationKeys: change.affected,
          selectedOperationKey: change.selected,
        });
      });
    },
    getApiRequestDocument: ({ siteId, contractId, operationKey }, context) => {
      const caller = callerOf(context);
      const site = storedSite(store, caller, siteId, 'siteId');
      const place = operationPlace(store, site, contractId, operationKey);
      const shown = requestPart(documentOf(store, place.source), place.pointer);
      const draft = mayWrite(caller) ? latestDraft(store, contractId, operationKey) : undefined;
      return {
        source: toMessage(SchemaSourceSchema, place.source),
        requestJson: jsonBytes(shown),
        affectedOperationKeys: place.affected,
        ...(draft === undefined
          ? {}
          : {
              draft: toMessage(SchemaSourceSchema, draft),
              draftRequestJson: jsonBytes(requestPart(documentOf(store, draft), place.pointer)),
            }),
      };
    },
    stageApiRequestDocument: async (request, context) => {
      const caller = callerOf(context);
      const { contractId, operationKey, expectedDraftSourceId } = request;
      const site = storedSite(store, caller, request.siteId, 'siteId');
      const place = operationPlace(store, site, contractId, operationKey);
      const base = documentOf(store, latestDraft(store, contractId, operationKey) ?? place.source);
      const edited = editOperation(base, place.pointer, read(request.requestJson));
      const bytes = jsonBytes(edited);
      const answer = await parts.documents({ type: 'read', bytes, format: 'json' });
      const method = ApiSchemaService.method.stageApiRequestDocument;
      return writeOnce(parts, caller, method, request, (tx) => {
        const latest = latestDraft(tx, contractId, operationKey)?.id ?? '';
        if (latest !== expectedDraftSourceId) {
          const problem = 'another draft was staged since; read the request document again';
          throw refusal('aborted', `expectedDraftSourceId: ${problem}`);
        }
        const draftOf = { contractId, operationKey };
        const name = place.source.name ?? '';
        const input = { name, format: 'json' as const, bytes, manuallyEdited: true, draftOf };
        const source = keepSource(tx, caller, site, answer, input, isoNow(parts.clock));
        return toMessage(method.output, { source });
      });
    },
  };
}

const writers = {
  public: false,
  anyPermission: [],
  allPermission: ['api_inventory:write', 'site:write'],
};

/** Only callers who may write documents see drafts. */
function mayWrite({ permissions }: Caller): boolean {
  return meets(writers, permissions);
}

function documentOf(store: ReadStore, source: SchemaSourceRecord): JsonObject {
  return contentJson<JsonObject>(store, source.documentBlob);
}

function latestDraft(
  store: ReadStore,
  contractId: string,
  operationKey: string,
): SchemaSourceRecord | undefined {
  return store
    .find(schemaSources, 'draft', `${contractId} ${operationKey}`)
    .sort((one, other) => Number(other.revision) - Number(one.revision))[0];
}

function read(requestJson: Uint8Array): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(requestJson).toString('utf8'));
  } catch {
    throw invalidField('requestJson', 'must be a JSON object');
  }
  if (!isObject(value)) throw invalidField('requestJson', 'must be a JSON object');
  return value;
}

function operationPlace(store: ReadStore, site: SiteRecord, contractId: string, key: string) {
  const contract = contractOf(store, site.id, contractId, 'contractId');
  const { operations } = contentJson<ContractDocument>(store, contract.blob);
  const found = operations.find((one) => one.key === requireText(key, 'operationKey'));
  if (found === undefined) throw notFound('operation of the declaration', key);
  const affected = operations.filter(({ pointer }) => pointer === found.pointer);
  const source = sourceOf(store, site.id, contract.sourceId);
  return { source, pointer: found.pointer, affected: affected.map((one) => one.key) };
}

interface CatalogRequest {
  readonly assetId: string;
  readonly expectedAssetRevision: bigint;
  readonly expectedContractId: string;
  readonly action: string;
}

/** An endpoint that only traffic showed has no record yet: its revision is 0. */
function catalogChange(
  store: ReadStore,
  parts: Uses<'counters'>,
  site: SiteRecord,
  request: CatalogRequest,
) {
  const endpoint = endpointOf(store, parts, site, request.assetId);
  if (BigInt(endpoint.record?.revision ?? 0) !== request.expectedAssetRevision) {
    throw refusal('aborted', 'expectedAssetRevision: the asset changed since; read it again');
  }
  const inUse = declarationInUse(store, site.id, request.expectedContractId);
  const { contract, document, name = 'API catalog' } = inUse;
  const known = contract?.operations.find(({ assetId }) => assetId === endpoint.assetId);
  if (request.action === 'remove') {
    if (known === undefined || document === null) {
      throw refusal('failed_precondition', 'assetId: is not in the declaration in use');
    }
    const affected = contract?.operations.filter(({ pointer }) => pointer === known.pointer) ?? [];
    return {
      document: removeOperation(document, known.pointer),
      mappings: contract?.mappings ?? [],
      affected: affected.map(({ key }) => key),
      selected: known.key,
      name,
    };
  }
  if (request.action !== 'add') throw invalidField('action', 'must be add or remove');
  if (known !== undefined) {
    throw refusal('failed_precondition', 'assetId: is in the declaration in use already');
  }
  const { method, host } = endpoint;
  const path = withOwnNames(endpoint.path);
  const { mappings, basePath } = mappingsWith(contract, { host, path });
  const key = `${method} ${host}${path}`;
  return {
    document: withOperation(document, path.slice(basePath.length), method),
    mappings,
    affected: [key],
    selected: key,
    name,
  };
}
