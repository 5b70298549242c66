/**
 * The pieces of a bundle that hold rules: one for every variant of a policy that a site uses, one
 * for every ruleset that these include.
 */

import type { PolicyRecord } from '../../domain/records.ts';
import { shadowSuffix } from '../../domain/policy/shadow-runs.ts';
import { exclusionPlugins, pluginBindings, rulesets } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { toRuntimePolicy, toRuntimeRuleset, type BundleRuleset } from '../build-bundle.ts';
import type { PartKind, PartPlan } from './part-kind.ts';
import { listContents } from './policy-lists.ts';
import { policyVariant, type RenderablePolicy } from './policy-variant.ts';
import { readServedSites, servedCollections, type PolicyVariant } from './served-sites.ts';
import { loadRuleset } from '../rulesets/stored-rulesets.ts';

const collections = [
  ...servedCollections,
  ...['rulesets', 'exclusion-plugins', 'plugin-bindings', 'ip-list-contents'],
];

/** Policies that sites use, rendered. */
export const policyKind: PartKind = {
  name: 'policy',
  collections,
  mayFail: true,
  plan: planPolicies,
};

/** Rulesets that these policies include. */
export const rulesetKind: PartKind = { name: 'ruleset', collections, plan: planRulesets };

/** A policy as a site gets it ('' for no site), with its ruleset's files, read once in `loaded`. */
export function bundlePolicy(
  store: ReadStore,
  policy: PolicyRecord,
  siteId = '',
  loaded: Map<string, BundleRuleset> = new Map(),
): RenderablePolicy {
  return policyVariant(store, policy, siteId, loadRuleset(store, policy.crsRulesetId, loaded));
}

function planPolicies(store: ReadStore): PartPlan[] {
  // Read once for all policies that are stale now; kept no longer than that.
  const loaded = new Map<string, BundleRuleset>();
  const plugins = store.list(exclusionPlugins);
  return variantsOf(store).map((variant) => {
    const { id, policy, siteId, overrides, customRules, siteOverride } = variant;
    const bindings = store.find(pluginBindings, 'policy', policy.id);
    const used = bindings.length === 0 ? [] : plugins;
    const ruleset = store.get(rulesets, policy.crsRulesetId);
    const lists = [overrides, customRules, bindings, used];
    return {
      id,
      inputs: [
        ...[policy, siteOverride, ruleset, ...lists.flatMap((list) => [list.length, ...list])],
        ...listContents(store, customRules).map(({ etag }) => etag),
      ],
      build: () => {
        const rendered = bundlePolicy(store, policy, siteId, loaded);
        return { policies: [toRuntimePolicy({ ...rendered, id })] };
      },
    };
  });
}

function planRulesets(store: ReadStore): PartPlan[] {
  const used = new Set(variantsOf(store).map(({ policy }) => policy.crsRulesetId));
  const plans = new Map<string, PartPlan>();
  for (const rulesetId of used) {
    const record = store.get(rulesets, rulesetId);
    if (record === undefined) continue;
    const id = record.fingerprint ?? record.id;
    const build = () => {
      const ruleset = loadRuleset(store, rulesetId);
      return { rulesets: ruleset === null ? [] : [toRuntimeRuleset(ruleset)] };
    };
    plans.set(id, { id, inputs: [record.blob], build });
  }
  return [...plans.values()];
}

/** All that sites use, and what inspects beside it. */
function variantsOf(store: ReadStore): PolicyVariant[] {
  const variants = readServedSites(store).flatMap(({ variant }) => variant ?? []);
  const all = variants.flatMap((variant) => [variant, ...shadowOf(variant)]);
  return [...new Map(all.map((variant) => [variant.id, variant])).values()];
}

/** The same variant with the ruleset of a shadow run. */
function shadowOf({ shadow, ...variant }: PolicyVariant): PolicyVariant[] {
  if (shadow === undefined) return [];
  const policy = { ...variant.policy, crsRulesetId: shadow.crsRulesetId };
  return [{ ...variant, id: variant.id + shadowSuffix, policy }];
}
