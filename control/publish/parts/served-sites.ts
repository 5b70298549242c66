/**
 * Which sites serve and which variant of which policy each of them gets, read in one pass. Never
 * renders anything.
 */

import type {
  CustomRuleRecord,
  PolicyRecord,
  RuleOverrideRecord,
  SiteOverrideRecord,
  SiteRecord,
} from '../../domain/records.ts';
import { isPublished, type ShadowRunRecord } from '../../domain/policy/shadow-runs.ts';
import type { SiteRoutingRecord } from '../../domain/resource-records.ts';
import {
  customRules,
  policies,
  ruleOverrides,
  shadowRuns,
  siteOverrides,
  siteRoutings,
  sites,
} from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';

/** Names of the collections that decide what is read here. */
export const servedCollections = [
  'custom-rules',
  'policies',
  'rule-overrides',
  'site-overrides',
  'shadow-runs',
  'site-routings',
  'sites',
];

/** A site that serves. */
export interface ServedSite {
  readonly site: SiteRecord;
  readonly routing: SiteRoutingRecord | undefined;
  /** Variant of the policy that protects it; null when the WAF is off. */
  readonly variant: PolicyVariant | null;
}

/** A policy as some sites get it. */
export interface PolicyVariant {
  /** The policy's own id, or that and the site's where the site changes something. */
  readonly id: string;
  readonly policy: PolicyRecord;
  /** '' for the variant of all sites that change nothing. */
  readonly siteId: string;
  readonly overrides: readonly RuleOverrideRecord[];
  readonly customRules: readonly CustomRuleRecord[];
  readonly siteOverride: SiteOverrideRecord | undefined;
  /** What inspects beside it; absent for nothing. */
  readonly shadow?: ShadowRunRecord;
}

/** What was read through a view of the store. */
const memory = new WeakMap<ReadStore, readonly ServedSite[]>();
const views = new WeakSet<ReadStore>();

/**
 * The store as it is while one publication is made: the sites are read once for all kinds of
 * pieces. To be used without waiting in between, and then dropped.
 */
export function viewOf<T extends ReadStore>(store: T): T {
  const view = { ...store };
  views.add(view);
  return view;
}

/** The sites that serve, by id. Cost: some microseconds a site, once for a view. */
export function readServedSites(store: ReadStore): readonly ServedSite[] {
  const known = memory.get(store);
  if (known !== undefined) return known;
  const served = readSites(store);
  if (views.has(store)) memory.set(store, served);
  return served;
}

function readSites(store: ReadStore): ServedSite[] {
  const allPolicies = new Map(store.list(policies).map((policy) => [policy.id, policy]));
  const fallback = [...allPolicies.values()].find(
    (policy) => policy.isDefault === true && policy.isTemplate !== true,
  );
  const routings = new Map(store.list(siteRoutings).map((routing) => [routing.id, routing]));
  const makeVariant = variantMaker(store);
  const served: ServedSite[] = [];
  for (const site of store.list(sites)) {
    const routing = routings.get(site.id);
    if (site.status !== 'RESOURCE_STATUS_ACTIVE' || !hasOrigin(site, routing)) continue;
    const chosen = site.waf?.enabled === true ? site.waf.policyId || fallback?.id || '' : '';
    const policy = allPolicies.get(chosen);
    const variant = policy === undefined ? null : makeVariant(policy, site.id);
    served.push({ site, routing, variant });
  }
  return served;
}

/** Variants of the sites, one for all that share it. */
function variantMaker(store: ReadStore): (policy: PolicyRecord, siteId: string) => PolicyVariant {
  const overrides = byPolicy(store.list(ruleOverrides));
  const rules = byPolicy(store.list(customRules));
  const siteChanges = new Map(store.list(siteOverrides).map((one) => [one.siteId, one]));
  const known = new Map<string, PolicyVariant>();
  return (policy, siteId) => {
    const mine = (one: { readonly siteId: string }): boolean => one.siteId === siteId;
    const ofPolicy = overrides.get(policy.id) ?? [];
    const ofRules = rules.get(policy.id) ?? [];
    const run = store.get(shadowRuns, policy.id);
    const siteOverride = siteChanges.get(siteId);
    const own = siteOverride !== undefined || ofPolicy.some(mine) || ofRules.some(mine);
    const id = own ? `${policy.id}~${siteId}` : policy.id;
    const shared = known.get(id);
    if (shared !== undefined) return shared;
    const applies = (one: { readonly siteId: string }): boolean =>
      one.siteId === '' || (own && one.siteId === siteId);
    const variant = {
      id,
      policy,
      siteId: own ? siteId : '',
      overrides: ofPolicy.filter(applies),
      customRules: ofRules.filter(applies),
      siteOverride,
      ...(run !== undefined && isPublished(run, policy) && { shadow: run }),
    };
    known.set(id, variant);
    return variant;
  };
}

function byPolicy<T extends { readonly policyId: string }>(
  records: readonly T[],
): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const record of records) {
    const list = found.get(record.policyId);
    if (list === undefined) found.set(record.policyId, [record]);
    else list.push(record);
  }
  return found;
}

function hasOrigin(site: SiteRecord, routing: SiteRoutingRecord | undefined): boolean {
  return (site.upstreams ?? []).length > 0 || (routing?.routing.routes ?? []).length > 0;
}
