/** `waf audit ...`: who changed what, and whether the record of it is whole. */

import type { AuditEntry, ChainBreak } from '../../../proto/gen/waf/v1/audit_pb.ts';
import type { CommandContext, CommandDefinition, FlagValues } from '../command.ts';
import { textFlag } from '../command.ts';
import { badFlag } from '../input.ts';
import type { Table } from '../output.ts';
import { readCount } from '../paging.ts';
import { showMessage, timeText } from '../show.ts';

const timeFlags = [
  { flags: '--since <time>', summary: 'from this time on, RFC 3339 or minutes ago' },
  { flags: '--until <time>', summary: 'before this time, RFC 3339 or minutes ago' },
];

/** Commands on the audit log. */
export const auditCommands: readonly CommandDefinition[] = [
  {
    path: ['audit', 'list'],
    summary: 'List audit entries, newest first',
    help: 'Example: waf audit list --type user --since 60',
    flags: [
      { flags: '--actor <text>', summary: 'part of the name of who did it' },
      { flags: '--actor-id <id>', summary: 'id of who did it' },
      { flags: '--action <name>', summary: 'for example create, update, delete, login' },
      { flags: '--type <name>', summary: 'kind of resource, for example site' },
      { flags: '--resource <id>', summary: 'id of the resource' },
      { flags: '--outcome <name>', summary: 'how it ended', choices: ['success', 'failure'] },
      { flags: '--ip <address>', summary: 'address of who did it' },
      ...timeFlags,
      { flags: '--limit <n>', summary: 'entries shown, at most 200', default: '50' },
      { flags: '--cursor <text>', summary: 'cursor of the next page, as a list printed it' },
    ],
    run: runList,
  },
  {
    path: ['audit', 'get'],
    summary: 'Show an audit entry with what changed',
    arguments: [{ name: '<id>', summary: 'id of the entry' }],
    run: runGet,
  },
  {
    path: ['audit', 'status'],
    summary: 'Show the state of the audit chain',
    help: 'Exit code 1 when it is broken.',
    run: async (context) => {
      const { audit } = await context.api();
      const response = await audit.getChainStatus({});
      await showMessage(
        context,
        response,
        chainTable(response, timeText(response.latestVerifiedAt)),
      );
      showBreaks(context, response.breaks);
      return response.healthy ? 0 : 1;
    },
  },
  {
    path: ['audit', 'verify'],
    summary: 'Verify the audit chain and list every broken entry',
    help: 'Exit code 1 when a row was changed, removed or moved.',
    flags: timeFlags,
    run: async (context, _args, flags) => {
      const { audit } = await context.api();
      const response = await audit.verifyChain(await readTimeRange(flags));
      await showMessage(context, response, chainTable(response, timeText(response.verifiedAt)));
      showBreaks(context, response.breaks);
      return response.healthy ? 0 : 1;
    },
  },
];

async function runList(
  context: CommandContext,
  _args: readonly string[],
  flags: FlagValues,
): Promise<number> {
  const { audit } = await context.api();
  const text = (name: string): string => textFlag(flags, name) ?? '';
  const response = await audit.queryAudit({
    page: { cursor: text('cursor'), pageSize: readCount(flags, 'limit', '--limit') },
    ...(await readTimeRange(flags)),
    actorId: text('actorId'),
    actorQuery: text('actor'),
    action: text('action'),
    resourceType: text('type'),
    resourceId: text('resource'),
    outcome: text('outcome'),
    actorIp: text('ip'),
  });
  await showMessage(context, response, {
    columns: ['ID', 'TIME', 'ACTOR', 'ACTION', 'TYPE', 'RESOURCE', 'CHANGED'],
    rows: response.items.map((entry) => [
      entry.id,
      timeText(entry.createdAt),
      entry.actorName,
      entry.action,
      entry.resourceType,
      entry.resourceName || entry.resourceId,
      entry.diff?.changedPaths.join(' ') ?? '',
    ]),
  });
  const { page, total } = response;
  if (page?.hasMore === true) {
    context.output.note(
      `Showing ${response.items.length} of ${total}. Next page: --cursor ${page.nextCursor}`,
    );
  }
  return 0;
}

async function runGet(context: CommandContext, [id = '']: readonly string[]): Promise<number> {
  const { audit } = await context.api();
  const response = await audit.getAuditEntry({ id });
  const { entry } = response;
  return showMessage(context, response, {
    columns: ['FIELD', 'BEFORE', 'AFTER'],
    rows: entry === undefined ? [] : [...headRows(entry), ...changeRows(entry)],
  });
}

function headRows(entry: AuditEntry): string[][] {
  return [
    ['time', '', timeText(entry.createdAt)],
    ['actor', '', `${entry.actorName} (${entry.actorId})`],
    ['action', '', `${entry.action} ${entry.resourceType}`],
    ['resource', '', `${entry.resourceName} ${entry.resourceId}`.trim()],
    ...Object.entries(entry.metadata ?? {}).map(([name, value]) => [name, '', textOf(value)]),
    ['hash', entry.prevHash, entry.hash],
  ];
}

function changeRows({ diff }: AuditEntry): string[][] {
  return (diff?.changedPaths ?? []).map((path) => [
    path,
    textOf(valueAt(diff?.before, path)),
    textOf(valueAt(diff?.after, path)),
  ]);
}

function valueAt(from: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Record<string, unknown>)[name]
          : undefined,
      from,
    );
}

function textOf(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

interface Chain {
  readonly healthy: boolean;
  readonly checkedRows: bigint;
  readonly latestHash: string;
}

function chainTable({ healthy, checkedRows, latestHash }: Chain, at: string): Table {
  return {
    columns: ['CHAIN', 'ROWS', 'VERIFIED', 'LAST HASH'],
    rows: [[healthy ? 'whole' : 'BROKEN', String(checkedRows), at, latestHash]],
  };
}

function showBreaks({ output }: CommandContext, breaks: readonly ChainBreak[]): void {
  if (output.format !== 'table' || breaks.length === 0) return;
  output.result(null, {
    columns: ['ROW', 'TIME', 'WHAT IS WRONG'],
    rows: breaks.map((one) => [
      one.rowId,
      timeText(one.createdAt),
      one.expectedRowHash === one.actualRowHash
        ? 'the row before it is missing or another'
        : 'the row was changed or removed',
    ]),
  });
}

async function readTimeRange(flags: FlagValues): Promise<object> {
  const { timestampFromMs } = await import('@bufbuild/protobuf/wkt');
  const read = (name: string) => {
    const text = textFlag(flags, name);
    if (text === undefined) return undefined;
    const ms = /^\d+$/.test(text) ? Date.now() - Number(text) * 60_000 : Date.parse(text);
    if (Number.isNaN(ms)) throw badFlag(`--${name} wants a time such as 2026-01-31T12:00:00Z`);
    return timestampFromMs(ms);
  };
  const start = read('since');
  const end = read('until');
  if (start === undefined && end === undefined) return {};
  return {
    timeRange: { ...(start === undefined ? {} : { start }), ...(end === undefined ? {} : { end }) },
  };
}
