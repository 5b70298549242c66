/** `waf rule override-…`: what a policy changes in single rules of its ruleset. */

import type { RuleOverride } from '../../../proto/gen/waf/v1/rule_override_pb.ts';
import { allPages } from '../all-pages.ts';
import type { ApiClient } from '../api-client.ts';
import type { CommandContext, CommandDefinition, FlagValues } from '../command.ts';
import { listFlag, textFlag } from '../command.ts';
import { crsRuleTable } from './crs-table.ts';
import { badFlag, readInputObject, wholeNumber } from '../input.ts';
import { listChangeFlags, listMode, noteChange, type ListMode } from '../list-change.ts';
import { nameArgument } from '../named-resource.ts';
import type { Table } from '../output.ts';
import { callCommand, deleteCommand, listCommand } from '../regular-commands.ts';
import { only, readMessage, showMessage, showRemoved } from '../show.ts';

const actions = ['exclude', 'disable', 'log-only', 'score'];
/** Words of earlier releases. */
const actionAliases = { default: 'exclude' } as const;
const actionNames: Readonly<Record<string, string>> = {
  exclude: 'RULE_OVERRIDE_ACTION_DEFAULT',
  disable: 'RULE_OVERRIDE_ACTION_DISABLE',
  'log-only': 'RULE_OVERRIDE_ACTION_LOG_ONLY',
  score: 'RULE_OVERRIDE_ACTION_SCORE_OVERRIDE',
};
const policyArgument = [nameArgument('policy')];
const idArgument = [{ name: '<override>', summary: 'override id' }];

/** Commands on overrides. */
export const ruleOverrideCommands: readonly CommandDefinition[] = [
  listCommand({
    path: ['rule', 'overrides'],
    summary: 'List the overrides of a policy by rule',
    arguments: policyArgument,
    call: ({ ruleOverrides }, { page }, [policyId = '']) =>
      ruleOverrides.listRuleOverrides({ policyId, page }),
    table: overrideTable,
  }),
  callCommand({
    path: ['rule', 'override-get'],
    summary: 'Show one override',
    arguments: idArgument,
    call: ({ ruleOverrides }, [id = '']) => ruleOverrides.getRuleOverride({ id }),
    table: ({ override }) => overrideTable(only(override)),
  }),
  {
    path: ['rule', 'override'],
    summary: 'Add an exclusion to a rule, disable it, only log it, or change its score',
    help:
      'Examples: waf rule override POLICY 942100 disable --scope /editor\n' +
      '          waf rule override POLICY 942100 exclude --without ARGS:note\n' +
      '          waf rule override POLICY 942100 score --score 2\n' +
      'What is there already stays: exclusions add up. --replace keeps only what is named,\n' +
      '--remove takes away what is named.',
    arguments: [
      ...policyArgument,
      { name: '<rule>', summary: 'number of the rule' },
      {
        name: '<action>',
        summary: 'what happens to it',
        choices: actions,
        aliases: actionAliases,
      },
    ],
    flags: [
      { flags: '--site <site>', summary: 'only for this site', resource: 'site' },
      { flags: '--scope <path>', summary: 'only under this path' },
      { flags: '--score <n>', summary: 'score with action score; 0 takes it away' },
      { flags: '--without <target>', summary: 'target to leave out; repeatable', repeatable: true },
      { flags: '--with <target>', summary: 'target to add; repeatable', repeatable: true },
      { flags: '--tag <tag>', summary: 'tag to add; repeatable', repeatable: true },
      { flags: '--rationale <text>', summary: 'why' },
      ...listChangeFlags,
    ],
    published: true,
    run: setOverride,
  },
  {
    path: ['rule', 'override-import'],
    summary: 'Set many overrides at once: all of them or none',
    help:
      'The file is an object {overrides: [...]} as the API names the fields. Overrides that are\n' +
      'there already grow; --replace and --remove as for rule override.',
    arguments: [{ name: '<file>', summary: 'JSON or YAML; - reads standard input' }],
    flags: listChangeFlags,
    published: true,
    run: async (context, [file = ''], flags) => {
      const { BulkUpsertRuleOverridesRequestSchema } =
        await import('../../../proto/gen/waf/v1/rule_override_pb.ts');
      const value = { listChange: listChangeNames[listMode(flags)], ...readInputObject(file) };
      const request = await readMessage(BulkUpsertRuleOverridesRequestSchema, value, file);
      const { ruleOverrides } = await context.api();
      const response = await ruleOverrides.bulkUpsertRuleOverrides(request);
      return showMessage(context, response, overrideTable(response.overrides));
    },
  },
  deleteCommand({
    path: ['rule', 'override-delete'],
    summary: 'Remove an override',
    arguments: idArgument,
    published: true,
    kind: 'override',
    call: ({ ruleOverrides }, id) => ruleOverrides.deleteRuleOverride({ id }),
  }),
  listCommand({
    path: ['rule', 'search'],
    summary: 'List the ruleset rules that a policy runs, by number or message',
    arguments: policyArgument,
    query: 'number or part of a message',
    call: ({ ruleOverrides }, { page, query }, [policyId = '']) =>
      ruleOverrides.listCrsRulesForPolicy({ policyId, query, page }),
    table: crsRuleTable,
  }),
];

async function setOverride(
  context: CommandContext,
  [policyId = '', crsRuleId = '', word = '']: readonly string[],
  flags: FlagValues,
): Promise<number> {
  const { RuleOverrideSchema, UpsertRuleOverrideRequestSchema } =
    await import('../../../proto/gen/waf/v1/rule_override_pb.ts');
  const mode = listMode(flags);
  const value = readOverride(policyId, crsRuleId, word, flags);
  const override = await readMessage(RuleOverrideSchema, value, 'flags');
  const api = await context.api();
  const before = await presentOverride(api, override);
  const named = [...override.removedTargets, ...override.addedTargets, ...override.tags];
  if (named.length === 0 && mode !== 'replace') {
    refuseNothing(override.actionEnum, mode, before);
  }
  if (named.length === 0 && override.actionEnum === exclusion) {
    if (before === undefined) throw badFlag('there is no override of this rule there');
    await api.ruleOverrides.deleteRuleOverride({ id: before.id });
    noteChange(context.output, 'taken away', partsOf(before), []);
    return showRemoved(context, 'override', before.id);
  }
  const request = await readMessage(
    UpsertRuleOverrideRequestSchema,
    { override: value, listChange: listChangeNames[mode] },
    'flags',
  );
  const response = await namingFlags(override, () => api.ruleOverrides.upsertRuleOverride(request));
  const kept = response.override === undefined ? [] : [response.override];
  const [after] = kept;
  noteChange(context.output, 'taken away', partsOf(before), partsOf(after));
  return showMessage(context, response, overrideTable(kept));
}

/** Names the flags in what the API refuses, in place of its own fields. */
async function namingFlags<T>(override: RuleOverride, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    const { ConnectError } = await import('@connectrpc/connect');
    if (!(error instanceof ConnectError)) throw error;
    throw new ConnectError(inFlags(error.rawMessage, override), error.code);
  }
}

/** A message of the API with the names of the flags. */
export function inFlags(
  message: string,
  { removedTargets, addedTargets }: Pick<RuleOverride, 'removedTargets' | 'addedTargets'>,
): string {
  const unknown = /unknown variable "?([\w-]+)/i.exec(message)?.[1];
  if (unknown !== undefined) {
    const named = (target: string): boolean => target.replace(/^[!&]*/, '').startsWith(unknown);
    const flag = removedTargets.some(named) ? '--without' : '--with';
    return `Unknown variable ${unknown} in ${flag}. Write a variable that rules read, for example ARGS:name`;
  }
  return message
    .replace(
      /^override\.removedTargets\[(\d+)\]/,
      (_, at) => `--without ${removedTargets[Number(at)]}`,
    )
    .replace(/^override\.addedTargets\[(\d+)\]/, (_, at) => `--with ${addedTargets[Number(at)]}`)
    .replace(/^override\.scoreOverride/, '--score')
    .replace(/^override\.(scope|rationale)/, '--$1')
    .replace(/^override\.siteId/, '--site');
}

const listChangeNames = {
  add: 'LIST_CHANGE_ADD',
  replace: 'LIST_CHANGE_REPLACE',
  remove: 'LIST_CHANGE_REMOVE',
} as const;

/** An override in its JSON form. Errors: AppError bad_flag. */
function readOverride(
  policyId: string,
  crsRuleId: string,
  word: string,
  flags: FlagValues,
): Record<string, unknown> {
  const action = actionAliases[word as keyof typeof actionAliases] ?? word;
  const actionEnum = actionNames[action];
  if (actionEnum === undefined) throw badFlag(`the action is one of ${actions.join(', ')}`);
  const score = textFlag(flags, 'score');
  return {
    policyId,
    crsRuleId,
    actionEnum,
    siteId: textFlag(flags, 'site') ?? '',
    scope: textFlag(flags, 'scope') ?? '',
    removedTargets: listFlag(flags, 'without'),
    addedTargets: listFlag(flags, 'with'),
    tags: listFlag(flags, 'tag'),
    rationale: textFlag(flags, 'rationale') ?? '',
    ...(score === undefined ? {} : { scoreOverride: wholeNumber(score, '--score') }),
  };
}

/** The override of the same rule, site and scope, as it is now. */
async function presentOverride(
  { ruleOverrides }: ApiClient,
  { policyId, crsRuleId, siteId, scope }: RuleOverride,
): Promise<RuleOverride | undefined> {
  const path = scope.replace(/\/+$/, '');
  const all = await allPages((page) => ruleOverrides.listRuleOverrides({ policyId, page }));
  return all.find(
    (one) => one.crsRuleId === crsRuleId && one.siteId === siteId && one.scope === path,
  );
}

/** Errors: AppError bad_flag where nothing is named, with what there is to take away. */
function refuseNothing(action: number, mode: ListMode, before: RuleOverride | undefined): void {
  const isExclusion = action === exclusion;
  if (!isExclusion && mode === 'add') return;
  const there = partsOf(before).join(', ');
  if (there === '') throw badFlag('name a target with --without, for example --without ARGS:note');
  throw badFlag(
    `nothing is named. The override has: ${there}. --without adds a target, --remove takes away ` +
      'those that are named, --replace alone takes away all of this',
  );
}

/** The number of the action `exclude`. */
const exclusion = 1;

/** What an override says, a piece each. */
function partsOf(override: RuleOverride | undefined): string[] {
  if (override === undefined) return [];
  const { actionEnum, scoreOverride, rationale } = override;
  const action = ['', '', 'disable', 'log-only', 'score'][actionEnum] ?? '';
  return [
    ...(action === '' ? [] : [scoreOverride === undefined ? action : `${action} ${scoreOverride}`]),
    ...override.removedTargets.map((target) => `without ${target}`),
    ...override.addedTargets.map((target) => `with ${target}`),
    ...override.tags.map((tag) => `tag ${tag}`),
    ...rationale.split('\n').flatMap((line) => (line === '' ? [] : [`rationale "${line}"`])),
  ];
}

function overrideTable(overrides: readonly RuleOverride[]): Table {
  return {
    columns: ['ID', 'RULE', 'ACTION', 'TARGETS', 'SCOPE', 'SITE'],
    ids: { SITE: ['site'] },
    rows: overrides.map((one) => [
      one.id,
      one.crsRuleId,
      one.scoreOverride === undefined
        ? (['-', ...actions][one.actionEnum] ?? '-')
        : `score ${one.scoreOverride}`,
      [...one.removedTargets.map((target) => `!${target}`), ...one.addedTargets].join('|') || '-',
      one.scope || '-',
      one.siteId || '-',
    ]),
  };
}
