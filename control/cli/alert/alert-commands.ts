/** `waf alert`: what needs a person, who has it, and what stays quiet. */

import {
  AlertSchema,
  AlertSeverity,
  AlertStatus,
  GetAlertResponseSchema,
  ListAlertNotesResponseSchema,
  type Alert,
} from '../../../proto/gen/waf/v1/alert_pb.ts';
import { severityChoices, severityFlag, tableOf } from './alert-table.ts';
import type { CommandContext, CommandDefinition, FlagValues } from '../command.ts';
import { switchFlag, textFlag } from '../command.ts';
import { wordsOf } from '../field-flags.ts';
import { badFlag } from '../input.ts';
import { notePage, pageFlags, readPage } from '../paging.ts';
import { callCommand } from '../regular-commands.ts';
import { printable, showMessage, timeText } from '../show.ts';

const statusChoices = wordsOf(AlertSchema, 'status');

/** Commands on alerts. */
export const alertCommands: readonly CommandDefinition[] = [
  {
    path: ['alert', 'list'],
    summary: 'List alerts that are open or acknowledged, newest first',
    help: 'Example: waf alert list --severity critical',
    flags: [
      { flags: '--all', summary: 'list those that ended, too' },
      { flags: '--status <status>', summary: 'only this status', choices: statusChoices },
      { flags: '--severity <severity>', summary: 'only this severity', choices: severityChoices },
      { flags: '--site <site>', summary: 'only this site', resource: 'site' },
      { flags: '--rule <rule>', summary: 'only of this rule', resource: 'alert-rule' },
      { flags: '--query <text>', summary: 'part of the title' },
      ...pageFlags,
    ],
    run: listAlerts,
  },
  {
    path: ['alert', 'show'],
    summary: 'Show an alert with its timeline',
    arguments: [{ name: '<alert>', summary: 'alert id' }],
    run: showAlert,
  },
  callCommand({
    path: ['alert', 'notes'],
    summary: 'Show the timeline of an alert',
    arguments: [{ name: '<alert>', summary: 'alert id' }],
    call: ({ alerts }, [alertId = '']) => alerts.listAlertNotes({ alertId }),
    table: ({ items }) => timeline(items),
  }),
  {
    path: ['alert', 'ack'],
    summary: 'Acknowledge an open alert: its message is not repeated',
    help: 'Example: waf alert ack alert-000000000007 --note "looking into it"',
    arguments: [{ name: '<alert>', summary: 'alert id' }],
    flags: [{ flags: '--note <text>', summary: 'what people read on its timeline' }],
    run: async (context, [id = ''], flags) => {
      const note = textFlag(flags, 'note') ?? '';
      const { alert } = await (await context.api()).alerts.ackAlert({ id, note });
      return showOne(context, alert);
    },
  },
  {
    path: ['alert', 'resolve'],
    summary: 'Resolve an alert by hand; its cause may persist',
    help: 'While the cause persists, a new alert opens after the time of repeats only.',
    arguments: [{ name: '<alert>', summary: 'alert id' }],
    flags: [{ flags: '--note <text>', summary: 'what people read on its timeline' }],
    run: async (context, [id = ''], flags) => {
      const note = textFlag(flags, 'note') ?? '';
      const { alert } = await (await context.api()).alerts.resolveAlert({ id, note });
      return showOne(context, alert);
    },
  },
];

async function listAlerts(
  context: CommandContext,
  _args: readonly string[],
  flags: FlagValues,
): Promise<number> {
  const status = textFlag(flags, 'status')?.toUpperCase() as 'OPEN' | undefined;
  if (status !== undefined && switchFlag(flags, 'all')) {
    throw badFlag('--all and --status exclude each other');
  }
  const severity = severityFlag(flags);
  const answer = await (
    await context.api()
  ).alerts.listAlerts({
    page: readPage(flags),
    status: status === undefined ? AlertStatus.UNSPECIFIED : AlertStatus[status],
    severity: severity ?? AlertSeverity.UNSPECIFIED,
    activeOnly: status === undefined && !switchFlag(flags, 'all'),
    siteId: textFlag(flags, 'site') ?? '',
    ruleId: textFlag(flags, 'rule') ?? '',
    query: textFlag(flags, 'query') ?? '',
  });
  await showMessage(context, answer, tableOf(answer.items));
  notePage(context.output, answer.items.length, answer.page?.total);
  return 0;
}

async function showAlert(context: CommandContext, [id = '']: readonly string[]): Promise<number> {
  const { alerts } = await context.api();
  const answer = await alerts.getAlert({ id });
  const notes = await alerts.listAlertNotes({ alertId: id });
  const { toJson } = await import('@bufbuild/protobuf');
  const shown = toJson(GetAlertResponseSchema, answer) as object;
  const listed = toJson(ListAlertNotesResponseSchema, notes) as { items?: unknown };
  context.output.result({ ...shown, notes: listed.items ?? [] }, timeline(notes.items));
  const { title = '', message = '' } = answer.alert ?? {};
  context.output.note(`${printable(title)}\n${printable(message)}`);
  return 0;
}

type Notes = readonly {
  readonly kind: string;
  readonly body: string;
  readonly actorUserId: string;
  readonly createdAt?: Parameters<typeof timeText>[0];
}[];

function timeline(notes: Notes) {
  return {
    columns: ['TIME', 'KIND', 'BY', 'NOTE'],
    rows: notes.map((note) => [
      timeText(note.createdAt),
      note.kind,
      note.actorUserId || 'waf',
      printable(note.body),
    ]),
  };
}

async function showOne(context: CommandContext, alert: Alert | undefined): Promise<number> {
  const { create } = await import('@bufbuild/protobuf');
  const answer = create(GetAlertResponseSchema, alert === undefined ? {} : { alert });
  return showMessage(context, answer, tableOf(alert === undefined ? [] : [alert]));
}
