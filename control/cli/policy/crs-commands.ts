/** `waf crs`: rulesets, what is in them, and bringing in others. */

import { existsSync, statSync } from 'node:fs';
import type { CommandDefinition } from '../command.ts';
import { listFlag, switchFlag, textFlag } from '../command.ts';
import { crsRuleTable, rulesetTable } from './crs-table.ts';
import { crsUpdateCommand } from './crs-update.ts';
import { shadowCommands } from './shadow-commands.ts';
import { badFlag, readInput } from '../input.ts';
import { nameArgument } from '../named-resource.ts';
import { readCount } from '../paging.ts';
import { waitFor } from '../policy-progress.ts';
import { callCommand, deleteCommand, listCommand } from '../regular-commands.ts';
import { only, showMessage, timeText } from '../show.ts';

const rulesetArgument = [nameArgument('ruleset', 'id, or name such as crs-4.28.0')];

/** Commands on rulesets. */
export const crsCommands: readonly CommandDefinition[] = [
  listCommand({
    path: ['crs', 'list'],
    summary: 'List rulesets, newest first',
    call: ({ crs }, { page }) => crs.listCrsRulesets({ page }),
    table: rulesetTable,
  }),
  callCommand({
    path: ['crs', 'get'],
    summary: 'Show one ruleset',
    arguments: rulesetArgument,
    call: ({ crs }, [id = '']) => crs.getCrsRuleset({ id }),
    table: ({ ruleset }) => rulesetTable(only(ruleset)),
  }),
  {
    path: ['crs', 'import'],
    summary: 'Import a ruleset; equal content is stored once',
    help: 'Takes a release as tar.gz or zip, or a folder that holds rules/. - reads an archive.',
    arguments: [{ name: '[archive]', summary: 'archive or folder; - reads standard input' }],
    flags: [
      { flags: '--url <url>', summary: 'fetch the archive from here' },
      { flags: '--tag <tag>', summary: 'fetch this release of the CRS project' },
    ],
    run: async (context, [path], flags) => {
      const [sourceUrl, githubTag] = [textFlag(flags, 'url') ?? '', textFlag(flags, 'tag') ?? ''];
      if (
        [path, sourceUrl, githubTag].filter((one) => one !== undefined && one !== '').length !== 1
      ) {
        throw badFlag('give an archive, --url or --tag');
      }
      const archive = path === undefined ? new Uint8Array() : await readArchive(path);
      const { system } = await context.api();
      const response = await waitFor(context, 'Compiling the ruleset', (options) =>
        system.importCrsRuleset({ archive, sourceUrl, githubTag }, options),
      );
      return showMessage(context, response, rulesetTable(only(response.ruleset)));
    },
  },
  crsUpdateCommand,
  ...shadowCommands,
  {
    path: ['crs', 'releases'],
    summary: 'List the releases that the CRS project has published',
    help: 'Asks the source in the setting crs.release_source.',
    flags: [
      { flags: '--limit <n>', summary: 'how many', default: '20' },
      { flags: '--prerelease', summary: 'include release candidates' },
    ],
    run: async (context, _args, flags) => {
      const limit = readCount(flags, 'limit', '--limit');
      const includePrerelease = switchFlag(flags, 'prerelease');
      const { system } = await context.api();
      const response = await waitFor(context, 'Asking the source', (options) =>
        system.listUpstreamCrsReleases({ limit, includePrerelease }, options),
      );
      return showMessage(context, response, {
        columns: ['TAG', 'NAME', 'PUBLISHED'],
        rows: response.releases.map((one) => [one.tag, one.name, timeText(one.publishedAt)]),
      });
    },
  },
  deleteCommand({
    path: ['crs', 'delete'],
    summary: 'Remove a ruleset that no policy uses',
    arguments: rulesetArgument,
    kind: 'ruleset',
    call: ({ system }, id) => system.deleteCrsRuleset({ id }),
  }),
  listCommand({
    path: ['crs', 'rules'],
    summary: 'List the rules of a ruleset',
    arguments: rulesetArgument,
    query: 'number or part of a message',
    flags: [
      { flags: '--category <code>', summary: 'for example 942' },
      { flags: '--level <n>', summary: 'paranoia level' },
      { flags: '--phase <n>', summary: 'phase, 1 to 5' },
      { flags: '--severity <name>', summary: 'for example critical' },
      { flags: '--tag <tag>', summary: 'has this tag; repeatable', repeatable: true },
    ],
    call: ({ crs }, { page, query }, [rulesetId = ''], flags) => {
      const number = (name: string): number => {
        const text = textFlag(flags, name) ?? '0';
        if (!/^\d$/.test(text)) throw badFlag(`--${name} wants a digit`);
        return Number(text);
      };
      return crs.listCrsRules({
        rulesetId,
        query,
        category: textFlag(flags, 'category') ?? '',
        severity: textFlag(flags, 'severity') ?? '',
        paranoiaLevel: number('level'),
        phase: number('phase'),
        tags: [...listFlag(flags, 'tag')],
        page,
      });
    },
    table: crsRuleTable,
  }),
  callCommand({
    path: ['crs', 'rule'],
    summary: 'Show one rule of a ruleset with its text',
    arguments: [...rulesetArgument, { name: '<rule>', summary: 'number of the rule' }],
    call: ({ crs }, [rulesetId = '', ruleId = '']) => crs.getCrsRule({ rulesetId, ruleId }),
    table: ({ rule }) => crsRuleTable(only(rule)),
    after: ({ output }, response) => {
      output.line(response.rule?.raw ?? '');
    },
  }),
  callCommand({
    path: ['crs', 'categories'],
    summary: 'Count the rules of a ruleset by category',
    arguments: rulesetArgument,
    call: ({ crs }, [rulesetId = '']) => crs.listCrsCategories({ rulesetId }),
    table: ({ categories }) => ({
      columns: ['CATEGORY', 'NAME', 'RULES'],
      rows: categories.map((one) => [one.code, one.label, String(one.ruleCount)]),
    }),
  }),
  callCommand({
    path: ['crs', 'tags'],
    summary: 'Count the rules of a ruleset by tag',
    arguments: rulesetArgument,
    call: ({ crs }, [rulesetId = '']) => crs.listCrsTags({ rulesetId }),
    table: ({ tags }) => ({
      columns: ['TAG', 'RULES'],
      rows: tags.map((one) => [one.tag, String(one.ruleCount)]),
    }),
  }),
];

/** The bytes of an archive; a folder is packed. Errors: AppError bad_flag. */
export async function readArchive(path: string): Promise<Uint8Array<ArrayBuffer>> {
  if (path === '-' || !existsSync(path) || !statSync(path).isDirectory()) return readInput(path);
  const { packFolder } = await import('../../publish/rulesets/ruleset-pack.ts');
  return new Uint8Array(packFolder(path));
}
