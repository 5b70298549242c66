/**
 * Which lists and countries decide on which site, and in which order: what is said of the site
 * comes first, then what is said of its policy, then what is said of the deployment; within each by
 * sort order, then by id. Control decides in the same order (control/access/decide.ts). Pure.
 */

import type {
  RuntimeAccessPlace,
  RuntimeCountryRule,
  RuntimeIpBinding,
  RuntimeIpList,
} from '../../proto/gen/waf/runtime/v1/access_pb.ts';
import type { RuntimeSite } from '../../proto/gen/waf/runtime/v1/bundle_pb.ts';
import { AppError } from '../../base/errors.ts';
import { readStatedPath } from '../../base/stated-path.ts';
import type {
  AccessChoice,
  AccessConfig,
  CountryAccessRule,
  IpAccessRule,
} from '../contract/access.ts';
import type { IpSets } from './ip-set.ts';

/** The parts of a bundle that decide by address. */
export interface AccessSource {
  readonly ipLists: readonly RuntimeIpList[];
  readonly ipBindings: readonly RuntimeIpBinding[];
  readonly countryRules: readonly RuntimeCountryRule[];
}

type SitePlace = Pick<RuntimeSite, 'id' | 'policyId' | 'sharedPolicyId' | 'tenantId'>;

/** A rule with a place where it decides. */
interface Placed<T> {
  readonly rule: T;
  readonly place: RuntimeAccessPlace;
  readonly tenantId: string;
  readonly sortOrder: number;
}

/**
 * Finds what decides on a site; undefined for nothing. Sites on which the same rules decide share
 * the object. Errors: AppError bundle_invalid for a list that is missing.
 */
export function accessOf(
  source: AccessSource,
  sets: IpSets,
): (site: SitePlace) => AccessConfig | undefined {
  const lists = new Map(source.ipLists.map((list) => [list.id, list]));
  const ip = source.ipBindings.map((binding) => placedBinding(binding, lists, sets));
  const country = source.countryRules.flatMap(placedCountries);
  sets.keep(new Set(lists.keys()));
  if (ip.length + country.length === 0) return () => undefined;
  const shared = new Map<string, AccessConfig | undefined>();
  const ownSites = new Set([...ip, ...country].map(({ place }) => place.siteId));
  return (site) => {
    const policyId = policyOf(site);
    const key = JSON.stringify([site.tenantId, policyId, ownSites.has(site.id) ? site.id : '']);
    if (!shared.has(key)) {
      const config = {
        ip: inOrder(ip, site, policyId),
        country: inOrder(country, site, policyId),
      };
      shared.set(key, config.ip.length + config.country.length === 0 ? undefined : config);
    }
    return shared.get(key);
  };
}

/** The policy that operators chose, whatever variant of it the site gets. */
function policyOf({ policyId, sharedPolicyId }: SitePlace): string {
  return sharedPolicyId === '' ? policyId : sharedPolicyId;
}

const scopeOrder: Readonly<Record<string, number>> = { site: 0, policy: 1, global: 2 };

function inOrder<T extends AccessChoice>(
  placed: readonly Placed<T>[],
  site: SitePlace,
  policyId: string,
): readonly T[] {
  const found = placed
    .filter(({ place, tenantId }) => {
      if (tenantId !== site.tenantId) return false;
      if (place.siteId !== '' && place.siteId !== site.id) return false;
      return place.policyId === '' || place.policyId === policyId;
    })
    .sort(
      (left, right) =>
        (scopeOrder[left.place.scope] ?? 2) - (scopeOrder[right.place.scope] ?? 2) ||
        left.sortOrder - right.sortOrder ||
        (left.rule.id < right.rule.id ? -1 : 1),
    );
  // A rule with several places that a site is in decides once, at the narrowest of them.
  return [...new Set(found.map(({ rule }) => rule))];
}

function placedBinding(
  binding: RuntimeIpBinding,
  lists: ReadonlyMap<string, RuntimeIpList>,
  sets: IpSets,
): Placed<IpAccessRule> {
  const list = lists.get(binding.ipListId);
  if (list === undefined) throw invalid(`binding ${binding.id}: its IP list is missing`);
  const rule = {
    ...choiceOf(binding),
    listId: list.id,
    set: sets.of(list),
    pathPrefix: readStatedPath(binding.pathPrefix),
  };
  const place = placeOf(binding.place);
  return { rule, place, tenantId: binding.tenantId, sortOrder: binding.sortOrder };
}

function placedCountries(rule: RuntimeCountryRule): Placed<CountryAccessRule>[] {
  const { tenantId, sortOrder } = rule;
  const made = { ...choiceOf(rule), countries: [...rule.countryCodes] };
  return rule.places.map((place) => ({ rule: made, place, tenantId, sortOrder }));
}

function placeOf(place: RuntimeAccessPlace | undefined): RuntimeAccessPlace {
  if (place === undefined) throw invalid('a binding says not where it decides');
  return place;
}

function choiceOf(
  choice: Pick<RuntimeIpBinding, 'id' | 'kind' | 'bypassMode' | 'addressSource' | 'matchMode'>,
): AccessChoice {
  return {
    id: choice.id,
    kind: oneOf(choice.kind, ['allow', 'deny', 'monitor'], choice.id),
    bypass: choice.bypassMode === 'all_waf' ? 'all_waf' : 'ip_lists_only',
    source: oneOf(choice.addressSource, ['client_ip', 'peer_ip'], choice.id),
    inverted: oneOf(choice.matchMode, ['in_list', 'not_in_list'], choice.id) === 'not_in_list',
  };
}

/** A word that this engine does not know must not be taken for another one. */
function oneOf<T extends string>(value: string, known: readonly T[], id: string): T {
  const found = known.find((one) => one === value);
  if (found === undefined) throw invalid(`access rule ${id}: "${value}" is not known`);
  return found;
}

function invalid(message: string): AppError {
  return new AppError('bundle_invalid', message, { source: 'config' });
}
