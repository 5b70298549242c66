/** Owns CountryAccessService: rules by country, where they decide, and the countries there are. */

import {
  CountryAccessRuleSchema,
  CountryCatalogSchema,
  type CountryAccessRuleJson,
  type CountryAccessService,
} from '../../../proto/gen/waf/v1/country_access_pb.ts';
import { countryCatalog } from '../../access/country-catalog.ts';
import { policyName, siteName } from '../../access/references.ts';
import type { Caller } from '../../auth/permissions.ts';
import type { CountryRuleRecord } from '../../domain/access/country-access.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { callerOf, type ApiParts } from '../context.ts';
import { countryActivation } from '../country-activation.ts';
import { isoNow, toMessage, toRecord } from '../convert.ts';
import type { Built } from '../method.ts';
import { drop, ownedBy, stored } from '../resource/owned.ts';
import { countryRuleKind, keepCountryRule } from './keep-country-rule.ts';

/** CountryAccessService. */
export function countryAccessService(parts: ApiParts): Built<typeof CountryAccessService> {
  const { store } = parts;
  return {
    listCountryAccessRules: (_request, context) => {
      const found = ownedBy(store, callerOf(context), countryRuleKind);
      found.sort(
        (left, right) =>
          (left.sortOrder ?? 0) - (right.sortOrder ?? 0) || (left.id < right.id ? -1 : 1),
      );
      return { items: found.map((rule) => show(store, rule)) };
    },
    getCountryAccessRule: ({ id }, context) => ({
      rule: show(store, stored(store, callerOf(context), countryRuleKind, id, 'id')),
    }),
    upsertCountryAccessRule: async ({ rule }, context) => {
      const caller = callerOf(context);
      if (rule === undefined) throw invalidField('rule', 'is required');
      const asked = toRecord<CountryAccessRuleJson>(CountryAccessRuleSchema, rule);
      const kept = await store.write((tx) => upsert(tx, caller, asked, isoNow(parts.clock)));
      return { rule: show(store, kept) };
    },
    getCountryCatalog: () => {
      const catalog = countryCatalog(store);
      // What cannot be read here was never sent to a node.
      const activation =
        catalog.available === true ? countryActivation(parts, catalog.datasetSha256 ?? '') : {};
      return { catalog: toMessage(CountryCatalogSchema, { ...catalog, ...activation }) };
    },
    deleteCountryAccessRule: async ({ id }, context) => {
      const caller = callerOf(context);
      await store.write((tx) => {
        drop(tx, caller, countryRuleKind, stored(tx, caller, countryRuleKind, id, 'id'));
      });
      return { result: { id, changed: true } };
    },
  };
}

function upsert(
  tx: WriteStore,
  caller: Caller,
  asked: CountryAccessRuleJson,
  now: string,
): CountryRuleRecord {
  const id = asked.id ?? '';
  const before = id === '' ? undefined : stored(tx, caller, countryRuleKind, id, 'rule.id');
  if (before !== undefined) {
    if ((asked.etag ?? '') === '') {
      throw invalidField('rule.etag', 'is required to change a rule: send the one that you read');
    }
    if (asked.etag !== before.etag) {
      throw refusal('aborted', 'rule.etag: the rule changed since; read it again');
    }
  }
  return keepCountryRule(tx, caller, asked, before, id, now, false);
}

function show(store: ReadStore, rule: CountryRuleRecord) {
  const targets = rule.targets.map((target) => ({
    ...target,
    policyName: policyName(store, target.policyId),
    siteName: siteName(store, target.siteId),
  }));
  return toMessage(CountryAccessRuleSchema, { ...rule, targets });
}
