/** `waf site`: which sites there are, and what becomes of one. */

import type { Site } from '../../../proto/gen/waf/v1/site_pb.ts';
import { againWhenChanged, givenRevision, isRevisionGiven } from '../change-attempts.ts';
import type { CommandContext, CommandDefinition, FlagValues } from '../command.ts';
import { listFlag, switchFlag, textFlag } from '../command.ts';
import { badFlag } from '../input.ts';
import { leaveFlag, requireLeaving, tuningAt } from '../left-behind.ts';
import {
  changeList,
  listChangeFlags,
  listMode,
  noteChange,
  type ListMode,
} from '../list-change.ts';
import { nameArgument } from '../named-resource.ts';
import { originTlsFlags, readOriginTls } from './origin-tls.ts';
import type { Output } from '../output.ts';
import { deleteCommand, listCommand } from '../regular-commands.ts';
import { only, showResource } from '../show.ts';
import { changeSite, showSite, type SiteChange } from './change-site.ts';
import { policyOfSite } from './policy-of-site.ts';
import { siteTable } from './site-table.ts';

const idArgument = [nameArgument('site')];
const revisionFlag = {
  flags: '--revision <n>',
  summary: 'revision that the change is made from; default is the present one',
};

const tlsModes: Readonly<Record<string, string>> = {
  none: 'TLS_MODE_NONE',
  acme: 'TLS_MODE_MANAGED_ACME',
  uploaded: 'TLS_MODE_UPLOADED',
};
/** What plain HTTP requests get, by the word of the command line. */
export const httpBehaviors: Readonly<Record<string, string>> = {
  redirect: 'TLS_HTTP_BEHAVIOR_REDIRECT_TO_HTTPS',
  'acme-only': 'TLS_HTTP_BEHAVIOR_ACME_ONLY',
  both: 'TLS_HTTP_BEHAVIOR_SERVE_BOTH',
};

/** Commands that show, change or remove a site. */
export const siteChangeCommands: readonly CommandDefinition[] = [
  listCommand({
    path: ['site', 'list'],
    summary: 'List sites',
    query: 'part of a name or host',
    call: ({ sites }, { page, query }) => sites.listSites({ page, query }),
    table: siteTable,
  }),
  {
    path: ['site', 'get'],
    summary: 'Show all settings of one site',
    arguments: idArgument,
    run: async (context, [id = '']) => {
      const response = await (await context.api()).sites.getSite({ id });
      await showResource(context, response, 'site');
      if (response.bodyInspection) context.output.note(response.bodyInspection.summary);
      return 0;
    },
  },
  {
    path: ['site', 'update'],
    summary: 'Change a site; unspecified options are unchanged',
    help:
      'Hosts and origins are added, unless --replace or --remove is given.\n' +
      'Example: waf site update ID --alias www.shop.example --policy POLICY',
    arguments: idArgument,
    flags: [
      { flags: '--name <name>', summary: 'name for people' },
      { flags: '--host <host>', summary: 'primary host' },
      { flags: '--alias <host>', summary: 'further host; repeatable', repeatable: true },
      { flags: '--no-aliases', summary: 'no further hosts' },
      { flags: '--upstream <url>', summary: 'origin; repeatable', repeatable: true },
      ...originTlsFlags,
      {
        flags: '--pool <pool>',
        summary: 'upstream pool in place of origins',
        resource: 'upstream',
      },
      { flags: '--policy <policy>', summary: 'id or name', resource: 'policy' },
      { flags: '--mode <mode>', summary: 'WAF mode', choices: ['blocking', 'detection', 'off'] },
      { flags: '--tls <mode>', summary: 'TLS mode', choices: Object.keys(tlsModes) },
      {
        flags: '--cert <certificate>',
        summary: 'certificate for --tls uploaded',
        resource: 'certificate',
      },
      { flags: '--http <behavior>', summary: 'plain HTTP', choices: Object.keys(httpBehaviors) },
      ...listChangeFlags,
      leaveFlag,
      revisionFlag,
    ],
    published: true,
    run: async (context, [id = ''], flags) => {
      await requireTuningLeft(context, id, flags);
      const make = (before: Site | undefined): SiteChange => {
        const [value, mask] = readChange(flags, before, context.output);
        if (mask.length === 0) throw badFlag('name at least one flag that changes something');
        return { value, mask };
      };
      const { site } = await changeSite(context, id, make, { flags });
      return showSite(context, site, siteTable(only(site)));
    },
  },
  statusCommand('enable', 'Make a site serve'),
  statusCommand('disable', 'Stop serving a site and keep its settings'),
  deleteCommand({
    path: ['site', 'delete'],
    summary: 'Remove a site with its routes, rules and overrides',
    arguments: idArgument,
    published: true,
    kind: 'site',
    call: ({ sites }, id) => sites.deleteSite({ id }),
  }),
];

/** Asks before a site leaves what was made for it at its policy. Errors: AppError not_confirmed. */
async function requireTuningLeft(
  context: CommandContext,
  id: string,
  flags: FlagValues,
): Promise<void> {
  const policyId = textFlag(flags, 'policy');
  if (policyId === undefined) return;
  const api = await context.api();
  const { site } = await api.sites.getSite({ id });
  const present = site === undefined ? '' : await policyOfSite(api, site);
  if (present === '' || present === policyId) return;
  const left = await tuningAt(api, present, (siteId) => siteId === id);
  const what = `%s exclusions, overrides and rules of this site at policy ${present} lose their effect`;
  await requireLeaving(context, flags, left, what);
}

function statusCommand(word: 'enable' | 'disable', summary: string): CommandDefinition {
  const force = { flags: '--force', summary: 'enable even if a dependency is missing' };
  return {
    path: ['site', word],
    summary,
    arguments: idArgument,
    flags: word === 'enable' ? [force, revisionFlag] : [revisionFlag],
    published: true,
    run: async (context, [id = ''], flags) => {
      const { sites } = await context.api();
      const { site } = await againWhenChanged(async () => {
        const revision = await revisionOf(context, id, flags);
        return word === 'enable'
          ? sites.enableSite({ id, revision, force: switchFlag(flags, 'force') })
          : sites.disableSite({ id, revision });
      }, isRevisionGiven(flags));
      return showSite(context, site, siteTable(only(site)));
    },
  };
}

/** The given revision, or the one that the site has. Errors: AppError bad_flag. */
export async function revisionOf(
  context: CommandContext,
  id: string,
  flags: FlagValues,
): Promise<bigint> {
  const given = givenRevision(flags);
  if (given !== undefined) return given;
  const { site } = await (await context.api()).sites.getSite({ id });
  return site?.revision ?? 0n;
}

/** What the flags change, in the JSON form of a site, and the mask that names it. */
function readChange(
  flags: FlagValues,
  before: Site | undefined,
  output: Output,
): [object, string[]] {
  const mode = listMode(flags);
  const change: Record<string, unknown> = {};
  const mask: string[] = [];
  const set = (path: string, value: unknown): void => {
    const [outer = '', inner] = path.split('.');
    if (inner === undefined) change[outer] = value;
    else change[outer] = { ...(change[outer] as object | undefined), [inner]: value };
    mask.push(path);
  };
  const text = (flag: string, path: string): void => {
    const value = textFlag(flags, flag);
    if (value !== undefined) set(path, value);
  };
  text('name', 'name');
  text('host', 'primaryHost');
  text('policy', 'waf.policyId');
  text('cert', 'tls.certId');
  const aliases = listFlag(flags, 'alias');
  const known = before?.aliases ?? [];
  if (aliases.length > 0) {
    const after = changeList(mode, known, aliases, '--alias');
    noteChange(output, 'taken away', known, after);
    set('aliases', after);
  } else if (flags['aliases'] === false) set('aliases', []);
  const urls = listFlag(flags, 'upstream');
  const pool = textFlag(flags, 'pool');
  const originTls = readOriginTls(flags);
  const tlsNamed = Object.keys(originTls).length > 0;
  if (pool !== undefined) {
    if (tlsNamed) throw badFlag(`a pool has its own TLS settings: waf upstream update ${pool}`);
    set('upstreams', [{ upstreamId: pool }]);
  } else if (urls.length > 0 || tlsNamed) {
    set(
      'upstreams',
      changedOrigins(urls.length > 0 ? mode : 'add', before, urls, originTls, output),
    );
  }
  const waf = textFlag(flags, 'mode');
  if (waf !== undefined) set('waf.enabled', waf !== 'off');
  if (waf === 'blocking') set('waf.mode', 'WAF_MODE_BLOCKING');
  if (waf === 'detection') set('waf.mode', 'WAF_MODE_DETECTION');
  const tls = tlsModes[textFlag(flags, 'tls') ?? ''];
  if (tls !== undefined) set('tls.mode', tls);
  const http = httpBehaviors[textFlag(flags, 'http') ?? ''];
  if (http !== undefined) set('tls.httpBehavior', http);
  return [change, mask];
}

/**
 * Origins after the change; one that is there keeps its weight and headers, and all keep how they
 * are verified, but for what the flags name. Errors: AppError bad_flag for a site with a pool.
 */
function changedOrigins(
  mode: ListMode,
  before: Site | undefined,
  urls: readonly string[],
  originTls: Readonly<Record<string, unknown>>,
  output: Output,
): object[] {
  const known = (before?.upstreams ?? []).filter(({ inline }) => inline !== undefined);
  if (known.length === 0 && urls.length === 0) {
    throw badFlag('the site uses a pool, which has its own TLS settings: waf upstream update POOL');
  }
  const { caPem = '', serverName = '', skipVerify = false } = known[0]?.tls ?? {};
  const tls = { caPem, serverName, skipVerify, ...originTls };
  const isSet = tls.caPem !== '' || tls.serverName !== '' || tls.skipVerify;
  const byUrl = new Map(known.map((one) => [one.inline?.url ?? '', one]));
  const present = [...byUrl.keys()];
  const after = changeList(mode, present, urls, '--upstream');
  noteChange(output, 'taken away', present, after);
  return after.map((url) => {
    const one = byUrl.get(url);
    const { weight = 1, healthCheckPath = '' } = one?.inline ?? {};
    const requestHeaders = one?.requestHeaders ?? {};
    const inline = { url, weight, healthCheckPath };
    return { inline, requestHeaders, ...(isSet ? { tls } : {}) };
  });
}
