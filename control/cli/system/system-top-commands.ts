/** `waf system top` and `traffic`: rankings of requests and security events; requests over time. */

import type {
  DashboardSecurityTopK,
  DashboardTopK,
  GetDashboardOverviewResponse,
} from '../../../proto/gen/waf/v1/system_pb.ts';
import type { CommandDefinition } from '../command.ts';
import { textFlag } from '../command.ts';
import { badFlag } from '../input.ts';
import type { Table } from '../output.ts';
import { readCount } from '../paging.ts';
import { callCommand } from '../regular-commands.ts';
import { lastHours, showMessage, timeText } from '../show.ts';

type Overview = GetDashboardOverviewResponse;

/** Rankings of requests, by the name that people give. */
const ofRequests: Readonly<Record<string, (one: Overview) => DashboardTopK | undefined>> = {
  path: (one) => one.topPaths,
  'user-agent': (one) => one.topUserAgents,
  method: (one) => one.topMethods,
  'http-version': (one) => one.topHttpVersions,
  'transport-version': (one) => one.topTransportVersions,
  status: (one) => one.topStatuses,
};

/** Rankings of security events. */
const ofEvents: Readonly<Record<string, (one: Overview) => DashboardSecurityTopK | undefined>> = {
  attacker: (one) => one.securityTopAttackers,
  country: (one) => one.securityTopCountries,
  attack: (one) => one.securityTopAttackTypes,
  rule: (one) => one.securityTopRules,
  target: (one) => one.securityTopTargets,
};

/** Says that a ranking does not hold every value. */
export const limitedNote =
  'There were too many different values to count each: rare ones may be missing, counts too low.';

const names = [...Object.keys(ofRequests), ...Object.keys(ofEvents)];

/** Commands on rankings. */
export const systemTopCommands: readonly CommandDefinition[] = [
  {
    path: ['system', 'top'],
    summary: 'Rank paths, programs, attackers and more',
    help:
      'Example: waf system top path --hours 1 --site SITE_ID\n' +
      'Of all requests, in whole hours: path, user-agent, method, http-version,\n' +
      'transport-version; exactly: status.\n' +
      'Of security events: attacker, country, attack, rule, target.\n' +
      'Rare values of requests may be missing; a shown count is never too high.',
    arguments: [{ name: '<what>', summary: names.join(', ') }],
    flags: [
      { flags: '--hours <n>', summary: 'how far back', default: '24' },
      { flags: '--site <site>', summary: 'only this site', resource: 'site' },
      { flags: '--limit <n>', summary: 'how many', default: '10' },
    ],
    run: async (context, [what = ''], flags) => {
      const schemas = await import('../../../proto/gen/waf/v1/system_pb.ts');
      const requests = ofRequests[what];
      const events = ofEvents[what];
      if (requests === undefined && events === undefined) {
        throw badFlag(`<what> must be one of ${names.join(', ')}`);
      }
      const { system } = await context.api();
      const overview = await system.getDashboardOverview({
        timeRange: await lastHours(readCount(flags, 'hours', '--hours')),
        siteId: textFlag(flags, 'site') ?? '',
        bucketSize: '1h',
        topKLimit: readCount(flags, 'limit', '--limit'),
      });
      const { create } = await import('@bufbuild/protobuf');
      if (requests !== undefined) {
        const { DashboardTopKSchema } = schemas;
        const ranking = requests(overview) ?? create(DashboardTopKSchema);
        return showMessage(context, ranking, requestTable(what, ranking));
      }
      const { DashboardSecurityTopKSchema } = schemas;
      const ranking = events?.(overview) ?? create(DashboardSecurityTopKSchema);
      await showMessage(context, ranking, eventTable(what, ranking));
      if (ranking.unavailableReason !== '') context.output.note(ranking.unavailableReason);
      if (overview.coverageLimited) context.output.note(limitedNote);
      return 0;
    },
  },
  callCommand({
    path: ['system', 'traffic'],
    summary: 'Show requests over time',
    help: 'Example: waf system traffic --hours 2 --step 5m',
    flags: [
      { flags: '--hours <n>', summary: 'how far back', default: '24' },
      { flags: '--step <time>', summary: 'length of a step', default: '1h' },
      { flags: '--site <site>', summary: 'only this site', resource: 'site' },
    ],
    call: async ({ system }, _args, flags) =>
      system.getTrafficTimeseries({
        timeRange: await lastHours(readCount(flags, 'hours', '--hours')),
        bucketSize: textFlag(flags, 'step') ?? '',
        siteId: textFlag(flags, 'site') ?? '',
      }),
    table: ({ points }) => ({
      columns: ['FROM', 'REQUESTS', 'BLOCKED', 'BYTES IN', 'BYTES OUT'],
      rows: points.map((one) => [
        timeText(one.bucketStart),
        String(one.total),
        String(one.blocked),
        String(one.bytesIn),
        String(one.bytesOut),
      ]),
    }),
  }),
];

function requestTable(what: string, { items, otherTotal, otherBlocked }: DashboardTopK): Table {
  const others = otherTotal > 0n ? [['(others)', String(otherTotal), String(otherBlocked)]] : [];
  return {
    columns: [what.toUpperCase(), 'REQUESTS', 'BLOCKED'],
    rows: [
      ...items.map((one) => [one.key || '(none)', String(one.total), String(one.blocked)]),
      ...others,
    ],
  };
}

function eventTable(what: string, { items, otherCount }: DashboardSecurityTopK): Table {
  const others = otherCount > 0n ? [['(others)', String(otherCount)]] : [];
  return {
    columns: [what.toUpperCase(), 'EVENTS', ...(what === 'attacker' ? ['COUNTRY'] : [])],
    rows: [
      ...items.map(({ key, count, geo }) => [
        key || '(none)',
        String(count),
        ...(what === 'attacker' ? [geo?.countryCode ?? ''] : []),
      ]),
      ...others,
    ],
  };
}
