/** CountryAccessService: rules by country, where they decide, and the countries there are. */

import {
  CountryCatalogSchema,
  type CountryAccessService,
} from '../../../proto/gen/waf/v1/country_access_pb.ts';
import { countryCatalog } from '../../access/country-catalog.ts';
import { callerOf, type Uses } from '../context.ts';
import { countryActivation } from '../country-activation.ts';
import { toMessage } from '../convert.ts';
import type { Built } from '../method.ts';
import { ownedBy } from '../resource/owned.ts';
import { serve } from '../resource/serve.ts';
import { countryRuleKind } from './country-rule.ts';

/** CountryAccessService. */
export function countryAccessService(
  parts: Uses<'store' | 'clock' | 'publisher' | 'nodes'>,
): Built<typeof CountryAccessService> {
  const { store } = parts;
  const { show, asked, get, upsert, remove } = serve(parts, countryRuleKind);
  return {
    listCountryAccessRules: (_request, context) => {
      const found = ownedBy(store, callerOf(context), countryRuleKind);
      found.sort(
        (left, right) =>
          (left.sortOrder ?? 0) - (right.sortOrder ?? 0) || (left.id < right.id ? -1 : 1),
      );
      return { items: found.map(show) };
    },
    getCountryAccessRule: (request, context) => ({ rule: get(request, context) }),
    upsertCountryAccessRule: async ({ rule }, context) => ({
      rule: show(await upsert(asked(rule), {}, context)),
    }),
    getCountryCatalog: () => {
      const catalog = countryCatalog(store);
      // What cannot be read here was never sent to a node.
      const activation =
        catalog.available === true ? countryActivation(parts, catalog.datasetSha256 ?? '') : {};
      return { catalog: toMessage(CountryCatalogSchema, { ...catalog, ...activation }) };
    },
    deleteCountryAccessRule: remove,
  };
}
