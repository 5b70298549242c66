/** `waf alert channel-*` and `silence*`: how people hear of alerts, and when they do not. */

import type { JsonObject } from '@bufbuild/protobuf';
import {
  AlertChannelKind,
  AlertChannelSchema,
  ListAlertChannelsResponseSchema,
  ListAlertSilencesResponseSchema,
  type AlertChannel,
  type AlertSilence,
} from '../../../proto/gen/waf/v1/alert_pb.ts';
import { enumWord, tableOf } from './alert-table.ts';
import { allPages } from '../all-pages.ts';
import type { CommandContext, CommandDefinition, FlagValues } from '../command.ts';
import { listFlag, switchFlag, textFlag } from '../command.ts';
import { channelFieldHelp } from './channel-fields.ts';
import { wordsOf } from '../field-flags.ts';
import { badFlag, readInputObject, readPairs } from '../input.ts';
import { nameArgument } from '../named-resource.ts';
import { callCommand, deleteCommand } from '../regular-commands.ts';
import { printable, showMessage, timeText } from '../show.ts';

const channelArgument = nameArgument('alert-channel');

/** Commands on channels and silences. */
export const alertChannelCommands: readonly CommandDefinition[] = [
  {
    path: ['alert', 'channels'],
    summary: 'List the channels, and how sending through them goes',
    run: async (context) => {
      const { alerts } = await context.api();
      return showChannels(context, await allPages((page) => alerts.listAlertChannels({ page })));
    },
  },
  {
    path: ['alert', 'channel-set'],
    summary: 'Create a channel, or change the one with --id',
    help:
      'Secrets belong in a file: --file FILE holds the configuration as JSON or YAML. Where it\n' +
      'reads `configured`, the secret that is kept stays.\n' +
      `${channelFieldHelp}\n` +
      'Example: waf alert channel-set --name ops --kind webhook --file hook.json',
    flags: [
      { flags: '--id <channel>', summary: 'the one to change', resource: 'alert-channel' },
      { flags: '--name <name>', summary: 'name for people; needed for a new one' },
      {
        flags: '--kind <kind>',
        summary: 'how it sends; needed for a new one',
        choices: wordsOf(AlertChannelSchema, 'kind'),
      },
      { flags: '--file <file>', summary: 'the whole configuration; - reads standard input' },
      { flags: '--off', summary: 'disable it' },
      { flags: '--on', summary: 'enable it' },
    ],
    run: setChannel,
  },
  deleteCommand({
    path: ['alert', 'channel-delete'],
    summary: 'Remove a channel that no rule uses',
    arguments: [channelArgument],
    kind: 'alert channel',
    call: ({ alerts }, id) => alerts.deleteAlertChannel({ id }),
  }),
  callCommand({
    path: ['alert', 'channel-rules'],
    summary: 'Set exactly which rules use a channel',
    help: 'Rules that are not named no longer use it.',
    arguments: [
      channelArgument,
      { name: '[rules...]', summary: 'ids or names', resource: 'alert-rule' },
    ],
    call: ({ alerts }, [channelId = '', ...ruleIds]) =>
      alerts.applyAlertChannelToRules({ channelId, ruleIds }),
    table: (answer) => ({
      columns: ['RULE', 'NAME'],
      rows: answer.rules.map(({ id, name }) => [id, printable(name)]),
    }),
    after: ({ output }, answer) => {
      output.note(`changed: ${answer.changedCount}`);
    },
  }),
  {
    path: ['alert', 'test'],
    summary: 'Send a test message through a channel',
    arguments: [channelArgument],
    run: async (context, [id = '']) => {
      const { alerts } = await context.api();
      const { channel } = await alerts.getAlertChannel({ id });
      if (channel === undefined) throw badFlag('the channel is not there any more');
      const answer = await alerts.testAlertChannel({ channel });
      await showMessage(context, answer, {
        columns: ['RESULT', 'MESSAGE'],
        rows: [[answer.success ? 'sent' : 'failed', answer.message]],
      });
      return answer.success ? 0 : 1;
    },
  },
  {
    path: ['alert', 'silences'],
    summary: 'List silences',
    flags: [{ flags: '--active', summary: 'only those in force now' }],
    run: async (context, _args, flags) => {
      const { alerts } = await context.api();
      const activeOnly = switchFlag(flags, 'active');
      const items = await allPages((page) => alerts.listAlertSilences({ activeOnly, page }));
      return showSilences(context, items);
    },
  },
  {
    path: ['alert', 'silence'],
    summary: 'Keep matching alerts quiet for a time',
    help: 'Example: waf alert silence --match siteId=SITE --for 2h --reason maintenance',
    flags: [
      {
        flags: '--match <name=value>',
        summary: 'ruleId, siteId, agentId, severity or kind; repeatable, all must fit',
        repeatable: true,
        required: true,
        pairResources: { siteId: 'site', agentId: 'node', ruleId: 'alert-rule' },
      },
      { flags: '--for <time>', summary: 'how long: 30m, 2h, 1d', default: '1h' },
      { flags: '--reason <text>', summary: 'why' },
      { flags: '--dry-run', summary: 'only show which alerts it would cover' },
    ],
    run: silence,
  },
  deleteCommand({
    path: ['alert', 'silence-delete'],
    summary: 'End a silence',
    arguments: [{ name: '<silence>', summary: 'silence id' }],
    kind: 'alert silence',
    call: ({ alerts }, id) => alerts.deleteAlertSilence({ id }),
  }),
];

async function setChannel(
  context: CommandContext,
  _args: readonly string[],
  flags: FlagValues,
): Promise<number> {
  const { alerts } = await context.api();
  const id = textFlag(flags, 'id') ?? '';
  const off = switchFlag(flags, 'off');
  if (off && switchFlag(flags, 'on')) throw badFlag('--on and --off exclude each other');
  const [name, kind] = [textFlag(flags, 'name'), textFlag(flags, 'kind')];
  const file = textFlag(flags, 'file');
  if (id === '' && (name === undefined || kind === undefined || file === undefined)) {
    throw badFlag('a new channel needs --name, --kind and --file');
  }
  const wanted = {
    ...(name === undefined ? {} : { name }),
    ...(kind === undefined ? {} : { kind: AlertChannelKind[kind.toUpperCase() as 'EMAIL'] }),
    ...(file === undefined ? {} : { config: readInputObject(file) as JsonObject }),
    ...(id === '' || off || switchFlag(flags, 'on') ? { enabled: !off } : {}),
  };
  const updateMask = id === '' ? '' : Object.keys(wanted).join(',');
  if (id !== '' && updateMask === '') {
    throw badFlag('nothing to change: name what is to be changed');
  }
  const { channel } = await alerts.upsertAlertChannel({ channel: { ...wanted, id }, updateMask });
  return showChannels(context, channel === undefined ? [] : [channel]);
}

const unitMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

async function silence(
  context: CommandContext,
  _args: readonly string[],
  flags: FlagValues,
): Promise<number> {
  const { timestampFromMs } = await import('@bufbuild/protobuf/wkt');
  const { alerts } = await context.api();
  const matchers = readPairs(listFlag(flags, 'match'), '--match');
  if (switchFlag(flags, 'dryRun')) {
    const answer = await alerts.previewAlertSilence({ matchers });
    await showMessage(context, answer, tableOf(answer.items));
    context.output.note(`matching alerts: ${answer.matchingCount}`);
    return 0;
  }
  const found = /^(\d{1,6})([smhd])$/.exec(textFlag(flags, 'for') ?? '');
  if (found === null) throw badFlag('--for wants a time such as 30m, 2h or 1d');
  const lastsMs = Number(found[1]) * unitMs[found[2] as keyof typeof unitMs];
  const answer = await alerts.createAlertSilence({
    matchers,
    endsAt: timestampFromMs(Date.now() + lastsMs),
    reason: textFlag(flags, 'reason') ?? '',
  });
  return showSilences(context, answer.silence === undefined ? [] : [answer.silence]);
}

async function showChannels(
  context: CommandContext,
  channels: readonly AlertChannel[],
): Promise<number> {
  const { create } = await import('@bufbuild/protobuf');
  const answer = create(ListAlertChannelsResponseSchema, { items: [...channels] });
  return showMessage(context, answer, {
    columns: ['ID', 'NAME', 'KIND', 'STATE', 'SENT', 'FAILED', 'WAITING', 'LAST ERROR'],
    rows: channels.map(({ id, name, kind, enabled, health }) => [
      id,
      printable(name),
      enumWord(AlertChannelKind, kind),
      enabled ? 'on' : 'off',
      String(health?.sentCount ?? 0n),
      String(health?.failedCount ?? 0n),
      String(health?.waitingCount ?? 0n),
      health?.lastError ?? '',
    ]),
  });
}

async function showSilences(
  context: CommandContext,
  silences: readonly AlertSilence[],
): Promise<number> {
  const { create } = await import('@bufbuild/protobuf');
  const answer = create(ListAlertSilencesResponseSchema, { items: [...silences] });
  return showMessage(context, answer, {
    columns: ['ID', 'MATCHES', 'FROM', 'UNTIL', 'REASON'],
    rows: silences.map((one) => [
      one.id,
      Object.entries(one.matchers)
        .map(([name, value]) => `${name}=${value}`)
        .join(' '),
      timeText(one.startsAt),
      timeText(one.endsAt),
      printable(one.reason),
    ]),
  });
}
