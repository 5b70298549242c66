/** `waf bot`: what clients of a site prove before they are served. */

import {
  BotProtectionConfigSchema,
  type BotProtectionConfig,
  type Site,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import {
  listFlag,
  textFlag,
  type CommandDefinition,
  type FlagDefinition,
  type FlagValues,
} from '../command.ts';
import { flagsOf, readFields, type FieldFlag } from '../field-flags.ts';
import { badFlag, readSeconds } from '../input.ts';
import { withListeners } from '../listeners.ts';
import { changeList, listChangeFlags, listMode, noteChange } from '../list-change.ts';
import { nameArgument } from '../named-resource.ts';
import type { Table } from '../output.ts';
import { callCommand } from '../regular-commands.ts';
import { timeText } from '../show.ts';
import { changeSite, changeWithin, showSite } from '../site/change-site.ts';
import { curlOf } from '../try-lines.ts';

/** Modes by the words of the command. */
const modes = {
  off: 'BOT_PROTECTION_MODE_OFF',
  browser: 'BOT_PROTECTION_MODE_BROWSER_CHECK',
  human: 'BOT_PROTECTION_MODE_HUMAN_VERIFICATION',
} as const;

const wanted = 'takes a whole number';
const fieldFlags: readonly FieldFlag[] = [
  { flags: '--mode <mode>', field: 'mode', summary: 'what is asked', words: modes },
  {
    flags: '--challenge-ttl <number>',
    field: 'challengeTtlSeconds',
    summary: 'seconds to solve a challenge, {bounds}',
    wanted,
  },
  {
    flags: '--clearance-ttl <number>',
    field: 'clearanceTtlSeconds',
    summary: 'seconds that a clearance lasts, {bounds}',
    wanted,
  },
  {
    flags: '--difficulty <number>',
    field: 'proofDifficulty',
    summary: 'zero bits to find, {bounds}; one more doubles the work',
    wanted,
  },
  {
    flags: '--bind-network <yes|no>',
    field: 'bindNetwork',
    summary: 'clearances count in one network only',
  },
  {
    flags: '--crawlers <action>',
    field: 'challengeCrawlers',
    summary: 'search engines whose addresses prove them',
    words: { pass: false, challenge: true },
  },
];

/** A list of the settings and its flag. */
interface ListFlag {
  readonly name: string;
  readonly key: 'challengePath' | 'exemptPath' | 'exemptMethod' | 'trust';
  readonly field: 'challengePaths' | 'exemptPaths' | 'exemptMethods' | 'trustedIpListIds';
  readonly flag: FlagDefinition;
}

const listFlags: readonly ListFlag[] = [
  {
    name: '--challenge-path',
    key: 'challengePath',
    field: 'challengePaths',
    flag: {
      flags: '--challenge-path <path>',
      summary: 'challenges only under it; every path without one',
      repeatable: true,
    },
  },
  {
    name: '--exempt-path',
    key: 'exemptPath',
    field: 'exemptPaths',
    flag: { flags: '--exempt-path <path>', summary: 'no challenge under it', repeatable: true },
  },
  {
    name: '--exempt-method',
    key: 'exemptMethod',
    field: 'exemptMethods',
    flag: { flags: '--exempt-method <method>', summary: 'no challenge', repeatable: true },
  },
  {
    name: '--trust',
    key: 'trust',
    field: 'trustedIpListIds',
    flag: {
      flags: '--trust <ip-list>',
      summary: 'no challenge for its addresses',
      repeatable: true,
      resource: 'ip-list',
    },
  },
];

/** Commands on the bot gate. */
export const botCommands: readonly CommandDefinition[] = [
  callCommand({
    path: ['bot', 'show'],
    summary: 'Show which challenge clients of a site must solve',
    arguments: [nameArgument('site')],
    call: ({ sites }, [id = '']) => sites.getSite({ id }),
    table: ({ site }) => botTable(site),
    after: (context, response) => {
      if (response.site !== undefined) {
        context.output.note(withListeners(context.options, tryLine(response.site)));
      }
    },
  }),
  {
    path: ['bot', 'set'],
    summary: 'Change the challenge for clients of a site; unspecified options are unchanged',
    help:
      'browser: the browser works on a puzzle by itself; human: a person answers, too.\n' +
      'Clients that are not browsers get 403: exempt their paths or trust their addresses.\n' +
      'Example: waf bot set shop --mode browser --difficulty 16 --exempt-path /api',
    arguments: [nameArgument('site')],
    flags: [
      ...flagsOf(BotProtectionConfigSchema, fieldFlags),
      {
        flags: '--under-attack <time>',
        summary: 'challenge on every path: on, off, or how long: 30m, 2h, 1d',
      },
      ...listFlags.map(({ flag }) => flag),
      ...listChangeFlags,
    ],
    published: true,
    run: async (context, [id = ''], flags) => {
      const { before, site } = await changeSite(context, id, (one) => {
        const named = readFields(BotProtectionConfigSchema, fieldFlags, flags);
        const fields = {
          ...named,
          ...changedLists(flags, one?.botProtection),
          ...attackChange(flags),
        };
        if (Object.keys(fields).length === 0) {
          throw badFlag('nothing to change: name a setting, as in --help');
        }
        return changeWithin('botProtection', fields);
      });
      const lists = changedLists(flags, before?.botProtection);
      for (const { name, field } of listFlags) {
        const { [field]: is } = lists;
        const { [field]: was } = before?.botProtection ?? {};
        if (is !== undefined) noteChange(context.output, `${name} taken away`, was ?? [], is);
      }
      await showSite(context, site, botTable(site));
      if (site !== undefined) {
        context.output.note(withListeners(context.options, tryLine(site)));
      }
      return 0;
    },
  },
];

type ListField = (typeof listFlags)[number]['field'];

/** The lists that flags name, as they become. Errors: AppError bad_flag. */
function changedLists(
  flags: FlagValues,
  before: BotProtectionConfig | undefined,
): { [field in ListField]?: string[] } {
  const change: { [field in ListField]?: string[] } = {};
  const how = listMode(flags);
  for (const { name, key, field } of listFlags) {
    const named = listFlag(flags, key);
    const values = field === 'exemptMethods' ? named.map((one) => one.toUpperCase()) : named;
    if (values.length > 0) change[field] = changeList(how, before?.[field] ?? [], values, name);
  }
  return change;
}

/** What the flag of attacks changes; an end that was set before goes. Errors: AppError bad_flag. */
function attackChange(flags: FlagValues): Record<string, unknown> {
  const text = textFlag(flags, 'underAttack');
  if (text === undefined) return {};
  if (text === 'on' || text === 'off') {
    return { underAttack: text === 'on', underAttackUntil: null };
  }
  const endMs = Date.now() + readSeconds(text, '--under-attack') * 1000;
  return { underAttack: true, underAttackUntil: new Date(endMs).toISOString() };
}

/** In words: off, too, once its end has come. */
function attackText(bot: BotProtectionConfig | undefined): string {
  if (bot?.underAttack !== true) return 'no';
  const { underAttackUntil: end } = bot;
  if (end === undefined) return 'yes: every path is challenged';
  if (Number(end.seconds) * 1000 <= Date.now()) return 'no';
  return `until ${timeText(end)}: every path is challenged`;
}

function botTable(site: Site | undefined): Table {
  const bot = site?.botProtection;
  const rows = [
    ['mode', Object.keys(modes)[(bot?.mode ?? 1) - 1] ?? 'off'],
    ['under attack', attackText(bot)],
    ['difficulty', `${bot?.proofDifficulty ?? 0} bits`],
    ['challenge', `${bot?.challengeTtlSeconds ?? 0} s to solve`],
    ['clearance', `${bot?.clearanceTtlSeconds ?? 0} s`],
    ['bound to network', bot?.bindNetwork === true ? 'yes' : 'no'],
    ['search engines', bot?.challengeCrawlers === true ? 'challenged' : 'pass'],
    ['challenged paths', (bot?.challengePaths ?? []).join(' ') || 'every path'],
    ['exempt paths', (bot?.exemptPaths ?? []).join(' ')],
    ['exempt methods', (bot?.exemptMethods ?? []).join(' ')],
    ['trusted lists', (bot?.trustedIpListIds ?? []).join(' ')],
  ];
  return { columns: ['SETTING', 'VALUE'], rows };
}

/** One line to try, and what it answers. */
function tryLine(site: Site): string {
  const bot = site.botProtection;
  const on = (bot?.mode ?? 0) > 1 || attackText(bot) !== 'no';
  const answer = on ? '403 with "bot_challenge_required" in JSON' : 'as the origin does';
  return `Try: ${curlOf(site)}/ answers ${answer}`;
}
