/** Owns keeping a country rule: checked, with an etag of its own and its audit row. */

import { createHash, randomUUID } from 'node:crypto';
import type { CountryAccessRuleJson } from '../../../proto/gen/waf/v1/country_access_pb.ts';
import { accessLimits } from '../../limits/access-limits.ts';
import type { Caller } from '../../auth/permissions.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import { checkCountryRule, type CountryRuleRecord } from '../../domain/access/country-access.ts';
import { refusal } from '../../domain/errors.ts';
import { countryRules } from '../../store/collections.ts';
import type { WriteStore } from '../../store/store.ts';
import { requirePlace } from '../ip-list-service/bindings.ts';
import { keep, type Owned } from '../resource/owned.ts';

/** Country rules. */
export const countryRuleKind: Owned<CountryRuleRecord> = {
  collection: countryRules,
  noun: 'country rule',
  audit: 'country_access_rule',
  nameOf: ({ name }) => name,
};

/**
 * The rule as it is kept under `id`, or under a new one where that is ''; `dry` only checks.
 * Errors: invalid_argument, not_found, already_exists, resource_exhausted, and what `checkPlace`
 * says of a target.
 */
export function keepCountryRule(
  tx: WriteStore,
  caller: Caller,
  asked: CountryAccessRuleJson,
  before: CountryRuleRecord | undefined,
  id: string,
  now: string,
  dry: boolean,
  checkPlace: typeof requirePlace = requirePlace,
): CountryRuleRecord {
  const checked = checkCountryRule(asked);
  checked.targets.forEach((target, at) => {
    checkPlace(tx, caller, target, `rule.targets[${at}]`);
  });
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
    id: id || `country-${randomUUID()}`,
    tenantId: caller.tenantId,
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
  };
  const etag = createHash('sha256').update(canonicalJson(draft)).digest('hex').slice(0, 32);
  const record: CountryRuleRecord = { ...draft, etag };
  if (dry) return record;
  return keep(tx, caller, countryRuleKind, before, record, { action: 'upsert' });
}
