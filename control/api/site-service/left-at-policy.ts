/** Rules and exclusions of a site that do not act under its new policy. */

import { plainName } from '../../domain/errors.ts';
import type { SiteRecord } from '../../domain/records.ts';
import { policyOfSite } from '../../publish/parts/site-body.ts';
import { customRules, ruleOverrides } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';

/** What the site has at the policy that it leaves, which does not act at the next one. */
export function leftAtPolicy(store: ReadStore, before: SiteRecord, after: SiteRecord): string[] {
  const left = policyOfSite(store, before);
  if (left === null || left.id === policyOfSite(store, after)?.id) return [];
  const policy = plainName(left.name ?? '', left.id);
  const mine = (one: { readonly siteId: string }): boolean => one.siteId === before.id;
  const overrides = store.find(ruleOverrides, 'policy', left.id).filter(mine);
  const rules = store.find(customRules, 'policy', left.id).filter(mine);
  const told: string[] = [];
  if (overrides.length > 0) {
    const ids = [...new Set(overrides.map(({ crsRuleId = '' }) => crsRuleId))];
    told.push(
      `${overrides.length} exclusions and overrides of this site (${namedFew(ids)}) belong to ` +
        `policy ${policy} and do not act under its new policy: make them there, too, or set ` +
        'the policy back',
    );
  }
  if (rules.length > 0) {
    told.push(
      `${rules.length} custom rules of this site (${namedFew(rules.map(({ name }) => name ?? ''))}) ` +
        `belong to policy ${policy} and do not act under its new policy`,
    );
  }
  return told;
}

function namedFew(names: readonly string[]): string {
  const shown = names.slice(0, 10).join(', ');
  return names.length > 10 ? `${shown} and ${names.length - 10} more` : shown;
}
