/** `waf trust`: which proxies may name the client of a request. */

import type { ClientIPAnalysis, TrustProfile } from '../../../proto/gen/waf/v1/trust_pb.ts';
import { AppError } from '../../../base/errors.ts';
import type { ApiClient } from '../api-client.ts';
import type { CommandContext, CommandDefinition, FlagDefinition, FlagValues } from '../command.ts';
import { listFlag, switchFlag, textFlag } from '../command.ts';
import { badFlag, readInputObject } from '../input.ts';
import type { Table } from '../output.ts';
import { callCommand } from '../regular-commands.ts';
import { printable, readMessage, showMessage, showRemoved, timeText } from '../show.ts';

const siteFlag: FlagDefinition = {
  flags: '--site <site>',
  summary: 'a site; without it the whole deployment',
  resource: 'site',
};
const loadTrust = () => import('../../../proto/gen/waf/v1/trust_pb.ts');

/** Commands on trust. */
export const trustCommands: readonly CommandDefinition[] = [
  callCommand({
    path: ['trust', 'show'],
    summary: 'Show the trusted proxies and the headers that they write',
    help: 'With its lists resolved: waf trust show --output json',
    flags: [siteFlag],
    call: ({ trust }, _args, flags) =>
      trust.getTrustProfile({ siteId: textFlag(flags, 'site') ?? '' }),
    table: ({ profile }) => profileTable(profile),
  }),
  {
    path: ['trust', 'set'],
    summary: 'Set trusted proxies',
    help:
      'Proxies are named from the internet to the product; the same name again adds a list.\n' +
      'Example: waf trust set --proxy CDN=iplist-1 --proxy Balancer=iplist-2',
    flags: [
      siteFlag,
      {
        flags: '--proxy <name=list>',
        summary: 'proxy and its IP list',
        repeatable: true,
        resource: 'ip-list',
      },
      {
        flags: '--header <name>',
        summary: 'header that names the client; default X-Forwarded-For',
        repeatable: true,
      },
      { flags: '--fixed-header <name>', summary: 'believe this header from anyone: a risk' },
      { flags: '--file <file>', summary: 'a whole profile as JSON or YAML; - for standard input' },
      { flags: '--force', summary: 'accept headers that are not known to be written by proxies' },
    ],
    run: async (context, _args, flags) => {
      const { TrustProfileSchema } = await loadTrust();
      const profile = await readMessage(TrustProfileSchema, readProfile(flags), 'profile');
      const { trust } = await context.api();
      const siteId = textFlag(flags, 'site') ?? '';
      const before = await presentProfile(trust, siteId);
      const response = await trust.setTrustProfile({
        siteId,
        profile,
        force: switchFlag(flags, 'force'),
      });
      await showMessage(context, response, profileTable(response.profile));
      const replaced = profileWords(before);
      if (replaced !== '')
        context.output.note(`the whole profile was replaced; it had ${replaced}`);
      return 0;
    },
  },
  callCommand({
    path: ['trust', 'test'],
    summary: 'Explain whose address a request would have',
    help: "Example: waf trust test --peer 10.0.0.1 --header 'X-Forwarded-For: 192.0.2.7'",
    flags: [
      siteFlag,
      { flags: '--peer <ip>', summary: 'address of the connection', required: true },
      { flags: '--header <line>', summary: "'Name: value'; repeatable", repeatable: true },
    ],
    call: ({ trust }, _args, flags) =>
      trust.explainTrust({
        siteId: textFlag(flags, 'site') ?? '',
        peer: textFlag(flags, 'peer') ?? '',
        headers: readHeaderLines(listFlag(flags, 'header')),
      }),
    table: (response) => ({
      columns: ['RULE', 'HEADER', 'STATUS', 'ADDRESS', 'REASON'],
      rows: response.ruleTraces.map((one) => [
        one.ruleId || '-',
        one.header || '-',
        one.status,
        one.candidateIp || '-',
        one.reason,
      ]),
    }),
    after: ({ output }, response) => {
      output.line(`client: ${response.ip} from ${response.sourceHeader || 'the peer'}`);
    },
  }),
  {
    path: ['trust', 'reset'],
    summary: 'Trust no proxy; with --site, use the setting of the deployment again',
    flags: [siteFlag],
    run: async (context, _args, flags) => {
      const siteId = textFlag(flags, 'site') ?? '';
      await (await context.api()).trust.resetTrustProfile({ siteId });
      return showRemoved(context, 'trust profile', siteId || 'global');
    },
  },
  callCommand({
    path: ['trust', 'status'],
    summary: 'Show overrides of sites and forged headers of the last hour',
    call: ({ trust }) => trust.getTrustStatus({}),
    table: (response) => ({
      columns: ['SINCE', 'SITE', 'PEER', 'HEADER', 'COUNT'],
      ids: { SITE: ['site'] },
      rows: response.recentWarnings.map((one) => [
        timeText(one.firstSeenAt),
        one.siteId,
        one.peer,
        one.header,
        String(one.count),
      ]),
    }),
    after: ({ output }, response) => {
      output.line(`overrides: ${response.siteOverrides.length} of ${response.totalSites} sites`);
    },
  }),
  {
    path: ['trust', 'analyze'],
    summary: 'Find out from live requests which proxies stand before a site',
    help: 'Starts, shows (--id) or ends (--id --stop) an analysis; it lasts five minutes at most.',
    flags: [
      siteFlag,
      { flags: '--id <analysis>', summary: 'an analysis that was started' },
      { flags: '--stop', summary: 'end it' },
    ],
    run: async (context, _args, flags) => {
      const analysis = await analyze(context, flags);
      if (analysis === undefined) return 1;
      return showMessage(context, analysis, {
        columns: ['ANALYSIS', 'STATE', 'SAMPLES', 'PEERS', 'SUGGESTION', 'HEADER', 'CONFIDENCE'],
        rows: [
          [
            analysis.id,
            analysis.state,
            `${analysis.sampleCount}/${analysis.targetSampleCount}`,
            String(analysis.distinctPeerCount),
            analysis.suggestionKind,
            analysis.suggestionHeader || '-',
            analysis.confidence,
          ],
        ],
      });
    },
  },
];

async function analyze(
  context: CommandContext,
  flags: FlagValues,
): Promise<ClientIPAnalysis | undefined> {
  const { trust } = await context.api();
  const analysisId = textFlag(flags, 'id') ?? '';
  const siteId = textFlag(flags, 'site') ?? '';
  if (analysisId === '' && siteId === '') throw badFlag('name a --site, or an analysis by --id');
  if (analysisId === '') return (await trust.startClientIPAnalysis({ siteId })).analysis;
  const stop = switchFlag(flags, 'stop');
  const asked = stop
    ? trust.stopClientIPAnalysis({ analysisId })
    : trust.getClientIPAnalysis({ analysisId });
  return (await asked).analysis;
}

/** The profile that flags describe, in its JSON form. Errors: AppError bad_flag. */
function readProfile(flags: FlagValues): unknown {
  const file = textFlag(flags, 'file');
  const proxies = listFlag(flags, 'proxy');
  const fixed = textFlag(flags, 'fixedHeader');
  if (file !== undefined) {
    if (proxies.length > 0 || fixed !== undefined) throw badFlag('--file goes alone');
    return readInputObject(file);
  }
  if (fixed !== undefined) {
    if (proxies.length > 0) throw badFlag('--fixed-header believes anyone; it takes no --proxy');
    const parser = parserOf(fixed);
    const selector = parser === 'single_ip' ? 'single' : 'leftmost';
    const rule = { id: 'fixed', header: fixed, parser, enabled: true, selector };
    return { extractionRules: [{ ...rule, allowUntrusted: true }] };
  }
  const lists = readProxies(proxies);
  if (lists.size === 0) throw badFlag('name at least one --proxy, or a --fixed-header');
  const names = [...lists.keys()];
  const ids = names.map((_name, at) => `proxy-${at + 1}`);
  const given = listFlag(flags, 'header');
  const headers = given.length > 0 ? given : ['X-Forwarded-For'];
  const ways = ['internet', ...ids, 'waf'];
  return {
    nodes: names.map((name, at) => ({ id: ids[at], name, trust: { ipListIds: lists.get(name) } })),
    edges: ways.slice(1).map((to, at) => ({ from: ways[at], to })),
    extractionRules: headers.map((header, at) => ({
      id: `header-${at + 1}`,
      header,
      parser: parserOf(header),
      nodeIds: ids,
      enabled: true,
    })),
  };
}

function readProxies(proxies: readonly string[]): ReadonlyMap<string, string[]> {
  const found = new Map<string, string[]>();
  for (const text of proxies) {
    const cut = text.indexOf('=');
    const name = text.slice(0, cut).trim();
    const list = text.slice(cut + 1).trim();
    if (cut <= 0 || name === '' || list === '') throw badFlag('--proxy wants NAME=IP-LIST-ID');
    found.set(name, [...(found.get(name) ?? []), list]);
  }
  return found;
}

function parserOf(header: string): string {
  const name = header.toLowerCase();
  if (name === 'forwarded') return 'forwarded';
  return name.includes('forwarded-for') ? 'xff' : 'single_ip';
}

/** `Name: value` lines; the same name again is joined as proxies do. Errors: AppError bad_flag. */
function readHeaderLines(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const cut = line.indexOf(':');
    if (cut <= 0) throw badFlag("--header wants 'Name: value'");
    const name = line.slice(0, cut).trim().toLowerCase();
    const value = line.slice(cut + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}

/** The profile that is there; undefined for none. */
async function presentProfile(
  trust: ApiClient['trust'],
  siteId: string,
): Promise<TrustProfile | undefined> {
  try {
    return (await trust.getTrustProfile({ siteId })).profile;
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined;
    throw error;
  }
}

function profileWords(profile: TrustProfile | undefined): string {
  const proxies = (profile?.nodes ?? []).map(({ id, name }) => printable(name || id));
  const headers = (profile?.extractionRules ?? []).map(({ header }) => header || 'the peer');
  const words = [
    proxies.length > 0 ? `proxies ${proxies.join(', ')}` : '',
    headers.length > 0 ? `headers ${headers.join(', ')}` : '',
  ];
  return words.filter((one) => one !== '').join(' and ');
}

function profileTable(profile: TrustProfile | undefined): Table {
  const nodes = profile?.nodes ?? [];
  const rules = profile?.extractionRules ?? [];
  return {
    columns: ['KIND', 'ID', 'NAME', 'ADDRESSES', 'MODE'],
    rows: [
      ...nodes.map((node) => [
        'proxy',
        node.id,
        node.name,
        (node.trust?.ipListIds ?? []).join(' '),
        node.xffMode || 'auto',
      ]),
      ...rules.map((rule) => [
        rule.enabled ? 'header' : 'header (off)',
        rule.id,
        rule.header || 'the peer',
        rule.nodeIds.join(' ') || (rule.allowUntrusted ? 'anyone' : '-'),
        rule.selector || 'first untrusted',
      ]),
    ],
  };
}
