/** Owns CountryAccessService: rules by country, where they decide, and the countries there are. */

import { createHash, randomUUID } from 'node:crypto';
import {
  CountryAccessRuleSchema,
  CountryCatalogSchema,
  type CountryAccessRuleJson,
  type CountryAccessService,
} from '../../../proto/gen/waf/v1/country_access_pb.ts';
import { accessLimits } from '../../../engine/base/limits.ts';
import { countryCatalog } from '../../access/country-catalog.ts';
import { policyName, siteName } from '../../access/references.ts';
import type { Caller } from '../../auth/permissions.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import { checkCountryRule, type CountryRuleRecord } from '../../domain/country-access.ts';
import { invalidField, notFound, refusal } from '../../domain/errors.ts';
import { countryRules } from '../../store/collections.ts';
import type { ReadStore, WriteStore } from '../../store/store.ts';
import { actorNote, callerOf, type ApiParts } from '../context.ts';
import { countryActivation } from '../country-activation.ts';
import { isoNow, requireText, toMessage, toRecord } from '../convert.ts';
import { requireUsedTarget } from '../ip-list-service/bindings.ts';
import type { Built } from '../method.ts';

/** CountryAccessService. */
export function countryAccessService(parts: ApiParts): Built<typeof CountryAccessService> {
  const { store } = parts;
  return {
    listCountryAccessRules: (_request, context) => {
      const { tenantId } = callerOf(context);
      const found = store.list(countryRules).filter((rule) => rule.tenantId === tenantId);
      found.sort(
        (left, right) =>
          (left.sortOrder ?? 0) - (right.sortOrder ?? 0) || (left.id < right.id ? -1 : 1),
      );
      return { items: found.map((rule) => show(store, rule)) };
    },
    getCountryAccessRule: ({ id }, context) => ({
      rule: show(store, storedRule(store, callerOf(context), id, 'id')),
    }),
    upsertCountryAccessRule: async ({ rule }, context) => {
      const caller = callerOf(context);
      if (rule === undefined) throw invalidField('rule', 'is required');
      const asked = toRecord<CountryAccessRuleJson>(CountryAccessRuleSchema, rule);
      const stored = await store.write((tx) => upsert(tx, caller, asked, isoNow(parts.clock)));
      return { rule: show(store, stored) };
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
        const before = storedRule(tx, caller, id, 'id');
        tx.remove(countryRules, before.id);
        tx.audit({ ...note(caller, before), action: 'delete', before });
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
  const checked = checkCountryRule(asked);
  checked.targets.forEach((target, at) => {
    requireUsedTarget(tx, caller, target, `rule.targets[${at}]`);
  });
  const id = asked.id ?? '';
  const before = id === '' ? undefined : storedRule(tx, caller, id, 'rule.id');
  if (before !== undefined) {
    if ((asked.etag ?? '') === '') {
      throw invalidField('rule.etag', 'is required to change a rule: send the one that you read');
    }
    if (asked.etag !== before.etag) {
      throw refusal('aborted', 'rule.etag: the rule changed since; read it again');
    }
  }
  const all = tx.list(countryRules);
  const name = checked.name.toLowerCase();
  const taken = all.some(
    (one) =>
      one.id !== before?.id && one.tenantId === caller.tenantId && one.name.toLowerCase() === name,
  );
  if (taken) throw refusal('already_exists', 'rule.name: another country rule has it');
  if (before === undefined && all.length >= accessLimits.countryRulesMax) {
    const most = accessLimits.countryRulesMax;
    throw refusal('resource_exhausted', `there are at most ${most} country rules`);
  }
  const draft = {
    ...checked,
    countryCodes: [...checked.countryCodes],
    targets: [...checked.targets],
    id: before?.id ?? `country-${randomUUID()}`,
    tenantId: caller.tenantId,
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
  };
  const etag = createHash('sha256').update(canonicalJson(draft)).digest('hex').slice(0, 32);
  const record: CountryRuleRecord = { ...draft, etag };
  tx.put(countryRules, record);
  const earlier = before === undefined ? {} : { before };
  tx.audit({ ...note(caller, record), action: 'upsert', ...earlier, after: record });
  return record;
}

function storedRule(
  store: ReadStore,
  caller: Caller,
  id: string,
  field: string,
): CountryRuleRecord {
  const rule = store.get(countryRules, requireText(id, field));
  if (rule === undefined || rule.tenantId !== caller.tenantId) throw notFound('country rule');
  return rule;
}

function show(store: ReadStore, rule: CountryRuleRecord) {
  const targets = rule.targets.map((target) => ({
    ...target,
    policyName: policyName(store, target.policyId),
    siteName: siteName(store, target.siteId),
  }));
  return toMessage(CountryAccessRuleSchema, { ...rule, targets });
}

function note(caller: Caller, rule: CountryRuleRecord) {
  return {
    ...actorNote(caller),
    resourceType: 'country_access_rule',
    resourceId: rule.id,
    resourceName: rule.name,
  };
}
