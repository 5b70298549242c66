/** `waf rule`: rules of operators. */

import type { CustomRule } from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import type { CommandDefinition, FlagDefinition, FlagValues } from '../command.ts';
import { listFlag, switchFlag, textFlag } from '../command.ts';
import { badFlag, readInputObject, readInputText, readPairs, wholeNumber } from '../input.ts';
import { nameArgument } from '../named-resource.ts';
import type { Table } from '../output.ts';
import { pageFlags, readPage } from '../paging.ts';
import { callCommand, deleteCommand, listCommand } from '../regular-commands.ts';
import { only, readMessage, showMessage } from '../show.ts';

const idArgument = [nameArgument('custom-rule', 'id, name or number')];
const policyArgument = [nameArgument('policy')];
const settingFlags: readonly FlagDefinition[] = [
  { flags: '--name <name>', summary: 'name for people' },
  { flags: '--description <text>', summary: 'text for people' },
  { flags: '--seclang <file>', summary: 'raw SecLang; - reads standard input' },
  { flags: '--visual <file>', summary: 'conditions and action as JSON or YAML; - reads input' },
  { flags: '--phase <n>', summary: 'phase of a visual rule, 1 to 5' },
  {
    flags: '--placement <place>',
    summary: 'where the rule stands',
    choices: ['before_crs', 'after_crs', 'request_before_blocking', 'response_before_blocking'],
  },
  { flags: '--number <n>', summary: 'number of the rule; default is the next free one' },
  { flags: '--order <n>', summary: 'place among the rules; lower comes first' },
];

/** Commands on custom rules. */
export const ruleCommands: readonly CommandDefinition[] = [
  listCommand({
    path: ['rule', 'list'],
    summary: 'List the custom rules of a policy in their order',
    arguments: policyArgument,
    call: ({ customRules }, { page }, [policyId = '']) =>
      customRules.listCustomRules({ policyId, page }),
    table: ruleTable,
  }),
  {
    path: ['rule', 'get'],
    summary: 'Show one custom rule with its SecLang',
    arguments: idArgument,
    run: async (context, [id = '']) => {
      const response = await (await context.api()).customRules.getCustomRule({ id });
      await showMessage(context, response, ruleTable(only(response.rule)));
      context.output.line(response.rule?.seclang.trimEnd() ?? '');
      return 0;
    },
  },
  {
    path: ['rule', 'create'],
    summary: 'Create a custom rule',
    help:
      'Examples:\n' +
      `  echo 'SecRule ARGS:q "@streq x" "id:77,phase:2,deny"' |\n` +
      '    waf rule create shop --name x --seclang -\n' +
      '  waf rule create shop --name admin --visual admin.yaml\n' +
      'where admin.yaml holds (all conditions must hold; action is block, log or allow)\n' +
      '  conditions:\n' +
      '    - { variable: REQUEST_URI, operator: beginsWith, value: /admin }\n' +
      '    - { variable: REQUEST_METHOD, operator: streq, value: POST, negate: true }\n' +
      '  action: block\n' +
      '  status: 404',
    arguments: policyArgument,
    flags: [
      ...settingFlags,
      { flags: '--site <site>', summary: 'only for this site', resource: 'site' },
      { flags: '--off', summary: 'save it disabled' },
    ],
    published: true,
    run: async (context, [policyId = ''], flags) => {
      const { CustomRuleSchema } = await import('../../../proto/gen/waf/v1/custom_rule_pb.ts');
      const value = readNewRule(flags);
      const siteId = textFlag(flags, 'site') ?? '';
      const enabled = !switchFlag(flags, 'off');
      const rule = await readMessage(
        CustomRuleSchema,
        { ...value, policyId, siteId, enabled },
        'flags',
      );
      const response = await (await context.api()).customRules.createCustomRule({ rule });
      return showMessage(context, response, ruleTable(only(response.rule)));
    },
  },
  {
    path: ['rule', 'update'],
    summary: 'Change a custom rule; unspecified options are unchanged',
    arguments: idArgument,
    flags: [
      ...settingFlags,
      { flags: '--run <switch>', summary: 'run it or not', choices: ['on', 'off'] },
    ],
    published: true,
    run: async (context, [id = ''], flags) => {
      const { CustomRuleSchema } = await import('../../../proto/gen/waf/v1/custom_rule_pb.ts');
      const [value, mask] = readSettings(flags);
      const run = textFlag(flags, 'run');
      if (run !== undefined) {
        value['enabled'] = run === 'on';
        mask.push('enabled');
      }
      if (mask.length === 0) throw badFlag('name at least one flag that changes something');
      const rule = await readMessage(CustomRuleSchema, { ...value, id }, 'flags');
      const { customRules } = await context.api();
      const response = await customRules.updateCustomRule({ rule, updateMask: mask.join(',') });
      return showMessage(context, response, ruleTable(only(response.rule)));
    },
  },
  deleteCommand({
    path: ['rule', 'delete'],
    summary: 'Remove a custom rule',
    arguments: idArgument,
    published: true,
    kind: 'rule',
    call: ({ customRules }, id) => customRules.deleteCustomRule({ id }),
  }),
  callCommand({
    path: ['rule', 'reorder'],
    summary: 'Set the order of all custom rules of a policy',
    help: 'Names every rule of the policy once.',
    arguments: [
      ...policyArgument,
      { name: '<rules...>', summary: 'ids or names in the order wanted', resource: 'custom-rule' },
    ],
    published: true,
    call: ({ customRules }, [policyId = '', ...ruleIds]) =>
      customRules.reorderCustomRules({ policyId, ruleIds }),
    table: ({ rules }) => ruleTable(rules),
  }),
  {
    path: ['rule', 'preview'],
    summary: 'Preview a rule without saving it',
    flags: settingFlags,
    run: async (context, _args, flags) => {
      const { CustomRuleSchema } = await import('../../../proto/gen/waf/v1/custom_rule_pb.ts');
      const value = readNewRule(flags);
      const rule = await readMessage(CustomRuleSchema, { ...value, enabled: true }, 'flags');
      const response = await (await context.api()).customRules.previewCustomRule({ rule });
      if (context.output.format === 'table') context.output.line(response.seclang.trimEnd());
      else {
        const nothing = { columns: [], rows: [] };
        await showMessage(context, response, nothing);
      }
      return 0;
    },
  },
  callCommand({
    path: ['rule', 'templates'],
    summary: 'List the templates from which custom rules are made',
    flags: pageFlags,
    call: ({ customRules }, _args, flags) =>
      customRules.listCustomRuleTemplates({ page: readPage(flags) }),
    table: ({ items }) => ({
      columns: ['ID', 'NAME', 'CATEGORY', 'PARAMETERS'],
      rows: items.map((one) => [
        one.id,
        one.name,
        one.category,
        Object.entries(one.defaults ?? {})
          .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
          .join(' '),
      ]),
    }),
  }),
  {
    path: ['rule', 'from-template'],
    summary: 'Create a custom rule from a template',
    help: 'Example: waf rule from-template POLICY block-path --set path=/admin',
    arguments: [...policyArgument, { name: '<template>', summary: 'template id' }],
    flags: [
      { flags: '--set <name=value>', summary: 'parameter; repeatable', repeatable: true },
      { flags: '--site <site>', summary: 'only for this site', resource: 'site' },
    ],
    published: true,
    run: async (context, [policyId = '', templateId = ''], flags) => {
      const parameters = readPairs(listFlag(flags, 'set'), '--set');
      const siteId = textFlag(flags, 'site') ?? '';
      const { customRules } = await context.api();
      const request = { policyId, templateId, parameters, siteId };
      const response = await customRules.createFromTemplate(request);
      return showMessage(context, response, ruleTable(only(response.rule)));
    },
  },
];

/** What the flags state, in the JSON form of a rule, and the mask that names it. */
/** Errors: AppError bad_flag where there is nothing to run. */
function readNewRule(flags: FlagValues): Record<string, unknown> {
  const [value] = readSettings(flags);
  if (value['seclang'] !== undefined || value['visualSpec'] !== undefined) return value;
  throw badFlag('give the rule with --seclang or --visual');
}

function readSettings(flags: FlagValues): [Record<string, unknown>, string[]] {
  const value: Record<string, unknown> = {};
  const set = (flag: string, field: string, read: (text: string) => unknown): void => {
    const text = textFlag(flags, flag);
    if (text !== undefined) value[field] = read(text);
  };
  const asIs = (text: string): string => text;
  const number =
    (flag: string) =>
    (text: string): number =>
      wholeNumber(text, `--${flag}`);
  set('name', 'name', asIs);
  set('description', 'description', asIs);
  set('seclang', 'seclang', readInputText);
  set('visual', 'visualSpec', readInputObject);
  set('phase', 'phase', number('phase'));
  set('placement', 'placement', asIs);
  set('number', 'ruleId', (text) => String(number('number')(text)));
  set('order', 'sortOrder', number('order'));
  if (value['seclang'] !== undefined && value['visualSpec'] !== undefined) {
    throw badFlag('--seclang and --visual exclude each other');
  }
  return [value, Object.keys(value)];
}

function ruleTable(rules: readonly CustomRule[]): Table {
  return {
    columns: ['ID', 'NUMBER', 'ORDER', 'NAME', 'PLACEMENT', 'SITE', 'RUNS'],
    ids: { SITE: ['site'] },
    rows: rules.map((one) => [
      one.id,
      String(one.ruleId),
      String(one.sortOrder),
      one.name,
      one.placement,
      one.siteId || '-',
      one.enabled === true ? 'yes' : 'no',
    ]),
  };
}
