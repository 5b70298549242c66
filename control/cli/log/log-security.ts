/** `waf log security`: security events, newest first, or one request's with its rules. */

import type { SecurityEvent } from '../../../proto/gen/waf/v1/log_pb.ts';
import type { CommandContext, CommandDefinition } from '../command.ts';
import { listFlag, textFlag } from '../command.ts';
import { eventFlags, eventQuery, noteMore, timeText } from './log-flags.ts';

/** The command. */
export const logSecurityCommand: CommandDefinition = {
  path: ['log', 'security'],
  summary: 'Show security events',
  help: 'Example: waf log security --request-id ID   (the X-Request-Id of an answer)',
  flags: [
    ...eventFlags,
    { flags: '--rule <id>', summary: 'only with this rule; repeatable', repeatable: true },
    { flags: '--client <cidr>', summary: 'only these clients; repeatable', repeatable: true },
    {
      flags: '--country <code>',
      summary: 'only clients in this country, such as DE; repeatable',
      repeatable: true,
    },
    { flags: '--path <path>', summary: 'only this path, without its query' },
    { flags: '--severity <name>', summary: 'this severity or worse' },
    { flags: '--outcome <name>', summary: 'blocked or passed', choices: ['blocked', 'passed'] },
  ],
  run: async (context, _args, flags) => {
    const { QuerySecurityEventsResponseSchema, SecurityEventOutcome } =
      await import('../../../proto/gen/waf/v1/log_pb.ts');
    const { toJson } = await import('@bufbuild/protobuf');
    const { logs } = await context.api();
    const requestId = textFlag(flags, 'requestId');
    const outcome = textFlag(flags, 'outcome');
    const { ANY, BLOCKED, PASSED } = SecurityEventOutcome;
    const response = await logs.querySecurityEvents({
      ...(await eventQuery(flags)),
      outcome: outcome === 'blocked' ? BLOCKED : outcome === 'passed' ? PASSED : ANY,
      ruleIds: [...listFlag(flags, 'rule')],
      clientIpCidrs: [...listFlag(flags, 'client')],
      countryCodes: listFlag(flags, 'country').map((code) => code.toUpperCase()),
      path: textFlag(flags, 'path') ?? '',
      minimumSeverity: textFlag(flags, 'severity') ?? '',
    });
    context.output.result(toJson(QuerySecurityEventsResponseSchema, response), {
      columns: ['TIME', 'CLIENT', 'STATUS', 'OUTCOME', 'SCORE', 'REQUEST', 'RULES', 'REQUEST ID'],
      rows: await Promise.all(response.items.map(toRow)),
    });
    if (requestId !== undefined) showMessages(context, response.items);
    noteMore(context.output, response.items.length, response.page);
    return requestId !== undefined && response.items.length === 0 ? 1 : 0;
  },
};

async function toRow(event: SecurityEvent): Promise<string[]> {
  return [
    await timeText(event.occurredAt),
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
