/** `waf upstream`: pools of origins. */

import {
  UpstreamHealthCheckSchema,
  UpstreamSchema,
  type Upstream,
  type UpstreamHealthState,
} from '../../../proto/gen/waf/v1/upstream_pb.ts';
import { againWhenChanged, readAt } from '../change-attempts.ts';
import type { CommandContext, CommandDefinition, FlagDefinition, FlagValues } from '../command.ts';
import { listFlag, textFlag } from '../command.ts';
import { flagsOf, readFields, type FieldFlag } from '../field-flags.ts';
import { badFlag, readPairs } from '../input.ts';
import { changeList, changePairs, listChangeFlags, listMode, noteChange } from '../list-change.ts';
import { nameArgument } from '../named-resource.ts';
import { originTlsFlags, readOriginTls } from './origin-tls.ts';
import type { Table } from '../output.ts';
import { callCommand, deleteCommand, listCommand } from '../regular-commands.ts';
import { only, printable, readMessage, showMessage, showResource, timeText } from '../show.ts';

const idArgument = [nameArgument('upstream')];
const statusNames = ['-', 'active', 'disabled', 'deleted', 'error'];
const textFlags: readonly FieldFlag[] = [
  { flags: '--name <name>', field: 'name', summary: 'name for people' },
  { flags: '--description <text>', field: 'description', summary: 'text for people' },
];
const healthFlags: readonly FieldFlag[] = [
  { flags: '--health-path <path>', field: 'path', summary: 'path that is probed; empty for none' },
  {
    flags: '--health-status <status>',
    field: 'expectedStatus',
    summary: 'status of a healthy answer',
  },
  {
    flags: '--health-interval <seconds>',
    field: 'intervalSeconds',
    summary: 'time between probes',
  },
];
const settingFlags: readonly FlagDefinition[] = [
  ...flagsOf(UpstreamSchema, textFlags),
  {
    flags: '--endpoint <url>',
    summary: 'origin, with an optional ,WEIGHT at the end; repeatable',
    repeatable: true,
  },
  { flags: '--header <name=value>', summary: 'header set on requests', repeatable: true },
  ...originTlsFlags,
  ...flagsOf(UpstreamHealthCheckSchema, healthFlags),
];

/** Commands on pools. */
export const upstreamCommands: readonly CommandDefinition[] = [
  listCommand({
    path: ['upstream', 'list'],
    summary: 'List upstream pools',
    query: 'part of a name',
    call: ({ upstreams }, { page, query }) => upstreams.listUpstreams({ page, query }),
    table: poolTable,
  }),
  {
    path: ['upstream', 'get'],
    summary: 'Show all settings of one upstream pool',
    arguments: idArgument,
    run: async (context, [id = '']) => {
      const response = await (await context.api()).upstreams.getUpstream({ id });
      return showResource(context, response, 'upstream');
    },
  },
  {
    path: ['upstream', 'create'],
    summary: 'Create an upstream pool',
    help: 'Example: waf upstream create --name app --endpoint http://10.0.0.5:8080,3',
    flags: settingFlags,
    run: async (context, _args, flags) => {
      const [value] = readSettings(flags);
      const upstream = await readMessage(UpstreamSchema, value, 'flags');
      const response = await (await context.api()).upstreams.createUpstream({ upstream });
      await showMessage(context, response, poolTable(only(response.upstream)));
      noteProbes(context, response.probes);
      return 0;
    },
  },
  {
    path: ['upstream', 'update'],
    summary: 'Change an upstream pool; unspecified options are unchanged',
    help:
      'Endpoints and headers are added, unless --replace or --remove is given.\n' +
      'Example: waf upstream update ID --endpoint http://10.0.0.6',
    arguments: idArgument,
    flags: [
      ...settingFlags,
      ...listChangeFlags,
      { flags: '--status <status>', summary: 'take part or not', choices: ['active', 'disabled'] },
    ],
    published: true,
    run: async (context, [id = ''], flags) => {
      const [value, mask] = readSettings(flags);
      if (mask.length === 0) throw badFlag('name at least one flag that changes something');
      const { upstreams } = await context.api();
      const response = await againWhenChanged(async () => {
        const { upstream: before } = await upstreams.getUpstream({ id });
        const lists = addToLists(context, before, value, flags);
        return upstreams.updateUpstream({
          upstream: await readMessage(UpstreamSchema, { id, ...value, ...lists }, 'flags'),
          updateMask: mask.join(','),
          expectedUpdatedAt: readAt(before?.updatedAt),
        });
      });
      await showMessage(context, response, poolTable(only(response.upstream)));
      noteProbes(context, response.probes);
      return 0;
    },
  },
  deleteCommand({
    path: ['upstream', 'delete'],
    summary: 'Remove an upstream pool that no site uses',
    arguments: idArgument,
    kind: 'upstream',
    call: ({ upstreams }, id) => upstreams.deleteUpstream({ id }),
  }),
  callCommand({
    path: ['upstream', 'health'],
    summary: 'Show what each node reports of each endpoint',
    help: 'Unknown is not healthy: no node reported, or not for a while.',
    arguments: [{ name: '[pool...]', summary: 'ids or names; none for all', resource: 'upstream' }],
    call: ({ upstreams }, ids) => upstreams.listUpstreamHealth({ upstreamIds: [...ids] }),
    table: ({ items }) => healthTable(items),
  }),
];

/** What asking the endpoints found, where there is something to do about it. */
function noteProbes({ output }: CommandContext, probes: readonly UpstreamHealthState[]): void {
  for (const { endpointUrl, status, lastError } of probes) {
    if (status !== 'healthy') output.note(printable(`${endpointUrl} is ${status}: ${lastError}`));
  }
}

/** What endpoints and headers in `value` become beside those of the pool. */
function addToLists(
  { output }: CommandContext,
  upstream: Upstream | undefined,
  { endpoints, requestHeaders }: Readonly<Record<string, unknown>>,
  flags: FlagValues,
): Record<string, unknown> {
  const mode = listMode(flags);
  const lists: Record<string, unknown> = {};
  if (endpoints !== undefined) {
    const named = endpoints as Endpoint[];
    const present = (upstream?.endpoints ?? []).map(
      ({ url, weight, healthCheckPath }): Endpoint => ({ url, weight, healthCheckPath }),
    );
    const urlOf = ({ url }: Endpoint): string => url;
    const known = new Map(present.map((one) => [one.url, one]));
    const asked = named.map((one) => ({ ...known.get(one.url), ...one }));
    const after = changeList(mode, present, asked, '--endpoint', urlOf);
    noteChange(output, 'taken away', present, after, urlOf);
    lists['endpoints'] = after;
  }
  if (requestHeaders !== undefined) {
    const present = upstream?.requestHeaders ?? {};
    const named = requestHeaders as Record<string, string>;
    const after = changePairs(mode, present, named, '--header');
    noteChange(output, 'taken away', Object.keys(present), Object.keys(after));
    lists['requestHeaders'] = after;
  }
  return lists;
}

interface Endpoint {
  readonly url: string;
  readonly weight: number;
  readonly healthCheckPath?: string;
}

/** What the flags state, in the JSON form of a pool, and the mask that names it. */
function readSettings(flags: FlagValues): [Record<string, unknown>, string[]] {
  const value = readFields(UpstreamSchema, textFlags, flags);
  const endpoints = listFlag(flags, 'endpoint');
  if (endpoints.length > 0) value['endpoints'] = endpoints.map(readEndpoint);
  const headers = listFlag(flags, 'header');
  if (headers.length > 0) value['requestHeaders'] = readPairs(headers, '--header');
  const status = textFlag(flags, 'status');
  if (status !== undefined) value['status'] = `RESOURCE_STATUS_${status.toUpperCase()}`;
  const mask = Object.keys(value);
  for (const [name, fields] of [
    ['tls', readOriginTls(flags)],
    ['healthCheck', readFields(UpstreamHealthCheckSchema, healthFlags, flags)],
  ] as const) {
    const named = Object.keys(fields);
    if (named.length > 0) value[name] = fields;
    mask.push(...named.map((field) => `${name}.${field}`));
  }
  return [value, mask];
}

/** `URL` or `URL,WEIGHT`. Errors: AppError bad_flag. */
function readEndpoint(text: string): { url: string; weight: number } {
  const [url = '', weight = '1', ...rest] = text.split(',');
  if (rest.length > 0 || !/^\d{1,4}$/.test(weight)) {
    throw badFlag('--endpoint wants URL or URL,WEIGHT');
  }
  return { url, weight: Number(weight) };
}

function poolTable(pools: readonly Upstream[]): Table {
  return {
    columns: ['ID', 'NAME', 'ENDPOINTS', 'PROBE', 'STATUS'],
    rows: pools.map((pool) => [
      pool.id,
      pool.name,
      pool.endpoints.map(({ url, weight }) => (weight > 1 ? `${url},${weight}` : url)).join(' '),
      pool.healthCheck?.path || '-',
      statusNames[pool.status] ?? '-',
    ]),
  };
}

function healthTable(states: readonly UpstreamHealthState[]): Table {
  return {
    columns: ['NODE', 'POOL', 'ENDPOINT', 'STATUS', 'REPORTED', 'REASON'],
    ids: { POOL: ['upstream'] },
    rows: states.map((state) => [
      state.nodeId,
      state.upstreamId,
      state.endpointUrl,
      state.status,
      timeText(state.reportedAt),
      state.lastError,
    ]),
  };
}
