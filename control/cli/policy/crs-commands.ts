/** `waf crs`: rulesets, what is in them, and bringing in others. */

import { existsSync, statSync } from 'node:fs';
import type { ArgumentDefinition, CommandDefinition } from '../command.ts';
import { listFlag, switchFlag, textFlag } from '../command.ts';
import { crsRuleTable, rulesetTable } from './crs-table.ts';
import { crsUpdateCommand } from './crs-update.ts';
import { shadowCommands } from './shadow-commands.ts';
import { badFlag, readInput } from '../input.ts';
import { notePage, pageFlags, readCount, readPage } from '../paging.ts';
import { waitFor } from '../policy-progress.ts';
import { showMessage, showRemoved, timeText } from '../show.ts';

const rulesetArgument: readonly ArgumentDefinition[] = [
  { name: '<ruleset>', summary: 'id, or name such as crs-4.28.0', resource: 'ruleset' },
];

/** Commands on rulesets. */
export const crsCommands: readonly CommandDefinition[] = [
  {
    path: ['crs', 'list'],
    summary: 'List rulesets, newest first',
    help: '',
    arguments: [],
    flags: pageFlags,
    run: async (context, _args, flags) => {
      const response = await (await context.api()).crs.listCrsRulesets({ page: readPage(flags) });
      const table = rulesetTable(response.items);
      await showMessage(context, response, table);
      notePage(context.output, response.items.length, response.page?.total);
      return 0;
    },
  },
  {
    path: ['crs', 'get'],
    summary: 'Show one ruleset',
    help: '',
    arguments: rulesetArgument,
    flags: [],
    run: async (context, [id = '']) => {
      const response = await (await context.api()).crs.getCrsRuleset({ id });
      const found = response.ruleset === undefined ? [] : [response.ruleset];
      await showMessage(context, response, rulesetTable(found));
      return 0;
    },
  },
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
      const kept = response.ruleset === undefined ? [] : [response.ruleset];
      await showMessage(context, response, rulesetTable(kept));
      return 0;
    },
  },
  crsUpdateCommand,
  ...shadowCommands,
  {
    path: ['crs', 'releases'],
    summary: 'List the releases that the CRS project has published',
    help: 'Asks the source in the setting crs.release_source.',
    arguments: [],
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
      await showMessage(context, response, {
        columns: ['TAG', 'NAME', 'PUBLISHED'],
        rows: response.releases.map((one) => [one.tag, one.name, timeText(one.publishedAt)]),
      });
      return 0;
    },
  },
  {
    path: ['crs', 'delete'],
    summary: 'Remove a ruleset that no policy uses',
    help: '',
    arguments: rulesetArgument,
    flags: [],
    run: async (context, [id = '']) => {
      await (await context.api()).system.deleteCrsRuleset({ id });
      showRemoved(context, 'ruleset', id);
      return 0;
    },
  },
  {
    path: ['crs', 'rules'],
    summary: 'List the rules of a ruleset',
    help: '',
    arguments: rulesetArgument,
    flags: [
      { flags: '--query <text>', summary: 'number or part of a message' },
      { flags: '--category <code>', summary: 'for example 942' },
      { flags: '--level <n>', summary: 'paranoia level' },
      { flags: '--phase <n>', summary: 'phase, 1 to 5' },
      { flags: '--severity <name>', summary: 'for example critical' },
      { flags: '--tag <tag>', summary: 'has this tag; repeatable', repeatable: true },
      ...pageFlags,
    ],
    run: async (context, [rulesetId = ''], flags) => {
      const number = (name: string): number => {
        const text = textFlag(flags, name) ?? '0';
        if (!/^\d$/.test(text)) throw badFlag(`--${name} wants a digit`);
        return Number(text);
      };
      const { crs } = await context.api();
      const response = await crs.listCrsRules({
        rulesetId,
        query: textFlag(flags, 'query') ?? '',
        category: textFlag(flags, 'category') ?? '',
        severity: textFlag(flags, 'severity') ?? '',
        paranoiaLevel: number('level'),
        phase: number('phase'),
        tags: [...listFlag(flags, 'tag')],
        page: readPage(flags),
      });
      const table = crsRuleTable(response.items);
      await showMessage(context, response, table);
      notePage(context.output, response.items.length, response.page?.total);
      return 0;
    },
  },
  {
    path: ['crs', 'rule'],
    summary: 'Show one rule of a ruleset with its text',
    help: '',
    arguments: [...rulesetArgument, { name: '<rule>', summary: 'number of the rule' }],
    flags: [],
    run: async (context, [rulesetId = '', ruleId = '']) => {
      const response = await (await context.api()).crs.getCrsRule({ rulesetId, ruleId });
      const found = response.rule === undefined ? [] : [response.rule];
      await showMessage(context, response, crsRuleTable(found));
      context.output.line(response.rule?.raw ?? '');
      return 0;
    },
  },
  {
    path: ['crs', 'categories'],
    summary: 'Count the rules of a ruleset by category',
    help: '',
    arguments: rulesetArgument,
    flags: [],
    run: async (context, [rulesetId = '']) => {
      const response = await (await context.api()).crs.listCrsCategories({ rulesetId });
      await showMessage(context, response, {
        columns: ['CATEGORY', 'NAME', 'RULES'],
        rows: response.categories.map((one) => [one.code, one.label, String(one.ruleCount)]),
      });
      return 0;
    },
  },
  {
    path: ['crs', 'tags'],
    summary: 'Count the rules of a ruleset by tag',
    help: '',
    arguments: rulesetArgument,
    flags: [],
    run: async (context, [rulesetId = '']) => {
      const response = await (await context.api()).crs.listCrsTags({ rulesetId });
      await showMessage(context, response, {
        columns: ['TAG', 'RULES'],
        rows: response.tags.map((one) => [one.tag, String(one.ruleCount)]),
      });
      return 0;
    },
  },
];

/** The bytes of an archive; a folder is packed. Errors: AppError bad_flag. */
export async function readArchive(path: string): Promise<Uint8Array<ArrayBuffer>> {
  if (path === '-' || !existsSync(path) || !statSync(path).isDirectory()) return readInput(path);
  const { packFolder } = await import('../../publish/rulesets/ruleset-pack.ts');
  return new Uint8Array(packFolder(path));
}
