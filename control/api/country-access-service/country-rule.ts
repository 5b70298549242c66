/** Country rules: an etag of its own says whether a rule is what its caller read. */

import { createHash } from 'node:crypto';
import {
  CountryAccessRuleSchema,
  type CountryAccessRuleJson,
} from '../../../proto/gen/waf/v1/country_access_pb.ts';
import { policyName, siteName } from '../../access/references.ts';
import { accessLimits } from '../../limits/access-limits.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import { checkCountryRule, type CountryRuleRecord } from '../../domain/access/country-access.ts';
import { warningsOf } from '../../domain/enforcement.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { countrySpec, readCountrySpec } from '../../publish/manifests/manifest-access.ts';
import { countryRules } from '../../store/collections.ts';
import { toMessage } from '../convert.ts';
import { requirePlaceOf } from '../ip-list-service/binding.ts';
import type { Resource } from '../resource/resource.ts';

/** Country rules. */
export const countryRuleKind: Resource<
  typeof CountryAccessRuleSchema,
  CountryAccessRuleJson,
  CountryRuleRecord
> = {
  schema: CountryAccessRuleSchema,
  collection: countryRules,
  noun: 'country rule',
  audit: 'country_access_rule',
  field: 'rule',
  prefix: 'country',
  nameOf: ({ name }) => name,
  show: (store) => (rule) => {
    const targets = rule.targets.map((target) => ({
      ...target,
      policyName: policyName(store, target.policyId),
      siteName: siteName(store, target.siteId),
    }));
    return toMessage(CountryAccessRuleSchema, { ...rule, targets });
  },
  settle: (change, asked, before, base) => {
    if (before !== null && change.document === undefined) requireEtag(asked, before);
    const checked = checkCountryRule(asked);
    checked.targets.forEach((target, at) => {
      requirePlaceOf(change, target, `rule.targets[${at}]`);
    });
    if (checked.enabled) change.document?.warn(...warningsOf(countryRules.name));
    const { countryCodes, targets } = checked;
    const draft = { ...checked, ...base, countryCodes: [...countryCodes], targets: [...targets] };
    const etag = createHash('sha256').update(canonicalJson(draft)).digest('hex').slice(0, 32);
    return { record: { ...draft, etag } };
  },
  refuseMore: (store) => {
    const most = accessLimits.countryRulesMax;
    if (store.count(countryRules) < most) return;
    throw refusal('resource_exhausted', `there are at most ${most} country rules`);
  },
  taken: 'rule.name: another country rule has it',
  namesakes: (store, { name }) =>
    store.list(countryRules).filter((one) => one.name.toLowerCase() === name.toLowerCase()),
  document: {
    reference: 'country rule',
    action: 'upsert',
    read: readCountrySpec,
    spec: countrySpec,
    fields: [
      [/^rule\./, 'spec.'],
      [/^(?=there are at most)/, 'spec: '],
    ],
  },
};

function requireEtag({ etag = '' }: CountryAccessRuleJson, before: CountryRuleRecord): void {
  if (etag === '') {
    throw invalidField('rule.etag', 'is required to change a rule: send the one that you read');
  }
  if (etag === before.etag) return;
  throw refusal('aborted', 'rule.etag: the rule changed since; read it again');
}
