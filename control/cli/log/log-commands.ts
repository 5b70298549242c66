/** `waf log access`, `errors` and `tail`: what happened, newest first, or as it happens. */

import { counted } from '../../../base/counted.ts';
import { AppError } from '../../../base/errors.ts';
import type { AccessEvent, ErrorEvent } from '../../../proto/gen/waf/v1/log_pb.ts';
import { listFlag, textFlag, type CommandDefinition } from '../command.ts';
import { eventFlags, eventQuery, noteMore, timeText } from './log-flags.ts';
import { logSecurityCommand } from './log-security.ts';

const logAccessCommand: CommandDefinition = {
  path: ['log', 'access'],
  summary: 'Show requests that the log policy kept',
  help: 'Example: waf log access --status 502 --path /api --since 60',
  flags: [
    ...eventFlags,
    { flags: '--client <cidr>', summary: 'only these clients; repeatable', repeatable: true },
    { flags: '--status <code>', summary: 'only these statuses; repeatable', repeatable: true },
    { flags: '--method <name>', summary: 'only this method' },
    { flags: '--path <prefix>', summary: 'only paths with this prefix' },
  ],
  run: async (context, _args, flags) => {
    const { output } = context;
    const { QueryAccessEventsResponseSchema } = await import('../../../proto/gen/waf/v1/log_pb.ts');
    const { toJson } = await import('@bufbuild/protobuf');
    const { logs } = await context.api();
    const response = await logs.queryAccessEvents({
      ...(await eventQuery(flags)),
      clientIpCidrs: [...listFlag(flags, 'client')],
      statuses: listFlag(flags, 'status').map(readStatus),
      method: textFlag(flags, 'method') ?? '',
      pathPrefix: textFlag(flags, 'path') ?? '',
    });
    output.result(toJson(QueryAccessEventsResponseSchema, response), {
      columns: ['TIME', 'CLIENT', 'STATUS', 'MS', 'BYTES', 'REQUEST', 'REQUEST ID'],
      rows: await Promise.all(response.items.map(accessRow)),
    });
    noteMore(output, response.items.length, response.page);
    return 0;
  },
};

const logErrorsCommand: CommandDefinition = {
  path: ['log', 'errors'],
  summary: 'Show failures of origins, refused requests and our own faults',
  help: 'Example: waf log errors --level error --part upstream --since 60',
  flags: [
    ...eventFlags,
    { flags: '--level <name>', summary: 'only this level', choices: ['error', 'warn'] },
    { flags: '--part <text>', summary: 'only parts whose name contains it' },
    { flags: '--message <text>', summary: 'only messages that contain it' },
  ],
  run: async (context, _args, flags) => {
    const { output } = context;
    const { QueryErrorEventsResponseSchema } = await import('../../../proto/gen/waf/v1/log_pb.ts');
    const { toJson } = await import('@bufbuild/protobuf');
    const { logs } = await context.api();
    const response = await logs.queryErrorEvents({
      ...(await eventQuery(flags)),
      level: textFlag(flags, 'level') ?? '',
      loggerContains: textFlag(flags, 'part') ?? '',
      messageContains: textFlag(flags, 'message') ?? '',
    });
    output.result(toJson(QueryErrorEventsResponseSchema, response), {
      columns: ['TIME', 'LEVEL', 'PART', 'ENDPOINT', 'MESSAGE', 'REQUEST ID'],
      rows: await Promise.all(response.items.map(errorRow)),
    });
    noteMore(output, response.items.length, response.page);
    return 0;
  },
};

const logTailCommand: CommandDefinition = {
  path: ['log', 'tail'],
  summary: 'Show security events as they happen, until you stop it',
  help: 'Example: waf log tail --site shop',
  flags: [{ flags: '--site <site>', summary: 'only this site', resource: 'site' }],
  run: async (context, _args, flags) => {
    const { output } = context;
    const { logs } = await context.api();
    const asked = { siteId: textFlag(flags, 'site') ?? '' };
    // No deadline ends it: the operator does.
    const tail = logs.tailSecurityEvents(asked, { timeoutMs: 0 });
    for await (const { event, skippedEvents } of tail) {
      if (skippedEvents > 0n)
        output.note(`${counted(skippedEvents, 'event')} came too fast to show.`);
      if (event === undefined) continue;
      const outcome = event.blocked ? 'blocked' : 'passed';
      const request = `${event.method} ${event.host}${event.path}`;
      const facts = [event.clientIp, String(event.status), outcome, request];
      const rules = event.ruleIds.join(',');
      output.line([await timeText(event.occurredAt), ...facts, rules, event.requestId].join(' '));
    }
    return 0;
  },
};

/** The commands. */
export const logCommands: readonly CommandDefinition[] = [
  logSecurityCommand,
  logAccessCommand,
  logErrorsCommand,
  logTailCommand,
];

/** Errors: AppError bad_flag. */
function readStatus(text: string): number {
  const status = Number(text);
  if (Number.isInteger(status) && status >= 0 && status <= 999) return status;
  throw new AppError('bad_flag', `--status wants a status code, not ${text}`, { source: 'config' });
}

async function accessRow(event: AccessEvent): Promise<string[]> {
  return [
    await timeText(event.occurredAt),
    event.clientIp,
    String(event.status),
    String(event.durationMs),
    String(event.bytesWritten),
    `${event.method} ${event.host}${event.path}`,
    event.requestId,
  ];
}

async function errorRow(event: ErrorEvent): Promise<string[]> {
  const endpoint = event.raw?.['endpoint'];
  return [
    await timeText(event.occurredAt),
    event.level,
    event.logger,
    typeof endpoint === 'string' ? endpoint : '',
    event.message,
    event.uniqueId,
  ];
}
