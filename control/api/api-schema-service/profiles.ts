/** Compiling documents into profiles, and choosing which operations are validated, and how. */

import { randomUUID } from 'node:crypto';
import {
  ApiSchemaService,
  SchemaBindingsSchema,
  SchemaProfileSchema,
  type StageSchemaBindingsRequest,
} from '../../../proto/gen/waf/v1/api_schema_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import type { CompileAnswer } from '../../documents/document-work.ts';
import type { ReportedOperation } from '../../documents/document-report.ts';
import type { BindingsDocument, ContractDocument } from '../../documents/stored-documents.ts';
import type {
  SchemaBindingsRecord,
  SchemaProfileRecord,
  SchemaSourceRecord,
} from '../../domain/documents/api-records.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { schemaBindings, schemaProfiles } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { callerOf, type Uses } from '../context.ts';
import { isoNow, toMessage } from '../convert.ts';
import { writeOnce } from '../idempotency.ts';
import type { Built } from '../method.ts';
import { storedSite } from '../site-service/stored-site.ts';
import { contractOf } from './declarations.ts';
import { checkMappings } from './mappings.ts';
import {
  allOfSite,
  content,
  contentJson,
  contentText,
  keepStaged,
  objectOfSite,
  pageBefore,
  putText,
  revisionsBefore,
  sourceOf,
  textSha256,
} from './objects.ts';
import { keepReport } from './reports.ts';
import { makeDraftRoom } from './retention.ts';

type Methods = Pick<
  Built<typeof ApiSchemaService>,
  | 'stageSchemaProfile'
  | 'listSchemaProfiles'
  | 'getSchemaProfile'
  | 'stageSchemaBindings'
  | 'getSchemaBindings'
  | 'listSchemaBindings'
>;

/** Methods on profiles and bindings. */
export function profileMethods(parts: Uses<'store' | 'clock' | 'documents'>): Methods {
  const { store } = parts;
  return {
    stageSchemaProfile: async (request, context) => {
      const caller = callerOf(context);
      const site = storedSite(store, caller, request.siteId, 'siteId');
      const source = sourceOf(store, site.id, request.sourceId);
      const mappings = checkMappings(site, request.mappings);
      const documentJson = contentText(store, source.documentBlob);
      const { sourceSha256 } = source;
      const question = { type: 'compile' as const, documentJson, sourceSha256, mappings };
      const compiled = await parts.documents(question);
      const method = ApiSchemaService.method.stageSchemaProfile;
      return writeOnce(parts, caller, method, request, (tx) => {
        const profile = keepProfile(tx, caller, site, source, compiled, isoNow(parts.clock));
        const { reportId, reportSha256, hasChecks } = profile;
        return toMessage(method.output, { profile, reportId, reportSha256, hasChecks });
      });
    },
    listSchemaProfiles: ({ siteId, sourceId, beforeRevision }, context) => {
      const site = storedSite(store, callerOf(context), siteId, 'siteId');
      const all = allOfSite(store, schemaProfiles, site.id).filter(
        (one) => sourceId === '' || one.sourceId === sourceId,
      );
      const { items, next } = revisionsBefore(all, beforeRevision);
      const profiles = items.map((one) => toMessage(SchemaProfileSchema, one));
      return { profiles, nextBeforeRevision: next };
    },
    getSchemaProfile: ({ siteId, profileId }, context) => {
      const site = storedSite(store, callerOf(context), siteId, 'siteId');
      const profile = profileOf(store, site.id, profileId, 'profileId');
      const profileJson = content(store, profile.blob);
      return { profile: toMessage(SchemaProfileSchema, profile), profileJson };
    },
    stageSchemaBindings: (request, context) => {
      const caller = callerOf(context);
      const site = storedSite(store, caller, request.siteId, 'siteId');
      const method = ApiSchemaService.method.stageSchemaBindings;
      return writeOnce(parts, caller, method, request, (tx) => {
        const bindings = keepBindings(tx, caller, site, request, isoNow(parts.clock));
        return toMessage(method.output, { bindings });
      });
    },
    getSchemaBindings: ({ siteId, bindingId }, context) => {
      const site = storedSite(store, callerOf(context), siteId, 'siteId');
      const bindings = bindingsOf(store, site.id, bindingId, 'bindingId');
      const bindingsJson = content(store, bindings.blob);
      return { bindings: toMessage(SchemaBindingsSchema, bindings), bindingsJson };
    },
    listSchemaBindings: ({ siteId, declarationId, beforeId }, context) => {
      const site = storedSite(store, callerOf(context), siteId, 'siteId');
      const all = store
        .find(schemaBindings, 'site', site.id)
        .filter((one) => declarationId === '' || one.declarationId === declarationId);
      const { items, next } = pageBefore(all, beforeId, 'binding');
      return {
        bindings: items.map((one) => toMessage(SchemaBindingsSchema, one)),
        nextBeforeId: next,
      };
    },
  };
}

/** A profile of a site. Errors: invalid_argument at `field`, not_found. */
export function profileOf(
  store: ReadStore,
  siteId: string,
  id: string,
  field: string,
): SchemaProfileRecord {
  return objectOfSite(store, schemaProfiles, 'API profile', siteId, id, field);
}

/** Bindings of a site. Errors: invalid_argument at `field`, not_found. */
export function bindingsOf(
  store: ReadStore,
  siteId: string,
  id: string,
  field: string,
): SchemaBindingsRecord {
  return objectOfSite(store, schemaBindings, 'API binding', siteId, id, field);
}

/** What is shown of a profile: what is checked of each operation, and nothing that runs. */
interface ProfileDocument {
  readonly format: 'waf.schema_profile.v2';
  readonly operations: readonly ReportedOperation[];
}

function keepProfile(
  tx: WriteStore,
  caller: Caller,
  site: SiteRecord,
  source: SchemaSourceRecord,
  compiled: CompileAnswer,
  now: string,
): SchemaProfileRecord {
  // It may have gone while it was worked on.
  sourceOf(tx, site.id, source.id);
  const base = { tenantId: site.tenantId, siteId: site.id, sourceId: source.id, createdAt: now };
  makeDraftRoom(tx, schemaProfiles, site.id, ({ blob, artifactBlob }) => [blob, artifactBlob]);
  const report = keepReport(tx, base, compiled.report);
  const { artifactSha256, artifactJson, operations, hasChecks } = compiled;
  const document = {
    format: 'waf.schema_profile.v2',
    sourceId: source.id,
    sourceSha256: source.sourceSha256,
    artifactSha256,
    reportSha256: report.reportSha256,
    operations,
  };
  const json = canonicalJson(document);
  const id = `profile-${randomUUID()}`;
  const record: SchemaProfileRecord = {
    ...base,
    id,
    revision: String(tx.next(`schema-profile ${site.id}`)),
    profileSha256: textSha256(json),
    artifactSha256,
    operationCount: operations.length,
    sizeBytes: Buffer.byteLength(json),
    reportId: report.id,
    reportSha256: report.reportSha256,
    hasChecks,
    blob: putText(tx, `api-profile-${id}`, json),
    artifactBlob: putText(tx, `api-artifact-${id}`, artifactJson),
    artifactBytes: Buffer.byteLength(artifactJson),
  };
  const kind = { collection: schemaProfiles, audit: 'schema_profile' };
  return keepStaged(tx, caller, kind, record, { artifactSha256 });
}

function keepBindings(
  tx: WriteStore,
  caller: Caller,
  site: SiteRecord,
  request: StageSchemaBindingsRequest,
  now: string,
): SchemaBindingsRecord {
  const contract = contractOf(tx, site.id, request.declarationId, 'declarationId');
  const profile = profileOf(tx, site.id, request.profileId, 'profileId');
  if (contract.sourceId !== profile.sourceId) {
    throw invalidField('profileId', 'must be a profile of the document of the declaration');
  }
  const chosen = choose(
    contentJson<ContractDocument>(tx, contract.blob),
    contentJson<ProfileDocument>(tx, profile.blob),
    request,
  );
  makeDraftRoom(tx, schemaBindings, site.id, ({ blob }) => [blob]);
  const id = `binding-${randomUUID()}`;
  const document: BindingsDocument = {
    format: 'waf.schema_bindings.v1',
    siteId: site.id,
    declarationId: contract.id,
    declarationSha256: contract.sha256,
    profileId: profile.id,
    artifactSha256: profile.artifactSha256,
    acceptPartial: request.acceptPartial,
    ...chosen,
  };
  const json = canonicalJson(document);
  const record: SchemaBindingsRecord = {
    id,
    tenantId: site.tenantId,
    siteId: site.id,
    declarationId: contract.id,
    profileId: profile.id,
    sha256: textSha256(json),
    createdAt: now,
    blob: putText(tx, `api-binding-${id}`, json),
  };
  const kind = { collection: schemaBindings, audit: 'schema_bindings' };
  return keepStaged(tx, caller, kind, record, { sha256: record.sha256 });
}

function choose(
  contract: ContractDocument,
  profile: ProfileDocument,
  request: StageSchemaBindingsRequest,
): Pick<BindingsDocument, 'operations' | 'partialOperationKeys'> {
  const declared = new Set(contract.operations.map(({ key }) => key));
  const compiled = new Map(profile.operations.map((one) => [one.key, one]));
  const keys = [...new Set(request.operationKeys)].sort();
  if (keys.length === 0) {
    const problem = 'is required: to publish the declaration alone, name no binding';
    throw invalidField('operationKeys', problem);
  }
  for (const key of keys) {
    const place = `operationKeys: ${JSON.stringify(key.slice(0, 128))}`;
    if (!declared.has(key)) throw invalidField(place, 'is no operation of the declaration');
    if (!compiled.has(key)) throw invalidField(place, 'is no operation of the profile');
    if ((compiled.get(key)?.checked ?? 0) === 0) throw invalidField(place, 'has nothing to check');
  }
  const enforced = new Set(request.enforceOperationKeys);
  const stray = [...enforced].find((key) => !keys.includes(key));
  if (stray !== undefined) {
    throw invalidField('enforceOperationKeys', 'must be among operationKeys');
  }
  const partialOperationKeys = keys.filter((key) => (compiled.get(key)?.unchecked ?? 0) > 0);
  if (partialOperationKeys.length > 0 && !request.acceptPartial) {
    const [first = ''] = partialOperationKeys;
    const many = partialOperationKeys.length;
    const message =
      `acceptPartial: ${many} operations are checked in part, the first is ${first}; read the ` +
      'report of the profile, then accept it or leave them out';
    throw refusal('failed_precondition', message);
  }
  const operations = keys.map((key) => ({
    key,
    mode: enforced.has(key) ? ('enforce' as const) : ('observe' as const),
  }));
  return { operations, partialOperationKeys };
}
