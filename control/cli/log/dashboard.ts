/** `waf dashboard`: what happens now, on one page of a terminal. */

import type { ListNodesResponse } from '../../../proto/gen/waf/v1/agent_pb.ts';
import type { ListAlertsResponse } from '../../../proto/gen/waf/v1/alert_pb.ts';
import type { GetDashboardOverviewResponse } from '../../../proto/gen/waf/v1/system_pb.ts';
import type { ListUpstreamHealthResponse } from '../../../proto/gen/waf/v1/upstream_pb.ts';
import { commandLineLimits } from '../../limits/command-limits.ts';
import { tableOf } from '../alert/alert-table.ts';
import type { ApiClient } from '../api-client.ts';
import { textFlag, type CommandContext, type CommandDefinition } from '../command.ts';
import { badFlag } from '../input.ts';
import { renderTable, type Table } from '../output.ts';
import { readCount } from '../paging.ts';
import { lastHours, printable, timeText } from '../show.ts';
import { limitedNote } from '../system/system-top-commands.ts';

/** What one page shows. A part that the caller may not read is absent, and named. */
interface Page {
  readonly overview: GetDashboardOverviewResponse;
  readonly siteNames: ReadonlyMap<string, string>;
  readonly nodes: ListNodesResponse | null;
  readonly origins: ListUpstreamHealthResponse | null;
  readonly alerts: ListAlertsResponse | null;
  readonly leftOut: readonly string[];
}

/** The command. */
export const dashboardCommand: CommandDefinition = {
  path: ['dashboard'],
  summary: 'Show requests, attacks, sites, nodes, origins and alerts on one page',
  help: `Example: waf dashboard --hours 1 --watch 5
Requests and sites are exact counts in steps of an hour. Rules, attacks and attackers rank the
security events that are kept. --watch repeats the page until Ctrl-C; on a terminal in its place.`,
  flags: [
    { flags: '--hours <n>', summary: 'how far back', default: '24' },
    { flags: '--site <site>', summary: 'only requests and events of this site', resource: 'site' },
    { flags: '--limit <n>', summary: 'rows of each ranking', default: '5' },
    { flags: '--watch <seconds>', summary: 'repeat the page at this interval' },
    { flags: '--times <n>', summary: 'with --watch: end after N pages' },
  ],
  run: async (context, _args, flags) => {
    const watched = textFlag(flags, 'watch') !== undefined;
    const seconds = watched ? readCount(flags, 'watch', '--watch') : 0;
    if (seconds > commandLineLimits.watchSecondsMax) {
      throw badFlag(`--watch is at most ${commandLineLimits.watchSecondsMax} seconds`);
    }
    const limited = textFlag(flags, 'times') !== undefined;
    if (limited && !watched) throw badFlag('--times goes with --watch');
    const times = limited ? readCount(flags, 'times', '--times') : watched ? Infinity : 1;
    const question = {
      hours: readCount(flags, 'hours', '--hours'),
      siteId: textFlag(flags, 'site') ?? '',
      limit: readCount(flags, 'limit', '--limit'),
    };
    const api = await context.api();
    for (let shown = 1; ; shown += 1) {
      const page = await readPage(api, question);
      if (watched && process.stdout.isTTY) context.output.line('\u001b[H\u001b[2J');
      await showPage(context, page, question.hours);
      if (shown >= times) return 0;
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    }
  },
};

interface Question {
  readonly hours: number;
  readonly siteId: string;
  readonly limit: number;
}

async function readPage(api: ApiClient, { hours, siteId, limit }: Question): Promise<Page> {
  const { Code, ConnectError } = await import('@connectrpc/connect');
  const leftOut: string[] = [];
  const allowed = async <T>(what: string, answer: Promise<T>): Promise<T | null> => {
    try {
      return await answer;
    } catch (error) {
      const denied = error instanceof ConnectError && error.code === Code.PermissionDenied;
      if (!denied) throw error;
      leftOut.push(`${what}: ${error.rawMessage}`);
      return null;
    }
  };
  const overview = await api.system.getDashboardOverview({
    timeRange: await lastHours(hours),
    siteId,
    bucketSize: '1h',
    topKLimit: limit,
  });
  const { allPages } = await import('../all-pages.ts');
  const sites = await allowed(
    'names of sites',
    allPages((page) => api.sites.listSites({ page })),
  );
  return {
    overview,
    siteNames: new Map((sites ?? []).map(({ id, name }) => [id, name])),
    nodes: await allowed('nodes', api.agents.listNodes({})),
    origins: await allowed('origins', api.upstreams.listUpstreamHealth({})),
    alerts: await allowed('alerts', api.alerts.listAlerts({ activeOnly: true })),
    leftOut,
  };
}

/** For programs the answers of the API, by name; for people sections. */
async function showPage(context: CommandContext, page: Page, hours: number): Promise<void> {
  const { output } = context;
  for (const one of page.leftOut) output.note(`not shown: ${one}`);
  if (output.format === 'table') {
    for (const [title, table] of sectionsOf(page, hours)) {
      output.line(
        `${title}\n${table.rows.length === 0 ? 'none\n' : renderTable(table, process.stdout.isTTY !== true)}`,
      );
    }
  } else output.result(await asJson(page), { columns: [], rows: [] });
  if (page.overview.coverageLimited) output.note(limitedNote);
}

async function asJson({ overview, nodes, origins, alerts }: Page): Promise<object> {
  const { toJson } = await import('@bufbuild/protobuf');
  const agent = await import('../../../proto/gen/waf/v1/agent_pb.ts');
  const alert = await import('../../../proto/gen/waf/v1/alert_pb.ts');
  const system = await import('../../../proto/gen/waf/v1/system_pb.ts');
  const upstream = await import('../../../proto/gen/waf/v1/upstream_pb.ts');
  return {
    overview: toJson(system.GetDashboardOverviewResponseSchema, overview),
    ...(nodes === null ? {} : { nodes: toJson(agent.ListNodesResponseSchema, nodes) }),
    ...(origins === null
      ? {}
      : { origins: toJson(upstream.ListUpstreamHealthResponseSchema, origins) }),
    ...(alerts === null ? {} : { alerts: toJson(alert.ListAlertsResponseSchema, alerts) }),
  };
}

function sectionsOf(
  { overview, siteNames, nodes, origins, alerts }: Page,
  hours: number,
): (readonly [string, Table])[] {
  const events = (
    ranking: { readonly items: readonly { key: string; count: bigint }[] } | undefined,
  ) => (ranking?.items ?? []).map(({ key, count }) => [printable(key) || '(none)', String(count)]);
  const part = <T>(answer: T | null, title: string, table: (found: T) => Table) =>
    answer === null ? [] : [[title, table(answer)] as const];
  return [
    [`REQUESTS, last ${hours} h`, requestTable(overview)],
    ['SITES', siteTable(overview, siteNames)],
    ['RULES', { columns: ['RULE', 'EVENTS'], rows: events(overview.securityTopRules) }],
    ['ATTACKS', { columns: ['ATTACK', 'EVENTS'], rows: events(overview.securityTopAttackTypes) }],
    ['ATTACKERS', { columns: ['ADDRESS', 'EVENTS'], rows: events(overview.securityTopAttackers) }],
    ...part(nodes, 'NODES', nodeTable),
    ...part(origins, 'ORIGINS', originTable),
    ...part(alerts, 'ALERTS', ({ items }) => tableOf(items)),
  ];
}

function requestTable({ traffic, stats }: GetDashboardOverviewResponse): Table {
  const sum = (of: (point: (typeof traffic)[number]) => bigint): string =>
    String(traffic.reduce((total, point) => total + of(point), 0n));
  return {
    columns: ['REQUESTS', 'BLOCKED', 'BYTES IN', 'BYTES OUT', 'SITES', 'NODES ONLINE'],
    rows: [
      [
        ...[sum((one) => one.total), sum((one) => one.blocked)],
        ...[sum((one) => one.bytesIn), sum((one) => one.bytesOut)],
        ...[
          String(stats?.sitesEnabled ?? 0),
          `${stats?.nodesOnline ?? 0} of ${stats?.nodesTotal ?? 0}`,
        ],
      ],
    ],
  };
}

function siteTable(
  { topSites, otherSitesTotal }: GetDashboardOverviewResponse,
  names: ReadonlyMap<string, string>,
): Table {
  const others = otherSitesTotal > 0n ? [['(others)', String(otherSitesTotal), '']] : [];
  return {
    columns: ['SITE', 'REQUESTS', 'BLOCKED'],
    rows: [
      ...topSites.map(({ siteId, total, blocked }) => [
        printable(names.get(siteId) ?? siteId),
        String(total),
        String(blocked),
      ]),
      ...others,
    ],
  };
}

function nodeTable({ items }: ListNodesResponse): Table {
  return {
    columns: ['NODE', 'STATUS', 'REVISION'],
    rows: items.map((one) => [
      printable(one.name || one.id),
      one.connectionStatus,
      String(one.configRevision),
    ]),
  };
}

function originTable({ items }: ListUpstreamHealthResponse): Table {
  return {
    columns: ['ORIGIN', 'POOL', 'NODE', 'STATUS', 'SINCE'],
    rows: items.map((one) => [
      one.endpointUrl || one.address,
      one.upstreamId,
      one.nodeId,
      one.status,
      timeText(one.lastTransitionAt),
    ]),
  };
}
