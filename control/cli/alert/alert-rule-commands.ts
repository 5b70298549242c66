/** `waf alert rule-*`: when alerts open and who hears of them. */

import {
  AlertSeverity,
  ListAlertRulesResponseSchema,
  type AlertRule,
} from '../../../proto/gen/waf/v1/alert_pb.ts';
import { enumWord, severityChoices, severityFlag } from './alert-table.ts';
import { againWhenChanged, readAt } from '../change-attempts.ts';
import { allPages } from '../all-pages.ts';
import type { CommandContext, CommandDefinition, FlagDefinition, FlagValues } from '../command.ts';
import { listFlag, switchFlag, textFlag } from '../command.ts';
import { badFlag, readPairs } from '../input.ts';
import { changeList, listChangeFlags, listMode, noteChange } from '../list-change.ts';
import { nameArgument } from '../named-resource.ts';
import { deleteCommand } from '../regular-commands.ts';
import { printable, showMessage, timeText } from '../show.ts';

const kindChoices = [
  ...['security_threshold', 'node_offline', 'config_not_applied', 'config_apply_failed'],
  ...['cert_expiring', 'origin_down', 'log_storage'],
];

/** Flags that say a condition. */
const conditionFlags: readonly FlagDefinition[] = [
  { flags: '--kind <kind>', summary: 'what it looks for', choices: kindChoices },
  { flags: '--threshold <count>', summary: 'security_threshold: events that fire it' },
  { flags: '--window <seconds>', summary: 'security_threshold: rolling window' },
  {
    flags: '--group-by <what>',
    summary: 'security_threshold: count by',
    choices: ['site', 'agent', 'none'],
  },
  { flags: '--within-days <days>', summary: 'cert_expiring: days before the end' },
  { flags: '--for <seconds>', summary: 'how long it holds before it fires' },
  { flags: '--repeat <seconds>', summary: 'time between messages; 0 for none' },
  {
    flags: '--filter <name=value>',
    summary: 'siteId, agentId, attackTypes, ruleIds, outcome and so on; repeatable',
    repeatable: true,
    pairResources: {
      siteId: 'site',
      agentId: 'node',
      upstreamId: 'upstream',
      certificateId: 'certificate',
    },
  },
  { flags: '--condition <json>', summary: 'the whole condition as JSON instead' },
];

/** Commands on rules of alerts. */
export const alertRuleCommands: readonly CommandDefinition[] = [
  {
    path: ['alert', 'rules'],
    summary: 'List the rules of alerts',
    flags: [{ flags: '--query <text>', summary: 'part of the name' }],
    run: async (context, _args, flags) => {
      const { alerts } = await context.api();
      const query = textFlag(flags, 'query') ?? '';
      return showRules(context, await allPages((page) => alerts.listAlertRules({ query, page })));
    },
  },
  {
    path: ['alert', 'rule-set'],
    summary: 'Create a rule, or change the one with --id',
    help:
      'With --id, unspecified options are unchanged; channels are added.\n' +
      'Example: waf alert rule-set --name attacks --severity critical --kind security_threshold ' +
      '--threshold 100 --channel ops',
    flags: [
      { flags: '--id <rule>', summary: 'the rule to change, id or name', resource: 'alert-rule' },
      { flags: '--name <name>', summary: 'name for people; needed for a new one' },
      { flags: '--severity <severity>', summary: 'how bad it is', choices: severityChoices },
      ...conditionFlags,
      {
        flags: '--channel <channel>',
        summary: 'channel that gets the messages; repeatable',
        repeatable: true,
        resource: 'alert-channel',
      },
      { flags: '--off', summary: 'disable it' },
      { flags: '--on', summary: 'enable it' },
      ...listChangeFlags,
    ],
    run: setRule,
  },
  deleteCommand({
    path: ['alert', 'rule-delete'],
    summary: 'Remove a rule and close its alerts',
    arguments: [nameArgument('alert-rule')],
    kind: 'alert rule',
    call: ({ alerts }, id) => alerts.deleteAlertRule({ id }),
  }),
  {
    path: ['alert', 'replay'],
    summary: 'Show what a rule would have done in the last day',
    help: 'Only security_threshold: its counts are kept. Nothing is written.',
    arguments: [{ name: '[rule]', summary: 'id or name', resource: 'alert-rule' }],
    flags: conditionFlags,
    run: replay,
  },
  {
    path: ['alert', 'preview'],
    summary: 'Show the message that a rule would send',
    arguments: [nameArgument('alert-rule')],
    flags: [
      { flags: '--channel <channel>', summary: 'as this one gets it', resource: 'alert-channel' },
      {
        flags: '--event <event>',
        summary: 'which message',
        choices: ['firing', 'repeat', 'resolved'],
      },
    ],
    run: preview,
  },
];

async function setRule(
  context: CommandContext,
  _args: readonly string[],
  flags: FlagValues,
): Promise<number> {
  const { alerts } = await context.api();
  const id = textFlag(flags, 'id') ?? '';
  if (switchFlag(flags, 'off') && switchFlag(flags, 'on')) {
    throw badFlag('--on and --off exclude each other');
  }
  const rule = await againWhenChanged(async () => {
    const before = id === '' ? undefined : (await alerts.getAlertRule({ id })).rule;
    const wanted = ruleOf(flags, before);
    if (before === undefined) return (await alerts.upsertAlertRule({ rule: wanted })).rule;
    const updateMask = Object.keys(wanted).join(',');
    if (updateMask === '') throw badFlag('nothing to change: name what is to be changed');
    const answer = await alerts.upsertAlertRule({
      ...{ rule: { ...wanted, id }, updateMask },
      expectedUpdatedAt: readAt(before.updatedAt),
    });
    if (wanted.channelIds !== undefined) {
      noteChange(context.output, 'taken away', before.channelIds, wanted.channelIds);
    }
    return answer.rule;
  });
  return showRules(context, rule === undefined ? [] : [rule]);
}

/** What flags say of a rule; only that, for a rule that is there. Errors: AppError bad_flag. */
function ruleOf(flags: FlagValues, before: AlertRule | undefined) {
  const name = textFlag(flags, 'name');
  const severity = severityFlag(flags);
  const condition = conditionOf(flags, before?.expression);
  const isNew = before === undefined;
  if (isNew && (name === undefined || severity === undefined || condition === undefined)) {
    throw badFlag('a new rule needs --name, --severity and --kind or --condition');
  }
  const mode = listMode(flags);
  const named = listFlag(flags, 'channel');
  const lists = named.length > 0 || mode === 'replace';
  const channelIds = changeList(mode, before?.channelIds ?? [], named, '--channel');
  const off = switchFlag(flags, 'off');
  return {
    ...(name === undefined ? {} : { name }),
    ...(severity === undefined ? {} : { severity }),
    ...(condition === undefined ? {} : { expression: condition }),
    ...(lists ? { channelIds } : {}),
    ...(isNew || off || switchFlag(flags, 'on') ? { enabled: !off } : {}),
  };
}

const numbers = [
  ['threshold', 'threshold', '--threshold'],
  ['window', 'windowSeconds', '--window'],
  ['withinDays', 'withinDays', '--within-days'],
  ['for', 'forSeconds', '--for'],
  ['repeat', 'repeatSeconds', '--repeat'],
] as const;
const lists = new Set(['attackTypes', 'ruleIds']);

/** The condition that flags say, laid over the one before; undefined where they say none. */
function conditionOf(flags: FlagValues, before: string | undefined): string | undefined {
  const whole = textFlag(flags, 'condition');
  const stated: Record<string, unknown> = {};
  const [kind, groupBy] = [textFlag(flags, 'kind'), textFlag(flags, 'groupBy')];
  if (kind !== undefined) stated['kind'] = kind;
  if (groupBy !== undefined) stated['groupBy'] = groupBy;
  for (const [key, field, flag] of numbers) {
    const text = textFlag(flags, key);
    if (text === undefined) continue;
    if (!/^\d{1,12}$/.test(text)) throw badFlag(`${flag} wants a whole number`);
    stated[field] = Number(text);
  }
  const pairs = Object.entries(readPairs(listFlag(flags, 'filter'), '--filter'));
  const filter = pairs.map(([name, value]) => [name, lists.has(name) ? value.split(',') : value]);
  const flagged = Object.keys(stated).length > 0 || filter.length > 0;
  if (whole !== undefined && flagged) {
    throw badFlag('--condition is the whole condition: it excludes the other flags of conditions');
  }
  if (whole !== undefined || !flagged) return whole;
  const known = JSON.parse(before ?? '{}') as { readonly kind?: string; readonly filter?: object };
  // Another kind knows other fields.
  const kept = kind === undefined || kind === known.kind ? known : {};
  const filters = { ...kept.filter, ...(Object.fromEntries(filter) as object) };
  return JSON.stringify({ ...kept, ...stated, filter: filters });
}

async function replay(
  context: CommandContext,
  [id = '']: readonly string[],
  flags: FlagValues,
): Promise<number> {
  const { alerts } = await context.api();
  const rule = id === '' ? undefined : (await alerts.getAlertRule({ id })).rule;
  const expression = conditionOf(flags, rule?.expression) ?? rule?.expression;
  if (expression === undefined) throw badFlag('name a rule, or give a condition by flags');
  const answer = await alerts.replayAlertRule({ expression });
  return showMessage(context, answer, {
    columns: ['SINCE', 'EVENTS', 'TRIGGERED', 'RESOLVED', 'MESSAGES', 'RECOVERIES', 'OPEN AT END'],
    rows: [
      [
        timeText(answer.startedAt),
        String(answer.matchingEventCount),
        String(answer.triggerCount),
        String(answer.resolvedCount),
        String(answer.firingNotificationCount),
        String(answer.resolvedNotificationCount),
        answer.openAtEnd ? 'yes' : 'no',
      ],
    ],
  });
}

async function preview(
  context: CommandContext,
  [id = '']: readonly string[],
  flags: FlagValues,
): Promise<number> {
  const { alerts } = await context.api();
  const { rule } = await alerts.getAlertRule({ id });
  const answer = await alerts.previewAlertRuleNotification({
    ...(rule === undefined ? {} : { rule }),
    channelId: textFlag(flags, 'channel') ?? '',
    lifecycleEvent: textFlag(flags, 'event') ?? '',
  });
  return showMessage(context, answer, {
    columns: ['TITLE', 'MESSAGE', 'LOCALE', 'TIMEZONE'],
    rows: [[printable(answer.title), printable(answer.message), answer.locale, answer.timezone]],
  });
}

async function showRules(context: CommandContext, rules: readonly AlertRule[]): Promise<number> {
  const { create } = await import('@bufbuild/protobuf');
  const answer = create(ListAlertRulesResponseSchema, { items: [...rules] });
  return showMessage(context, answer, {
    columns: ['ID', 'NAME', 'SEVERITY', 'STATE', 'CHANNELS', 'CONDITION'],
    ids: { CHANNELS: ['alert-channel'] },
    rows: rules.map((rule) => [
      rule.id,
      printable(rule.name),
      enumWord(AlertSeverity, rule.severity),
      rule.enabled ? 'on' : 'off',
      rule.channelIds.join(' '),
      rule.expression,
    ]),
  });
}
