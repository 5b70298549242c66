/**
 * What serves while policies of a new configuration still compile: everything else of it, and for
 * these policies what served before. Pure.
 */

import { isDeepStrictEqual } from 'node:util';
import type { SharedImages } from '../contract/shared-images.ts';
import type { KeyedPolicy } from '../contract/policy.ts';
import type { RoutesConfig, SiteConfig } from '../contract/site.ts';

/** Databases in shared memory of policies that are ready, by policy key and database key. */
export type ReadyPolicies = ReadonlyMap<string, SharedImages>;

/**
 * The new routes with policies that can serve at once. A site whose policy is not ready keeps what
 * the policy was before, or what the site had before: also no inspection, where it had none and
 * nothing else of it changes. Requests of any other site wait until its policy is ready.
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
  const without = new Set<string>();
  const compiling = new Set<string>();
  const policies = new Map(wanted.policies.map((policy) => [policy.key, policy]));
  for (const { id, waf } of next.sites) {
    const key = wanted.keyOfSite.get(id) ?? '';
    const usable = ready.has(key) || known.has(key);
    const older = keyOfId.get(waf.policyId ?? '') ?? serving.keyOfSite.get(id) ?? '';
    const chosen = usable ? key : older;
    const policy = policies.get(chosen) ?? known.get(chosen);
    if (policy === undefined) {
      if (waf.enabled) without.add(id);
      // What control holds back is not being compiled.
      if (waf.enabled && key !== '') compiling.add(id);
      continue;
    }
    used.set(chosen, policy);
    keyOfSite.set(id, chosen);
  }
  const shared = new Map(serving.shared);
  for (const groups of ready.values()) for (const [key, group] of groups) shared.set(key, group);
  return {
    ...next,
    sites: keepOff(next.sites, without, before.sites),
    inspection: { policies: [...used.values()], keyOfSite, compiling, lazy: false, shared },
  };
}

/** Sites that interim routes do not serve as they are wanted yet. */
export function waitingSites(next: RoutesConfig, interim: RoutesConfig): string[] {
  const wanted = next.inspection.keyOfSite;
  const served = interim.inspection.keyOfSite;
  return next.sites
    .filter((site, at) => site !== interim.sites[at] || wanted.get(site.id) !== served.get(site.id))
    .map(({ id }) => id);
}

/**
 * Sites without a policy that is ready stay uninspected, where they were and inspection is all that
 * changes of them: what was inspected, or not served, before does not become uninspected.
 */
function keepOff(
  next: readonly SiteConfig[],
  without: ReadonlySet<string>,
  before: readonly SiteConfig[],
): readonly SiteConfig[] {
  const old = new Map(before.map((site) => [site.id, site]));
  const orphans = hasOrphans(next, before);
  const staysOff = (site: SiteConfig): boolean => {
    const was = old.get(site.id);
    if (was === undefined || was.waf.enabled || !without.has(site.id)) return false;
    if (orphans && site.hosts.some((host) => host.startsWith('*'))) return false;
    return isDeepStrictEqual({ ...site, waf: was.waf }, was);
  };
  if (!next.some(staysOff)) return next;
  return next.map((site) =>
    staysOff(site) ? { ...site, waf: { ...site.waf, enabled: false } } : site,
  );
}

/** Whether hosts of inspected sites may fall to sites with wildcards now. */
function hasOrphans(next: readonly SiteConfig[], before: readonly SiteConfig[]): boolean {
  const named = new Set(next.flatMap(({ hosts }) => hosts));
  return before.some(({ waf, hosts }) => waf.enabled && hosts.some((host) => !named.has(host)));
}
