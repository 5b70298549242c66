/** `waf api-document`: each step of an API document, as the JSON of one request. */

import type { DescMessage, Message, MessageShape } from '@bufbuild/protobuf';
import type { CallOptions } from '@connectrpc/connect';
import type { ApiSchemaService } from '../../../proto/gen/waf/v1/api_schema_pb.ts';
import { answerTable } from '../answer-table.ts';
import { documentFormat, readDocumentFile } from './api-document-file.ts';
import {
  textFlag,
  type CommandContext,
  type CommandDefinition,
  type FlagDefinition,
  type FlagValues,
} from '../command.ts';
import { badFlag } from '../input.ts';
import { waitFor } from '../policy-progress.ts';
import { showMessage } from '../show.ts';
import { readRequest } from '../strict-request.ts';

type Rpc = keyof typeof ApiSchemaService.method;

/** Subcommands, what each calls, and what it does. */
export const apiDocumentSteps: readonly (readonly [name: string, rpc: Rpc, summary: string])[] = [
  ['upload', 'stageSchemaSource', 'Store an API document as a draft'],
  ['declaration-preview', 'previewApiDeclaration', 'Preview what a document declares on a site'],
  ['declaration-stage', 'stageApiDeclaration', 'Store a reviewed declaration as a draft'],
  ['profile-stage', 'stageSchemaProfile', 'Compile the checks of a document'],
  ['bindings-stage', 'stageSchemaBindings', 'Choose which operations are checked, and how'],
  ['preview', 'previewSchemaControl', 'Preview a publication; its answer holds the approval'],
  ['publish', 'changeSchemaControl', 'Publish what an approval describes'],
  ['binding', 'getSchemaBindings', 'Show one choice of operations'],
  ['bindings', 'listSchemaBindings', 'List choices of operations'],
  ['declaration', 'getSchemaContract', 'Show one reviewed declaration'],
  ['declarations', 'listSchemaContracts', 'List reviewed declarations'],
  ['detection', 'getSchemaDetection', 'Count what the checks found'],
  ['learning', 'getSchemaLearning', 'Show what is learned of an endpoint'],
  ['learning-change', 'changeSchemaLearning', 'Start or stop learning of an endpoint'],
  ['learning-export', 'exportLearnedDocument', 'Show a learned revision as a draft document'],
  ['learning-snapshot', 'snapshotSchemaLearning', 'Keep the present state of learning'],
  ['learning-stage', 'stageLearnedDocument', 'Store a learned revision as a document'],
  ['profile', 'getSchemaProfile', 'Show one set of compiled checks'],
  ['profiles', 'listSchemaProfiles', 'List compiled checks'],
  ['report', 'getApiDocumentReport', 'Show one page of a report'],
  ['reports', 'listApiDocumentReports', 'List the reports on a document'],
  ['source', 'getSchemaSource', 'Show a document as it was uploaded'],
  ['sources', 'listSchemaSources', 'List the documents of a site'],
];

/** What learning keeps and changes, where the name of a step does not tell. */
const learningHelp: Partial<Record<Rpc, string>> = {
  getSchemaLearning:
    'The state has names, types and presence of fields, never a value, what was not learned and ' +
    'why, and the drafts. ',
  changeSchemaLearning:
    'Endpoints of POST, PUT and PATCH learn from inspected JSON bodies. expectedRevision is the ' +
    'revision of the state, 0 at first. purge stops learning and forgets fields and drafts. ',
  snapshotSchemaLearning: 'An endpoint keeps seven drafts; the oldest goes. ',
  stageLearnedDocument:
    'The document is a draft that goes the usual way of review. What the document in use says of ' +
    'a body is never overwritten. ',
};

const fileFlag: FlagDefinition = {
  flags: '-f, --file <file>',
  summary: 'JSON of the request, at most 16 MiB; default is standard input',
};

const uploadFlags: readonly FlagDefinition[] = [
  { flags: '--document <file>', summary: 'document in JSON or YAML, in place of a request' },
  { flags: '--site <site>', summary: 'site of the document; id or name', resource: 'site' },
  { flags: '--name <name>', summary: 'name of the document; default is the name of its file' },
];

/** Commands on single steps. */
export const apiDocumentCommands: readonly CommandDefinition[] = apiDocumentSteps.map(
  ([name, rpc, summary]) => ({
    path: ['api-document', name],
    summary,
    help: helpOf(name, rpc),
    flags: rpc === 'stageSchemaSource' ? [fileFlag, ...uploadFlags] : [fileFlag],
    ...(rpc === 'changeSchemaControl' ? { published: true } : {}),
    run: (context, _args, flags) => runStep(context, rpc, flags),
  }),
);

function helpOf(name: string, rpc: Rpc): string {
  const method = `${rpc.slice(0, 1).toUpperCase()}${rpc.slice(1)}`;
  const request =
    `The request is the protobuf JSON of ApiSchemaService/${method}; unknown fields are refused. ` +
    'With --output json the answer is whole.';
  if (rpc !== 'stageSchemaSource') {
    const more = learningHelp[rpc] ?? '';
    return `${more}${request}\nExample: waf api-document ${name} -f request.json --output json`;
  }
  return (
    `${request} Its source is the document in base64; --document does that by itself.\n` +
    'Example: waf api-document upload --site shop --document openapi.yaml'
  );
}

async function runStep(context: CommandContext, rpc: Rpc, flags: FlagValues): Promise<number> {
  const { ApiSchemaService: service } = await import('../../../proto/gen/waf/v1/api_schema_pb.ts');
  const { input, output }: { input: DescMessage; output: DescMessage } = service.method[rpc];
  const request =
    (rpc === 'stageSchemaSource' ? await describedUpload(input, flags) : null) ??
    (await readRequest(input, textFlag(flags, 'file') ?? '-'));
  const { apiSchemas } = await context.api();
  // All methods take one message and answer with one.
  const call = apiSchemas[rpc] as (request: Message, options: CallOptions) => Promise<Message>;
  const answer = (await waitFor(context, 'Waiting for the answer', (options) =>
    call(request, options),
  )) as MessageShape<typeof output>;
  return showMessage(context, answer, await answerTable(output, answer));
}

/** The upload that flags describe; null where none does. Errors: AppError bad_flag. */
async function describedUpload(input: DescMessage, flags: FlagValues): Promise<Message | null> {
  const [path, siteId, name] = ['document', 'site', 'name'].map((one) => textFlag(flags, one));
  if (path === undefined) {
    if (siteId === undefined && name === undefined) return null;
    throw badFlag('--site and --name go with --document FILE');
  }
  if (textFlag(flags, 'file') !== undefined) throw badFlag('give either -f or --document');
  if (siteId === undefined) throw badFlag('--site is missing: name the site of the document');
  const { bytes, fileName } = readDocumentFile(path);
  const { create } = await import('@bufbuild/protobuf');
  return create(input, {
    siteId,
    name: name ?? fileName,
    format: documentFormat(path, bytes),
    source: bytes,
  } as Record<string, unknown>);
}
