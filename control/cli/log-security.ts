/** `waf log security`: security events, newest first, or one request's with its rules. */

import { AppError } from '../../engine/base/errors.ts';
import type { SecurityEvent } from '../../proto/gen/waf/v1/log_pb.ts';
import type { CommandContext, CommandDefinition } from './command.ts';
import { listFlag, textFlag } from './command.ts';
import { readCount } from './paging.ts';

/** The command. */
export const logSecurityCommand: CommandDefinition = {
  path: ['log', 'security'],
  summary: 'Show security events',
  help: 'Example: waf log security --request-id ID   (the X-Request-Id of an answer)',
  arguments: [],
  flags: [
    { flags: '--request-id <id>', summary: 'only this request, with its matched rules' },
    { flags: '--site <site>', summary: 'only this site', resource: 'site' },
    { flags: '--rule <id>', summary: 'only with this rule; repeatable', repeatable: true },
    { flags: '--client <cidr>', summary: 'only these clients; repeatable', repeatable: true },
    { flags: '--severity <name>', summary: 'this severity or worse' },
    { flags: '--since <minutes>', summary: 'only the last minutes' },
    { flags: '--limit <n>', summary: 'events shown', default: '50' },
  ],
  run: async (context, _args, flags) => {
    const { QuerySecurityEventsResponseSchema, SecurityEventOutcome } =
      await import('../../proto/gen/waf/v1/log_pb.ts');
    const { toJson } = await import('@bufbuild/protobuf');
    const { logs } = await context.api();
    const requestId = textFlag(flags, 'requestId');
    const response = await logs.querySecurityEvents({
      page: { pageSize: readCount(flags, 'limit', '--limit') },
      ...(await readTimeRange(textFlag(flags, 'since'))),
      outcome: SecurityEventOutcome.ANY,
      uniqueId: requestId ?? '',
      siteId: textFlag(flags, 'site') ?? '',
      ruleIds: [...listFlag(flags, 'rule')],
      clientIpCidrs: [...listFlag(flags, 'client')],
      minimumSeverity: textFlag(flags, 'severity') ?? '',
    });
    context.output.result(toJson(QuerySecurityEventsResponseSchema, response), {
      columns: ['TIME', 'CLIENT', 'STATUS', 'OUTCOME', 'SCORE', 'REQUEST', 'RULES', 'REQUEST ID'],
      rows: await Promise.all(response.items.map(toRow)),
    });
    if (requestId !== undefined) showMessages(context, response.items);
    if (response.page?.hasMore === true)
      context.output.note(`Showing ${response.items.length}; use --limit for more.`);
    return requestId !== undefined && response.items.length === 0 ? 1 : 0;
  },
};

async function readTimeRange(minutes: string | undefined): Promise<object> {
  if (minutes === undefined) return {};
  const count = Number(minutes);
  if (!(count > 0)) {
    throw new AppError('bad_flag', '--since wants minutes', { source: 'config' });
  }
  const { timestampFromMs } = await import('@bufbuild/protobuf/wkt');
  return { timeRange: { start: timestampFromMs(Date.now() - count * 60_000) } };
}

async function toRow(event: SecurityEvent): Promise<string[]> {
  const { timestampDate } = await import('@bufbuild/protobuf/wkt');
  return [
    event.occurredAt === undefined ? '' : timestampDate(event.occurredAt).toISOString(),
    event.clientIp,
    String(event.status),
    event.blocked ? 'blocked' : 'passed',
    String(event.anomalyScore),
    `${event.method} ${event.host}${event.path}`,
    event.ruleIds.join(' '),
    event.requestId,
  ];
}

/** The rules of one request, under its event. */
function showMessages({ output }: CommandContext, events: readonly SecurityEvent[]): void {
  if (output.format !== 'table') return;
  for (const { messages } of events) {
    output.result(null, {
      columns: ['', 'RULE', 'SEVERITY', 'MESSAGE', 'MATCHED'],
      rows: messages.map((one) => ['', one.ruleId, one.severity, one.message, one.matchData]),
    });
  }
}
