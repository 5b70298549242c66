/** What goes with a site or a policy that is removed: its bindings, limits, rules, trust. */

import { countryRules, ipListBindings, rateLimits, trustProfiles } from '../store/collections.ts';
import type { WriteStore } from '../store/store.ts';

/**
 * Removes what decides at a site or policy only. A country rule loses the place, and goes when it
 * was its last: it must never come to decide everywhere.
 */
export function removeAccessOf(tx: WriteStore, place: 'site' | 'policy', id: string): void {
  for (const { id: bindingId } of tx.find(ipListBindings, place, id)) {
    tx.remove(ipListBindings, bindingId);
  }
  for (const { id: limitId } of tx.find(rateLimits, place, id)) tx.remove(rateLimits, limitId);
  for (const rule of tx.list(countryRules)) {
    const targets = rule.targets.filter(
      (target) => (place === 'site' ? target.siteId : target.policyId) !== id,
    );
    if (targets.length === rule.targets.length) continue;
    if (targets.length === 0) tx.remove(countryRules, rule.id);
    else tx.put(countryRules, { ...rule, targets });
  }
  if (place === 'site') tx.remove(trustProfiles, id);
}
