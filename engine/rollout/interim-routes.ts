/**
 * What serves while policies of a new configuration still compile: everything else of it, and for
 * these policies what served before. Pure.
 */

import type { SharedImages } from '../contract/shared-images.ts';
import type { KeyedPolicy } from '../contract/policy.ts';
import type { RoutesConfig } from '../contract/site.ts';

/** Databases in shared memory of policies that are ready, by policy key and database key. */
export type ReadyPolicies = ReadonlyMap<string, SharedImages>;

/**
 * The new routes with policies that can serve at once. A site whose policy is not ready keeps what
 * the policy was before, or what the site had before; one that had nothing fails its inspection.
 */
export function interimRoutes(
  next: RoutesConfig,
  before: RoutesConfig,
  ready: ReadyPolicies,
): RoutesConfig {
  const wanted = next.inspection;
  const serving = before.inspection;
  const known = new Map(serving.policies.map((policy) => [policy.key, policy]));
  const keyOfId = new Map(serving.policies.map(({ key, source }) => [source.id, key]));
  const used = new Map<string, KeyedPolicy>();
  const keyOfSite = new Map<string, string>();
  const policies = new Map(wanted.policies.map((policy) => [policy.key, policy]));
  for (const { id, waf } of next.sites) {
    const key = wanted.keyOfSite.get(id) ?? '';
    const usable = ready.has(key) || known.has(key);
    const older = keyOfId.get(waf.policyId ?? '') ?? serving.keyOfSite.get(id) ?? '';
    const chosen = usable ? key : older;
    const policy = policies.get(chosen) ?? known.get(chosen);
    if (policy === undefined) continue;
    used.set(chosen, policy);
    keyOfSite.set(id, chosen);
  }
  const shared = new Map(serving.shared);
  for (const groups of ready.values()) for (const [key, group] of groups) shared.set(key, group);
  return {
    ...next,
    inspection: { policies: [...used.values()], keyOfSite, lazy: false, shared },
  };
}
