/** Stages an API document on a site: its declaration, its checks, and which of them are used. */

import type { Site } from '../../../proto/gen/waf/v1/site_pb.ts';
import { AppError } from '../../../base/errors.ts';
import type { DocumentModel } from '../../documents/document-model.ts';
import {
  readAnswer,
  type Declared,
  type DiagnosticsPage,
  type Profile,
  type Reconciliation,
  type ReportedDiagnostic,
  type Validation,
} from './api-answers.ts';
import type { ApiClient } from '../api-client.ts';
import { documentFormat, readDocumentFile } from './api-document-file.ts';
import { planMappings, type PlannedMapping } from './api-mappings.ts';
import { planModes, type PlannedOperation, type WantedMode } from './api-modes.ts';
import type { StagedChange } from './api-publication.ts';
import {
  listFlag,
  switchFlag,
  textFlag,
  type CommandContext,
  type FlagValues,
} from '../command.ts';
import { badFlag } from '../input.ts';
import { waitFor } from '../policy-progress.ts';

/** Stages everything; nothing is active afterwards. Errors: AppError bad_flag, ConnectError. */
export async function stageImport(
  context: CommandContext,
  path: string,
  flags: FlagValues,
): Promise<StagedChange> {
  const siteId = textFlag(flags, 'site') ?? '';
  const api = await context.api();
  const { site } = await api.sites.getSite({ id: siteId });
  if (site === undefined) throw badFlag(`--site: no site has the id ${siteId}`);
  const { validationJson } = await api.apiSchemas.getSchemaValidation({ siteId });
  const now = readAnswer<Validation>(validationJson);
  const { sourceId, mappings } = await stageDocument(context, site, path, flags);
  const contractId = await stageDeclaration(context, siteId, sourceId, mappings, flags);
  const { profileId, reportId, compiled } = await stageChecks(context, siteId, sourceId, mappings);
  const modes = new Map(now.operations.map(({ key, mode }) => [key, mode]));
  const meant = new Set(compiled.map(({ key }) => key));
  const operations = planModes(compiled, modes, { ...wantedMode(flags), meant });
  return {
    siteId,
    snapshotSha256: now.snapshotSha256,
    contractId,
    bindingId: await stageModes(api, siteId, contractId, profileId, operations),
    undeclaredAction: textFlag(flags, 'undeclared') ?? '',
    operations,
    mappings,
    ...(await readDiagnostics(api, siteId, reportId)),
    reason: textFlag(flags, 'reason') ?? 'waf api import',
  };
}

function wantedMode(flags: FlagValues): Omit<WantedMode, 'meant'> {
  const [observe, enforce] = [switchFlag(flags, 'observe'), switchFlag(flags, 'enforce')];
  if (observe && enforce) throw badFlag('give either --observe or --enforce');
  const mode = enforce ? 'enforce' : observe ? 'observe' : '';
  return { mode, partial: switchFlag(flags, 'partial') };
}

async function stageDocument(
  context: CommandContext,
  site: Site,
  path: string,
  flags: FlagValues,
): Promise<{ sourceId: string; mappings: PlannedMapping[] }> {
  wantedMode(flags);
  const { bytes, fileName } = readDocumentFile(path);
  const format = documentFormat(path, bytes);
  const named = { hosts: listFlag(flags, 'host'), basePath: textFlag(flags, 'basePath') };
  const model = await readModel(bytes, format, path);
  if (model.operations.length === 0) throw badFlag(`${path}: declares no operation`);
  const mappings = planMappings(model, [site.primaryHost, ...site.aliases], named);
  const { apiSchemas } = await context.api();
  const { source } = await waitFor(context, 'Reading the document', (options) =>
    apiSchemas.stageSchemaSource(
      { siteId: site.id, name: textFlag(flags, 'name') ?? fileName, format, source: bytes },
      options,
    ),
  );
  return { sourceId: source?.id ?? '', mappings };
}

/** The document as the service reads it. Errors: AppError bad_flag with line and column. */
async function readModel(
  bytes: Uint8Array,
  format: 'json' | 'yaml',
  path: string,
): Promise<DocumentModel> {
  const { readDocument } = await import('../../documents/read-document.ts');
  try {
    return await readDocument(bytes, format);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw badFlag(error.message.replace(/^source:/, `${path}:`));
  }
}

async function stageDeclaration(
  context: CommandContext,
  siteId: string,
  sourceId: string,
  mappings: readonly PlannedMapping[],
  flags: FlagValues,
): Promise<string> {
  const { apiSchemas } = await context.api();
  const request = { siteId, sourceId, mappings: [...mappings] };
  const preview = await waitFor(context, 'Reading the operations', (options) =>
    apiSchemas.previewApiDeclaration(request, options),
  );
  const { scopes } = readAnswer<Declared>(preview.declarationJson);
  const { operations } = readAnswer<Reconciliation>(preview.reconciliationJson);
  const unclear = operations.filter(({ state }) => state === 'ambiguous').map(({ key }) => key);
  if (unclear.length > 0 && !switchFlag(flags, 'newEntries')) {
    throw badFlag(
      `${unclear.length} operations may be one of several catalog entries, the first is ` +
        `${unclear[0]}. Add --new-entries to make new ones, or decide each with ` +
        'waf api-document declaration-stage.',
    );
  }
  const { contract } = await waitFor(context, 'Storing the declaration', (options) =>
    apiSchemas.stageApiDeclaration(
      {
        ...request,
        reportSha256: preview.reportSha256,
        catalogSha256: preview.catalogSha256,
        decisions: unclear.map((key) => ({ key, createNew: true, acknowledged: true })),
        coverage: scopes.map(({ sha256 }) => ({
          ...{ scopeSha256: sha256, state: 'partial', acknowledged: true },
        })),
      },
      options,
    ),
  );
  return contract?.id ?? '';
}

async function stageChecks(
  context: CommandContext,
  siteId: string,
  sourceId: string,
  mappings: readonly PlannedMapping[],
) {
  const { apiSchemas } = await context.api();
  const request = { siteId, sourceId, mappings: [...mappings] };
  const { profile, reportId } = await waitFor(context, 'Compiling the checks', (options) =>
    apiSchemas.stageSchemaProfile(request, options),
  );
  const profileId = profile?.id ?? '';
  return {
    profileId,
    reportId,
    compiled: await compiledOperations(await context.api(), siteId, profileId),
  };
}

/** The operations of compiled checks, with how much of each is checked. */
export async function compiledOperations(
  { apiSchemas }: ApiClient,
  siteId: string,
  profileId: string,
) {
  const { profileJson } = await apiSchemas.getSchemaProfile({ siteId, profileId });
  return readAnswer<Profile>(profileJson)
    .operations.filter(({ key }) => key !== '')
    .map(({ key, checked = 0, unchecked = 0 }) => ({ key, checked, unchecked }));
}

/** Stages which operations are used, and how; '' where none is. */
export async function stageModes(
  { apiSchemas }: ApiClient,
  siteId: string,
  declarationId: string,
  profileId: string,
  operations: readonly PlannedOperation[],
): Promise<string> {
  const used = operations.filter(({ after }) => after !== 'off');
  if (used.length === 0) return '';
  const { bindings } = await apiSchemas.stageSchemaBindings({
    ...{ siteId, declarationId, profileId },
    operationKeys: used.map(({ key }) => key),
    enforceOperationKeys: used.filter(({ after }) => after === 'enforce').map(({ key }) => key),
    acceptPartial: used.some(({ unchecked }) => unchecked > 0),
  });
  return bindings?.id ?? '';
}

/** Every diagnostic of a report. */
async function readDiagnostics(
  { apiSchemas }: ApiClient,
  siteId: string,
  reportId: string,
): Promise<{ diagnostics: ReportedDiagnostic[]; omitted: number }> {
  const diagnostics: ReportedDiagnostic[] = [];
  for (let offset = 0; ;) {
    const { pageJson } = await apiSchemas.getApiDocumentReport({
      ...{ siteId, reportId, kind: 'diagnostics', offset },
    });
    const { items, omitted, nextOffset } = readAnswer<DiagnosticsPage>(pageJson);
    diagnostics.push(...items);
    if (nextOffset === null || nextOffset <= offset) return { diagnostics, omitted };
    offset = nextOffset;
  }
}
