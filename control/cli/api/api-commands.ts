/** `waf api`: a document to checks in one command, their modes, and what they find. */

import { stageImport, compiledOperations, stageModes } from './api-import.ts';
import { readAnswer, type Bindings, type Validation } from './api-answers.ts';
import { meantOperations, planModes, type PlannedOperation } from './api-modes.ts';
import { reviewAndPublish, yesFlag } from './api-publication.ts';
import { apiStatusCommand } from './api-status.ts';
import {
  switchFlag,
  textFlag,
  type CommandContext,
  type CommandDefinition,
  type FlagDefinition,
  type FlagValues,
} from '../command.ts';
import { badFlag } from '../input.ts';

const siteFlag: FlagDefinition = {
  flags: '--site <site>',
  summary: 'id or name',
  required: true,
  resource: 'site',
};
const partialFlag: FlagDefinition = {
  flags: '--partial',
  summary: 'enforce also operations of which something is not checked',
};
const reasonFlag: FlagDefinition = {
  flags: '--reason <text>',
  summary: 'why, for the history of the site',
};

/** Commands on the checks of an API. */
export const apiCommands: readonly CommandDefinition[] = [
  {
    path: ['api', 'import'],
    summary: 'Check the requests of a site against an OpenAPI or Swagger document',
    help:
      'Stages the document, shows which operations it would check, what it cannot check and why, ' +
      'and publishes that once you agree. Operations begin in observe: what breaks a check is ' +
      'counted and passes. Those that are enforced already stay so, unless --observe is given.\n' +
      'Example: waf api import openapi.yaml --site shop',
    arguments: [{ name: '<file>', summary: 'document in JSON or YAML, at most 8 MiB' }],
    flags: [
      siteFlag,
      { flags: '--observe', summary: 'count what breaks a check, refuse nothing' },
      { flags: '--enforce', summary: 'refuse requests that break a check' },
      partialFlag,
      {
        flags: '--undeclared <action>',
        summary: 'requests that no operation takes; default keeps it as it is, first allow',
        choices: ['allow', 'observe', 'block'],
      },
      {
        flags: '--host <host>',
        summary: 'host of the API; repeatable; default is that of each server, or of the site',
        repeatable: true,
      },
      { flags: '--base-path <path>', summary: 'in place of those of the servers; "" is the root' },
      { flags: '--name <name>', summary: 'name of the document; default is that of its file' },
      { flags: '--new-entries', summary: 'new catalog entries where several may be meant' },
      reasonFlag,
      yesFlag,
    ],
    published: true,
    run: async (context, [file = ''], flags) =>
      reviewAndPublish(context, await stageImport(context, file, flags), flags),
  },
  modeCommand('observe', 'Count what breaks a check of an operation, and let it pass'),
  modeCommand('enforce', 'Refuse requests that break a check of an operation'),
  apiStatusCommand(siteFlag),
];

function modeCommand(mode: 'observe' | 'enforce', summary: string): CommandDefinition {
  return {
    path: ['api', mode],
    summary,
    help:
      'Without an operation: all that are checked. Shows the change and publishes it once you ' +
      `agree.\nExample: waf api ${mode} --site shop 'POST /v1/pets'`,
    arguments: [
      { name: '[operation...]', summary: 'for example "POST /v1/pets", or the whole key' },
    ],
    flags: [siteFlag, ...(mode === 'enforce' ? [partialFlag] : []), reasonFlag, yesFlag],
    published: true,
    run: (context, names, flags) => changeModes(context, mode, names, flags),
  };
}

async function changeModes(
  context: CommandContext,
  mode: 'observe' | 'enforce',
  names: readonly string[],
  flags: FlagValues,
): Promise<number> {
  const siteId = textFlag(flags, 'site') ?? '';
  const api = await context.api();
  const { validationJson } = await api.apiSchemas.getSchemaValidation({ siteId });
  const now = readAnswer<Validation>(validationJson);
  const { contractId, bindingId, snapshotSha256 } = now;
  if (bindingId === '') {
    throw badFlag('The site checks no API. Begin with: waf api import FILE --site SITE');
  }
  const { bindingsJson } = await api.apiSchemas.getSchemaBindings({ siteId, bindingId });
  const { profileId } = readAnswer<Bindings>(bindingsJson);
  const declared = new Set(now.operations.map(({ key }) => key));
  const compiled = (await compiledOperations(api, siteId, profileId)).filter(({ key }) =>
    declared.has(key),
  );
  const modes = new Map(now.operations.map((one) => [one.key, one.mode]));
  const meant = meantOperations(now.operations, names);
  const partial = switchFlag(flags, 'partial');
  const operations = planModes(compiled, modes, { mode, partial, meant });
  if (names.length > 0) requireMode(operations, meant, mode);
  if (operations.every(({ before, after }) => before === after)) {
    context.output.note(unchangedText(operations, meant, mode));
    return 0;
  }
  return reviewAndPublish(
    context,
    {
      ...{ siteId, contractId, snapshotSha256, operations },
      bindingId: await stageModes(api, siteId, contractId, profileId, operations),
      undeclaredAction: '',
      ...{ mappings: [], diagnostics: [], omitted: 0 },
      reason: textFlag(flags, 'reason') ?? `waf api ${mode}`,
    },
    flags,
  );
}

/** Errors: AppError bad_flag where an operation that is named cannot have the mode. */
function requireMode(
  operations: readonly PlannedOperation[],
  meant: ReadonlySet<string>,
  mode: string,
): void {
  const found = new Map(operations.map((one) => [one.key, one]));
  for (const key of meant) {
    const one = found.get(key);
    if (one?.after === mode) continue;
    throw badFlag(
      (one?.checked ?? 0) === 0
        ? `${key} has nothing to check`
        : `${key} is checked in part: add --partial to enforce what is checked`,
    );
  }
}

function unchangedText(
  operations: readonly PlannedOperation[],
  meant: ReadonlySet<string>,
  mode: string,
): string {
  const left = operations.filter(({ key, after }) => meant.has(key) && after !== mode).length;
  if (left === 0) return `Nothing changes: each is in ${mode} already.`;
  return `Nothing changes: ${left} operations are checked in part; --partial enforces them too.`;
}
