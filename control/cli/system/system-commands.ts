/** `waf system`: health, settings and the head of the overview. */

import { againWhenChanged, readAt } from '../change-attempts.ts';
import type { CommandDefinition, FlagDefinition } from '../command.ts';
import { listFlag, switchFlag, textFlag } from '../command.ts';
import { badFlag, readInputObject, readPairs } from '../input.ts';
import { leafPaths } from '../leaf-paths.ts';
import { noteChange } from '../list-change.ts';
import type { Table } from '../output.ts';
import { readCount } from '../paging.ts';
import { callCommand } from '../regular-commands.ts';
import { lastHours, printable, showMessage } from '../show.ts';
import { systemConsole } from './system-console.ts';
import { limitedNote } from './system-top-commands.ts';

const rangeFlags: readonly FlagDefinition[] = [
  { flags: '--hours <n>', summary: 'how far back', default: '24' },
  { flags: '--site <site>', summary: 'only this site', resource: 'site' },
  { flags: '--limit <n>', summary: 'how many', default: '10' },
];

/** Commands on the product as a whole. */
export const systemCommands: readonly CommandDefinition[] = [
  callCommand({
    path: ['system', 'health'],
    summary: 'Show the health of each part; exit code 1 when one is unhealthy',
    call: ({ system }) => system.health({}),
    table: (response) => ({
      columns: ['PART', 'STATUS', 'MESSAGE'],
      rows: response.checks.map((one) => [one.component, one.status, one.message]),
    }),
    after: ({ output }, response) => {
      for (const { component, status, message } of response.checks) {
        // Cells of a table are cut; a reason is read to its end.
        if (status !== 'healthy' && message !== '') {
          output.line(`${component}: ${printable(message)}`);
        }
      }
      const revision = String(response.configRevision);
      output.line(
        `${response.status}, configuration ${revision}, active sites ${response.activeSites}`,
      );
      return response.status === 'healthy' ? 0 : 1;
    },
  }),
  callCommand({
    path: ['system', 'settings'],
    summary: 'Show the settings of the deployment',
    help: 'Values as JSON: waf system settings --output json',
    call: ({ system }) => system.getSystemSettings({}),
    table: ({ settings }) => settingsTable(settings?.values ?? {}, settings?.sources ?? {}),
  }),
  {
    path: ['system', 'settings-set'],
    summary: 'Change settings of the deployment; other settings are unchanged',
    help:
      'Example: waf system settings-set --set auth.access_token_seconds=3600\n' +
      'Values are JSON; null returns to the default. --file takes an object of several.',
    flags: [
      { flags: '--set <key=json>', summary: 'one setting; repeatable', repeatable: true },
      { flags: '--file <file>', summary: 'object of settings; - reads standard input' },
      { flags: '--replace', summary: 'a setting that is an object becomes what is named' },
    ],
    run: async (context, _args, flags) => {
      const file = textFlag(flags, 'file');
      const given = readPairs(listFlag(flags, 'set'), '--set');
      const values = {
        ...(file === undefined ? {} : readInputObject(file)),
        ...Object.fromEntries(Object.entries(given).map(([key, text]) => [key, readJson(text)])),
      };
      if (Object.keys(values).length === 0) throw badFlag('give --set or --file');
      const { system } = await context.api();
      const replace = switchFlag(flags, 'replace');
      const [before, response] = await againWhenChanged(async () => {
        const { settings } = await system.getSystemSettings({});
        const present = settings?.values ?? {};
        const wanted = replace ? values : keepUnnamed(present, values);
        const expectedUpdatedAt = readAt(settings?.updatedAt);
        const request = { values: wanted as never, expectedUpdatedAt };
        return [present, await system.updateSystemSettings(request)];
      });
      const { values: after = {}, sources = {} } = response.settings ?? {};
      for (const key of Object.keys(values)) {
        noteChange(context.output, `${key}: taken away`, partsOf(before[key]), partsOf(after[key]));
      }
      await showMessage(context, response, settingsTable(after, sources));
      context.output.note(`application: ${response.application}`);
      return 0;
    },
  },
  systemConsole,
  callCommand({
    path: ['system', 'stats'],
    summary: 'Count sites, certificates that end soon, and nodes',
    call: ({ system }) => system.getDashboardStats({}),
    table: ({ stats }) => ({
      columns: ['WHAT', 'COUNT'],
      rows: [
        ['sites enabled', String(stats?.sitesEnabled ?? 0)],
        ['certificates that end within 14 days', String(stats?.certsExpiring14d ?? 0)],
        ['certificates that end within 30 days', String(stats?.certsExpiring30d ?? 0)],
        ['nodes online', `${stats?.nodesOnline ?? 0} of ${stats?.nodesTotal ?? 0}`],
      ],
    }),
  }),
  {
    path: ['system', 'attackers'],
    summary: 'Rank addresses by their security events',
    flags: rangeFlags,
    run: async (context, _args, flags) => {
      const { system } = await context.api();
      const response = await system.getTopAttackers({
        timeRange: await lastHours(readCount(flags, 'hours', '--hours')),
        siteId: textFlag(flags, 'site') ?? '',
        limit: readCount(flags, 'limit', '--limit'),
      });
      await showMessage(context, response, {
        columns: ['ADDRESS', 'EVENTS', 'COUNTRY', 'ATTACKS'],
        rows: response.items.map((one) => [
          one.clientIp,
          String(one.count),
          one.geo?.countryCode ?? '',
          one.topTags.join(' '),
        ]),
      });
      if (response.coverageLimited) context.output.note(limitedNote);
      return 0;
    },
  },
  {
    path: ['system', 'attacks'],
    summary: 'Count attacks by family',
    flags: rangeFlags,
    run: async (context, _args, flags) => {
      const { system } = await context.api();
      const response = await system.getAttackDistribution({
        timeRange: await lastHours(readCount(flags, 'hours', '--hours')),
        siteId: textFlag(flags, 'site') ?? '',
        limit: readCount(flags, 'limit', '--limit'),
      });
      await showMessage(context, response, {
        columns: ['ATTACK', 'EVENTS'],
        rows: response.items.map((one) => [one.tag, String(one.count)]),
      });
      if (response.coverageLimited) context.output.note(limitedNote);
      return 0;
    },
  },
];

type JsonObject = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The named values, with what objects among them have already and the caller does not name. */
function keepUnnamed(before: JsonObject, named: JsonObject): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(named).map(([key, value]) => {
      const present = Object.hasOwn(before, key) ? before[key] : undefined;
      if (!isObject(value) || !isObject(present)) return [key, value];
      return [key, { ...present, ...keepUnnamed(present, value) }];
    }),
  );
}

/** What a value consists of: items of a list, members of an object. */
function partsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map((one) => printable(JSON.stringify(one)));
  return isObject(value) ? leafPaths(value) : [];
}

function settingsTable(
  values: Readonly<Record<string, unknown>>,
  sources: Readonly<Record<string, string>>,
): Table {
  return {
    columns: ['KEY', 'VALUE', 'SOURCE'],
    rows: Object.entries(values).map(([key, value]) => [
      key,
      JSON.stringify(value),
      sources[key] ?? '',
    ]),
  };
}

/** A value of JSON; what is none counts as text. */
function readJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
