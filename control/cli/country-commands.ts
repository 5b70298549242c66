/** `waf country`: access by country. */

import type { CountryAccessRule } from '../../proto/gen/waf/v1/country_access_pb.ts';
import type { CommandContext, CommandDefinition } from './command.ts';
import { listFlag, switchFlag, textFlag } from './command.ts';
import { showMessage, showRemoved } from './show.ts';

const loadCountries = () => import('../../proto/gen/waf/v1/country_access_pb.ts');

/** Commands on countries. */
export const countryCommands: readonly CommandDefinition[] = [
  {
    path: ['country', 'list'],
    summary: 'List country rules',
    help: '',
    arguments: [],
    flags: [],
    run: async (context) => {
      const { items } = await (await context.api()).countries.listCountryAccessRules({});
      return showRules(context, items);
    },
  },
  {
    path: ['country', 'set'],
    summary: 'Create a country rule, or change the one with --id',
    help: 'Example: waf country set --name embargo --kind deny --country KP --country IR',
    arguments: [],
    flags: [
      { flags: '--id <rule>', summary: 'the rule to change, id or name', resource: 'country-rule' },
      { flags: '--name <name>', summary: 'name for people', required: true },
      {
        flags: '--kind <kind>',
        summary: 'what happens',
        choices: ['allow', 'deny', 'monitor'],
        required: true,
      },
      {
        flags: '--country <code>',
        summary: 'ISO 3166-1 code; repeatable',
        repeatable: true,
        required: true,
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
      { flags: '--off', summary: 'save it disabled' },
    ],
    run: async (context, _args, flags) => {
      const { countries } = await context.api();
      const id = textFlag(flags, 'id') ?? '';
      const before = id === '' ? undefined : (await countries.getCountryAccessRule({ id })).rule;
      const { rule } = await countries.upsertCountryAccessRule({
        rule: {
          id,
          etag: before?.etag ?? '',
          name: textFlag(flags, 'name') ?? '',
          kind: textFlag(flags, 'kind') ?? '',
          countryCodes: [...listFlag(flags, 'country')],
          addressSource: 'client_ip',
          matchMode: switchFlag(flags, 'notIn') ? 'not_in_list' : 'in_list',
          enabled: !switchFlag(flags, 'off'),
          targets: [
            ...listFlag(flags, 'policy').map((policyId) => ({ policyId })),
            ...listFlag(flags, 'site').map((siteId) => ({ siteId })),
          ],
        },
      });
      return showRules(context, rule === undefined ? [] : [rule]);
    },
  },
  {
    path: ['country', 'delete'],
    summary: 'Remove a country rule',
    help: '',
    arguments: [{ name: '<rule>', summary: 'id or name', resource: 'country-rule' }],
    flags: [],
    run: async (context, [id = '']) => {
      await (await context.api()).countries.deleteCountryAccessRule({ id });
      showRemoved(context, 'country rule', id);
      return 0;
    },
  },
  {
    path: ['country', 'catalog'],
    summary: 'Show the countries that the data set knows',
    help: '',
    arguments: [],
    flags: [],
    run: async (context) => {
      const { GetCountryCatalogResponseSchema } = await loadCountries();
      const response = await (await context.api()).countries.getCountryCatalog({});
      await showMessage(context, GetCountryCatalogResponseSchema, response, {
        columns: ['CODE', 'NETWORKS'],
        rows: (response.catalog?.countries ?? []).map((one) => [one.code, String(one.prefixCount)]),
      });
      return response.catalog?.available === true ? 0 : 1;
    },
  },
];

async function showRules(
  context: CommandContext,
  rules: readonly CountryAccessRule[],
): Promise<number> {
  const { ListCountryAccessRulesResponseSchema } = await loadCountries();
  const { create } = await import('@bufbuild/protobuf');
  const response = create(ListCountryAccessRulesResponseSchema, { items: [...rules] });
  await showMessage(context, ListCountryAccessRulesResponseSchema, response, {
    columns: ['ID', 'NAME', 'KIND', 'MATCH', 'COUNTRIES', 'PLACES', 'STATE'],
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
  return 0;
}
