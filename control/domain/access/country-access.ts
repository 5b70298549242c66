/** What a country rule may be. */

import type {
  CountryAccessRuleJson,
  CountryAccessTargetJson,
} from '../../../proto/gen/waf/v1/country_access_pb.ts';
import { countryNameOf } from '../../../base/country-names.ts';
import { accessLimits } from '../../limits/access-limits.ts';
import { invalidField } from '../errors.ts';
import {
  checkAccessChoice,
  checkListTexts,
  checkSortOrder,
  type AccessScope,
} from './ip-list-checks.ts';
import type { ResourceBase } from '../records.ts';

/** A country rule as it is kept; names of its targets are looked up when it is shown. */
export type CountryRuleRecord = Omit<CountryAccessRuleJson, 'targets'> &
  ResourceBase & {
    readonly name: string;
    readonly etag: string;
    readonly targets: readonly CountryTarget[];
  };

/** Where a country rule decides. */
export interface CountryTarget {
  readonly scope: AccessScope;
  readonly policyId: string;
  readonly siteId: string;
}

/**
 * The checked fields of a rule; its targets still have to exist. Errors: invalid_argument under
 * `rule`.
 */
export function checkCountryRule(rule: CountryAccessRuleJson) {
  const texts = checkListTexts(rule, 'rule.');
  const countryCodes = checkCountryCodes(rule.countryCodes ?? []);
  const choice = checkAccessChoice(rule, 'rule.');
  const sortOrder = checkSortOrder(rule.sortOrder, 'rule.sortOrder');
  const targets = checkTargets(rule.targets ?? [], 'rule.targets');
  return { ...texts, countryCodes, ...choice, enabled: rule.enabled ?? false, sortOrder, targets };
}

/**
 * Targets with their scope made certain, each once; none means the whole deployment. Errors:
 * invalid_argument under `at`.
 */
export function checkTargets(
  targets: readonly CountryAccessTargetJson[],
  at: string,
): readonly CountryTarget[] {
  if (targets.length > accessLimits.targetsMax) {
    throw invalidField(at, `has at most ${accessLimits.targetsMax} entries`);
  }
  if (targets.length === 0) return [{ scope: 'global', policyId: '', siteId: '' }];
  const found = new Map<string, CountryTarget>();
  targets.forEach((target, index) => {
    const checked = checkTarget(target, `${at}[${index}]`);
    found.set(`${checked.policyId}\n${checked.siteId}`, checked);
  });
  return [...found.values()];
}

/** One target. Errors: invalid_argument under `at`. */
export function checkTarget(target: CountryAccessTargetJson, at: string): CountryTarget {
  const { policyId = '', siteId = '' } = target;
  const implied: AccessScope = siteId !== '' ? 'site' : policyId !== '' ? 'policy' : 'global';
  const scope = target.scope ?? '';
  if (scope === '' || scope === implied) return { scope: implied, policyId, siteId };
  if (scope === 'global') throw invalidField(`${at}.scope`, 'global names no policy and no site');
  if (scope === 'policy' && siteId === '') throw invalidField(`${at}.policyId`, 'is required');
  if (scope === 'site') throw invalidField(`${at}.siteId`, 'is required');
  throw invalidField(`${at}.scope`, 'must be one of global, policy, site and fit what is named');
}

function checkCountryCodes(codes: readonly string[]): string[] {
  if (codes.length < 1 || codes.length > accessLimits.countryCodesMax) {
    throw invalidField('rule.countryCodes', `needs 1 to ${accessLimits.countryCodesMax} codes`);
  }
  const upper = codes.map((code, at) => {
    const known = code.toUpperCase();
    if (known !== 'ZZ' && countryNameOf(known) !== undefined) return known;
    throw invalidField(`rule.countryCodes[${at}]`, 'must be an ISO 3166-1 alpha-2 code such as DE');
  });
  return [...new Set(upper)].sort();
}
