/** `waf bot`: what clients of a site prove before they are served. */

import type { BotProtectionConfig, Site } from '../../../proto/gen/waf/v1/site_pb.ts';
import { againWhenChanged } from '../change-attempts.ts';
import {
  listFlag,
  textFlag,
  type CommandDefinition,
  type FlagDefinition,
  type FlagValues,
} from '../command.ts';
import { badFlag, readSeconds } from '../input.ts';
import { withListeners } from '../listeners.ts';
import { changeList, listChangeFlags, listMode, noteChange } from '../list-change.ts';
import { nameArgument } from '../named-resource.ts';
import type { Table } from '../output.ts';
import { showMessage, timeText } from '../show.ts';
import { curlOf } from '../try-lines.ts';

/** Modes of the API, by the words of the command. */
const modes = ['', 'off', 'browser', 'human'] as const;

/** A number of the settings and its flag. */
interface NumberFlag {
  readonly name: string;
  readonly key: 'challengeTtl' | 'clearanceTtl' | 'difficulty';
  readonly field: 'challengeTtlSeconds' | 'clearanceTtlSeconds' | 'proofDifficulty';
  readonly summary: string;
}

const numberFlags: readonly NumberFlag[] = [
  {
    name: 'challenge-ttl',
    key: 'challengeTtl',
    field: 'challengeTtlSeconds',
    summary: 'seconds to solve a challenge, 30 to 600',
  },
  {
    name: 'clearance-ttl',
    key: 'clearanceTtl',
    field: 'clearanceTtlSeconds',
    summary: 'seconds that a clearance lasts, 300 to 86400',
  },
  {
    name: 'difficulty',
    key: 'difficulty',
    field: 'proofDifficulty',
    summary: 'zero bits to find, 12 to 24; one more doubles the work',
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
  {
    path: ['bot', 'show'],
    summary: 'Show which challenge clients of a site must solve',
    arguments: [nameArgument('site')],
    run: async (context, [id = '']) => {
      const response = await (await context.api()).sites.getSite({ id });
      await showMessage(context, response, botTable(response.site));
      if (response.site !== undefined) {
        context.output.note(withListeners(context.options, tryLine(response.site)));
      }
      return 0;
    },
  },
  {
    path: ['bot', 'set'],
    summary: 'Change the challenge for clients of a site; unspecified options are unchanged',
    help:
      'browser: the browser works on a puzzle by itself; human: a person answers, too.\n' +
      'Clients that are not browsers get 403: exempt their paths or trust their addresses.\n' +
      'Example: waf bot set shop --mode browser --difficulty 16 --exempt-path /api',
    arguments: [nameArgument('site')],
    flags: [
      { flags: '--mode <mode>', summary: 'what is asked', choices: modes.slice(1) },
      ...numberFlags.map(({ name, summary }) => ({ flags: `--${name} <number>`, summary })),
      {
        flags: '--bind-network <yes|no>',
        summary: 'clearances count in one network only',
        choices: ['yes', 'no'],
      },
      {
        flags: '--under-attack <time>',
        summary: 'challenge on every path: on, off, or how long: 30m, 2h, 1d',
      },
      {
        flags: '--crawlers <action>',
        summary: 'search engines whose addresses prove them',
        choices: ['pass', 'challenge'],
      },
      ...listFlags.map(({ flag }) => flag),
      ...listChangeFlags,
    ],
    published: true,
    run: async (context, [id = ''], flags) => {
      const { GetSiteResponseSchema, SiteSchema } =
        await import('../../../proto/gen/waf/v1/site_pb.ts');
      const { create } = await import('@bufbuild/protobuf');
      const { sites } = await context.api();
      const site = await againWhenChanged(async () => {
        const before = (await sites.getSite({ id })).site;
        const change = {
          ...changeOf(flags, before?.botProtection),
          ...(await attackChange(flags)),
        };
        const mask = Object.keys(change).map((name) => `botProtection.${name}`);
        if (mask.length === 0) throw badFlag('nothing to change: name a setting, as in --help');
        const answer = await sites.updateSite({
          site: create(SiteSchema, { id, botProtection: change }),
          revision: before?.revision ?? 0n,
          updateMask: mask.join(','),
        });
        for (const { name, field } of listFlags) {
          const [was, is] = [before?.botProtection?.[field], change[field]];
          if (is !== undefined) noteChange(context.output, `${name} taken away`, was ?? [], is);
        }
        return answer.site;
      });
      const response = create(GetSiteResponseSchema, site === undefined ? {} : { site });
      await showMessage(context, response, botTable(site));
      if (site !== undefined) {
        context.output.note(withListeners(context.options, tryLine(site)));
      }
      return 0;
    },
  },
];

type BotChange = Partial<Omit<BotProtectionConfig, '$typeName' | '$unknown'>>;

/** What the flags change. Errors: AppError bad_flag. */
function changeOf(flags: FlagValues, before: BotProtectionConfig | undefined): BotChange {
  const change: Record<string, unknown> = {};
  const mode = textFlag(flags, 'mode');
  if (mode !== undefined) change['mode'] = modes.findIndex((word) => word === mode);
  for (const { name, key, field } of numberFlags) {
    const text = textFlag(flags, key);
    if (text === undefined) continue;
    if (!/^\d{1,6}$/.test(text)) throw badFlag(`--${name} takes a whole number`);
    change[field] = Number(text);
  }
  const bind = textFlag(flags, 'bindNetwork');
  if (bind !== undefined) change['bindNetwork'] = bind === 'yes';
  const crawlers = textFlag(flags, 'crawlers');
  if (crawlers !== undefined) change['challengeCrawlers'] = crawlers === 'challenge';
  const how = listMode(flags);
  for (const { name, key, field } of listFlags) {
    const named = listFlag(flags, key);
    const values = field === 'exemptMethods' ? named.map((one) => one.toUpperCase()) : named;
    if (values.length > 0) change[field] = changeList(how, before?.[field] ?? [], values, name);
  }
  return change as BotChange;
}

/** What the flag of attacks changes; an end that was set before goes. Errors: AppError bad_flag. */
async function attackChange(flags: FlagValues): Promise<BotChange> {
  const { timestampFromMs } = await import('@bufbuild/protobuf/wkt');
  const text = textFlag(flags, 'underAttack');
  if (text === undefined) return {};
  if (text === 'on' || text === 'off') {
    return { underAttack: text === 'on', underAttackUntil: undefined };
  }
  const endMs = Date.now() + readSeconds(text, '--under-attack') * 1000;
  return { underAttack: true, underAttackUntil: timestampFromMs(endMs) };
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
    ['mode', modes[bot?.mode ?? 1] || 'off'],
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
