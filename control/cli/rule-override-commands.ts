/** `waf rule override-…`: what a policy changes in single rules of its ruleset. */

import type { RuleOverride } from '../../proto/gen/waf/v1/rule_override_pb.ts';
import type { ArgumentDefinition, CommandDefinition } from './command.ts';
import { listFlag, textFlag } from './command.ts';
import { crsRuleTable } from './crs-table.ts';
import { badFlag, readInputObject } from './input.ts';
import type { Table } from './output.ts';
import { notePage, pageFlags, readPage } from './paging.ts';
import { readMessage, showMessage, showRemoved } from './show.ts';

const actions = ['default', 'disable', 'log-only', 'score'];
const actionNames: Readonly<Record<string, string>> = {
  default: 'RULE_OVERRIDE_ACTION_DEFAULT',
  disable: 'RULE_OVERRIDE_ACTION_DISABLE',
  'log-only': 'RULE_OVERRIDE_ACTION_LOG_ONLY',
  score: 'RULE_OVERRIDE_ACTION_SCORE_OVERRIDE',
};
const policyArgument: readonly ArgumentDefinition[] = [
  { name: '<policy>', summary: 'id or name', resource: 'policy' },
];
const idArgument = [{ name: '<override>', summary: 'override id' }];

/** Commands on overrides. */
export const ruleOverrideCommands: readonly CommandDefinition[] = [
  {
    path: ['rule', 'overrides'],
    summary: 'List the overrides of a policy by rule',
    help: '',
    arguments: policyArgument,
    flags: pageFlags,
    run: async (context, [policyId = ''], flags) => {
      const { ListRuleOverridesResponseSchema } =
        await import('../../proto/gen/waf/v1/rule_override_pb.ts');
      const { ruleOverrides } = await context.api();
      const response = await ruleOverrides.listRuleOverrides({ policyId, page: readPage(flags) });
      const table = overrideTable(response.items);
      await showMessage(context, ListRuleOverridesResponseSchema, response, table);
      notePage(context.output, response.items.length, response.page?.total);
      return 0;
    },
  },
  {
    path: ['rule', 'override-get'],
    summary: 'Show one override',
    help: '',
    arguments: idArgument,
    flags: [],
    run: async (context, [id = '']) => {
      const { GetRuleOverrideResponseSchema } =
        await import('../../proto/gen/waf/v1/rule_override_pb.ts');
      const response = await (await context.api()).ruleOverrides.getRuleOverride({ id });
      const found = response.override === undefined ? [] : [response.override];
      await showMessage(context, GetRuleOverrideResponseSchema, response, overrideTable(found));
      return 0;
    },
  },
  {
    path: ['rule', 'override'],
    summary: 'Set what a policy changes in one rule of its ruleset',
    help:
      'Examples: waf rule override POLICY 942100 disable --scope /editor\n' +
      '          waf rule override POLICY 942100 default --without ARGS:note\n' +
      '          waf rule override POLICY 942100 score --score 2',
    arguments: [
      ...policyArgument,
      { name: '<rule>', summary: 'number of the rule' },
      { name: '<action>', summary: 'what happens to it', choices: actions },
    ],
    flags: [
      { flags: '--site <site>', summary: 'only for this site', resource: 'site' },
      { flags: '--scope <path>', summary: 'only under this path' },
      { flags: '--score <n>', summary: 'score with action score; 0 takes it away' },
      { flags: '--without <target>', summary: 'target to leave out; repeatable', repeatable: true },
      { flags: '--with <target>', summary: 'target to add; repeatable', repeatable: true },
      { flags: '--tag <tag>', summary: 'tag to add; repeatable', repeatable: true },
      { flags: '--rationale <text>', summary: 'why' },
    ],
    published: true,
    run: async (context, [policyId = '', crsRuleId = '', action = ''], flags) => {
      const { RuleOverrideSchema, UpsertRuleOverrideResponseSchema } =
        await import('../../proto/gen/waf/v1/rule_override_pb.ts');
      const actionEnum = actionNames[action];
      if (actionEnum === undefined) throw badFlag(`the action is one of ${actions.join(', ')}`);
      const score = textFlag(flags, 'score');
      if (score !== undefined && !/^\d{1,4}$/.test(score)) {
        throw badFlag('--score wants a whole number');
      }
      const value = {
        policyId,
        crsRuleId,
        actionEnum,
        siteId: textFlag(flags, 'site') ?? '',
        scope: textFlag(flags, 'scope') ?? '',
        removedTargets: listFlag(flags, 'without'),
        addedTargets: listFlag(flags, 'with'),
        tags: listFlag(flags, 'tag'),
        rationale: textFlag(flags, 'rationale') ?? '',
        ...(score === undefined ? {} : { scoreOverride: Number(score) }),
      };
      const override = await readMessage(RuleOverrideSchema, value, 'flags');
      const response = await (await context.api()).ruleOverrides.upsertRuleOverride({ override });
      const kept = response.override === undefined ? [] : [response.override];
      await showMessage(context, UpsertRuleOverrideResponseSchema, response, overrideTable(kept));
      return 0;
    },
  },
  {
    path: ['rule', 'override-import'],
    summary: 'Set many overrides at once: all of them or none',
    help: 'The file is an object {overrides: [...]} as the API names the fields.',
    arguments: [{ name: '<file>', summary: 'JSON or YAML; - reads standard input' }],
    flags: [],
    published: true,
    run: async (context, [file = '']) => {
      const { BulkUpsertRuleOverridesRequestSchema, BulkUpsertRuleOverridesResponseSchema } =
        await import('../../proto/gen/waf/v1/rule_override_pb.ts');
      const value = readInputObject(file);
      const request = await readMessage(BulkUpsertRuleOverridesRequestSchema, value, file);
      const { ruleOverrides } = await context.api();
      const response = await ruleOverrides.bulkUpsertRuleOverrides(request);
      const table = overrideTable(response.overrides);
      await showMessage(context, BulkUpsertRuleOverridesResponseSchema, response, table);
      return 0;
    },
  },
  {
    path: ['rule', 'override-delete'],
    summary: 'Remove an override',
    help: '',
    arguments: idArgument,
    flags: [],
    published: true,
    run: async (context, [id = '']) => {
      await (await context.api()).ruleOverrides.deleteRuleOverride({ id });
      showRemoved(context, 'override', id);
      return 0;
    },
  },
  {
    path: ['rule', 'search'],
    summary: 'List the ruleset rules that a policy runs, by number or message',
    help: '',
    arguments: policyArgument,
    flags: [{ flags: '--query <text>', summary: 'number or part of a message' }, ...pageFlags],
    run: async (context, [policyId = ''], flags) => {
      const { ListCrsRulesForPolicyResponseSchema } =
        await import('../../proto/gen/waf/v1/rule_override_pb.ts');
      const query = textFlag(flags, 'query') ?? '';
      const { ruleOverrides } = await context.api();
      const request = { policyId, query, page: readPage(flags) };
      const response = await ruleOverrides.listCrsRulesForPolicy(request);
      const table = crsRuleTable(response.items);
      await showMessage(context, ListCrsRulesForPolicyResponseSchema, response, table);
      notePage(context.output, response.items.length, response.page?.total);
      return 0;
    },
  },
];

function overrideTable(overrides: readonly RuleOverride[]): Table {
  return {
    columns: ['ID', 'RULE', 'ACTION', 'TARGETS', 'SCOPE', 'SITE'],
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
