/** `waf country`: access by country. */

import {
  CountryAccessRuleSchema,
  ListCountryAccessRulesResponseSchema,
  type CountryAccessRule,
} from '../../../proto/gen/waf/v1/country_access_pb.ts';
import { againWhenChanged } from '../change-attempts.ts';
import type { CommandContext, CommandDefinition, FlagValues } from '../command.ts';
import { listFlag, switchFlag, textFlag } from '../command.ts';
import { wordsOf } from '../field-flags.ts';
import { badFlag } from '../input.ts';
import { changeList, listChangeFlags, listMode, noteChange } from '../list-change.ts';
import { nameArgument } from '../named-resource.ts';
import { callCommand, deleteCommand } from '../regular-commands.ts';
import { showMessage } from '../show.ts';
import { noteCountryRule } from '../try-lines.ts';

/** Commands on countries. */
export const countryCommands: readonly CommandDefinition[] = [
  {
    path: ['country', 'list'],
    summary: 'List country rules',
    run: async (context) => {
      const { items } = await (await context.api()).countries.listCountryAccessRules({});
      return showRules(context, items);
    },
  },
  {
    path: ['country', 'set'],
    summary: 'Create a country rule, or change the one with --id',
    help:
      'With --id, unspecified options are unchanged; countries and places are added.\n' +
      'Example: waf country set --name embargo --kind deny --country KP --country IR',
    flags: [
      { flags: '--id <rule>', summary: 'the rule to change, id or name', resource: 'country-rule' },
      { flags: '--name <name>', summary: 'name for people; needed for a new one' },
      {
        flags: '--kind <kind>',
        summary: 'what happens; needed for a new one',
        choices: wordsOf(CountryAccessRuleSchema, 'kind'),
      },
      {
        flags: '--country <code>',
        summary: 'ISO 3166-1 code; repeatable',
        repeatable: true,
      },
      {
        flags: '--policy <policy>',
        summary: 'decide for a policy; repeatable',
        repeatable: true,
        resource: 'policy',
      },
      {
        flags: '--site <site>',
        summary: 'decide for a site; repeatable',
        repeatable: true,
        resource: 'site',
      },
      { flags: '--not-in', summary: 'decide for all other countries' },
      { flags: '--in', summary: 'decide for these countries' },
      { flags: '--off', summary: 'save it disabled' },
      { flags: '--on', summary: 'enable it' },
      ...listChangeFlags,
    ],
    run: async (context, _args, flags) => {
      const { countries } = await context.api();
      const id = textFlag(flags, 'id') ?? '';
      // The etag of what was read goes along.
      const rule = await againWhenChanged(async () => {
        const before = id === '' ? undefined : (await countries.getCountryAccessRule({ id })).rule;
        const wanted = ruleOf(flags, before);
        const answer = await countries.upsertCountryAccessRule({
          rule: before === undefined ? wanted : { ...before, ...wanted },
        });
        const parts = ({
          countryCodes,
          targets,
        }: Pick<CountryAccessRule, 'countryCodes'> & {
          readonly targets: readonly Place[];
        }): string[] => [...countryCodes, ...targets.map(placeOf)];
        if (before !== undefined) {
          noteChange(context.output, 'taken away', parts(before), parts(wanted));
        }
        return answer.rule;
      });
      const code = await showRules(context, rule === undefined ? [] : [rule]);
      if (rule !== undefined) await noteCountryRule(context, rule);
      return code;
    },
  },
  deleteCommand({
    path: ['country', 'delete'],
    summary: 'Remove a country rule',
    arguments: [nameArgument('country-rule')],
    kind: 'country rule',
    call: ({ countries }, id) => countries.deleteCountryAccessRule({ id }),
  }),
  callCommand({
    path: ['country', 'catalog'],
    summary: 'Show the countries that the data set knows',
    call: ({ countries }) => countries.getCountryCatalog({}),
    table: (response) => ({
      columns: ['CODE', 'NETWORKS'],
      rows: (response.catalog?.countries ?? []).map((one) => [one.code, String(one.prefixCount)]),
    }),
    after: (_context, response) => {
      return response.catalog?.available === true ? 0 : 1;
    },
  }),
];

interface Place {
  readonly policyId: string;
  readonly siteId: string;
}

/** What flags say of a rule; what they do not name is as before. Errors: AppError bad_flag. */
function ruleOf(flags: FlagValues, before: CountryAccessRule | undefined) {
  const mode = listMode(flags);
  const codes = listFlag(flags, 'country').map((code) => code.toUpperCase());
  const places: Place[] = [
    ...listFlag(flags, 'policy').map((policyId) => ({ policyId, siteId: '' })),
    ...listFlag(flags, 'site').map((siteId) => ({ policyId: '', siteId })),
  ];
  const [name, kind] = [textFlag(flags, 'name'), textFlag(flags, 'kind')];
  if (before === undefined && (name === undefined || kind === undefined || codes.length === 0)) {
    throw badFlag('a new rule needs --name, --kind and --country');
  }
  const present = before?.targets ?? [];
  return {
    name: name ?? before?.name ?? '',
    kind: kind ?? before?.kind ?? '',
    countryCodes:
      codes.length === 0
        ? (before?.countryCodes ?? [])
        : changeList(mode, before?.countryCodes ?? [], codes, '--country'),
    addressSource: before?.addressSource ?? 'client_ip',
    matchMode: either(flags, 'notIn', 'in')
      ? 'not_in_list'
      : switchFlag(flags, 'in')
        ? 'in_list'
        : (before?.matchMode ?? 'in_list'),
    enabled: either(flags, 'off', 'on')
      ? false
      : switchFlag(flags, 'on') || (before?.enabled ?? true),
    targets:
      places.length === 0
        ? present
        : changeList<Place>(mode, present, places, '--policy or --site', placeOf),
  };
}

/** Whether the first of two switches is on. Errors: AppError bad_flag for both. */
function either(flags: FlagValues, first: string, second: string): boolean {
  if (switchFlag(flags, first) && switchFlag(flags, second)) {
    throw badFlag('--not-in and --in, and --on and --off, exclude each other');
  }
  return switchFlag(flags, first);
}

function placeOf({ policyId, siteId }: Place): string {
  return siteId || policyId || 'all';
}

async function showRules(
  context: CommandContext,
  rules: readonly CountryAccessRule[],
): Promise<number> {
  const { create } = await import('@bufbuild/protobuf');
  const response = create(ListCountryAccessRulesResponseSchema, { items: [...rules] });
  return showMessage(context, response, {
    columns: ['ID', 'NAME', 'KIND', 'MATCH', 'COUNTRIES', 'PLACES', 'STATE'],
    ids: { PLACES: ['site', 'policy'] },
    rows: rules.map((rule) => [
      rule.id,
      rule.name,
      rule.kind,
      rule.matchMode,
      rule.countryCodes.join(' '),
      rule.targets.map((one) => one.siteId || one.policyId || 'all').join(' '),
      rule.enabled ? 'on' : 'off',
    ]),
  });
}
