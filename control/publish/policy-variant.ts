/**
 * Owns the policy as one site gets it: the shared policy with its overrides and custom rules, and
 * what belongs to the site alone laid over it. Sites that change nothing share one variant.
 */

import type { CrsCoreSettingsJson } from '../../proto/gen/waf/v1/policy_pb.ts';
import { describeRules } from '../domain/crs-rules.ts';
import { placeCustomRules } from '../domain/custom-rules.ts';
import type { AddedSecLang } from '../domain/policy-seclang.ts';
import type { PolicyRecord, RuleOverrideRecord, SiteOverrideRecord } from '../domain/records.ts';
import { renderOverrides } from '../domain/rule-overrides.ts';
import { customRules, ruleOverrides, siteOverrides } from '../store/collections.ts';
import type { ReadStore } from '../store/store.ts';
import type { BundlePolicy, BundleRuleset } from './build-bundle.ts';

/** Id of the variant that a site gets; the policy's own where the site changes nothing. */
export function variantId(store: ReadStore, policyId: string, siteId: string): string {
  const own =
    store.get(siteOverrides, siteId) !== undefined ||
    store.find(ruleOverrides, 'policy', policyId).some((one) => one.siteId === siteId) ||
    store.find(customRules, 'policy', policyId).some((one) => one.siteId === siteId);
  return own ? `${policyId}~${siteId}` : policyId;
}

/** A policy for a site, or for every site without changes of its own when `siteId` is ''. */
export function policyVariant(
  store: ReadStore,
  policy: PolicyRecord,
  siteId: string,
  ruleset: BundleRuleset | null,
): BundlePolicy {
  const applies = (one: { readonly siteId: string }): boolean =>
    one.siteId === '' || one.siteId === siteId;
  const overrides = store.find(ruleOverrides, 'policy', policy.id).filter(applies);
  const custom = store.find(customRules, 'policy', policy.id).filter(applies);
  const site = siteId === '' ? undefined : store.get(siteOverrides, siteId);
  const changed: PolicyRecord =
    site === undefined ? policy : { ...policy, crsCore: overlay(policy.crsCore ?? {}, site) };
  return {
    id: siteId === '' ? policy.id : variantId(store, policy.id, siteId),
    revision: policy.revision,
    policy: changed,
    ruleset,
    added: mergeAdded(placeCustomRules(custom), overridesText(overrides, ruleset)),
  };
}

function overlay(core: CrsCoreSettingsJson, site: SiteOverrideRecord): CrsCoreSettingsJson {
  const changed: CrsCoreSettingsJson = { ...core };
  const fields = [
    'blockingParanoiaLevel',
    'detectionParanoiaLevel',
    'inboundAnomalyScoreThreshold',
    'outboundAnomalyScoreThreshold',
    'samplingPercentage',
  ] as const;
  for (const field of fields) {
    const value = site[field];
    if (value !== undefined) changed[field] = value;
  }
  return changed;
}

function overridesText(
  overrides: readonly RuleOverrideRecord[],
  ruleset: BundleRuleset | null,
): AddedSecLang {
  if (overrides.length === 0 || ruleset === null) return {};
  const wanted = new Set(overrides.map((one) => Number(one.crsRuleId)));
  const texts = ruleset.files
    .filter(({ path }) => path.endsWith('.conf'))
    .map(({ path, content }) => ({ path, text: Buffer.from(content).toString('latin1') }))
    .filter(({ text }) => [...wanted].some((id) => text.includes(String(id))));
  const rules = new Map(describeRules(texts, '').map((rule) => [rule.ruleId, rule.raw]));
  // An override of a rule that this ruleset does not have changes nothing.
  const known = overrides.filter((one) => rules.has(Number(one.crsRuleId)));
  return renderOverrides(known, (id) => rules.get(id));
}

function mergeAdded(left: AddedSecLang, right: AddedSecLang): AddedSecLang {
  const join = (...texts: readonly (string | undefined)[]): string =>
    texts.filter((text) => text !== undefined && text !== '').join('\n');
  return {
    beforeCrs: join(left.beforeCrs, right.beforeCrs),
    afterCrs: join(left.afterCrs, right.afterCrs),
    requestBeforeBlocking: join(left.requestBeforeBlocking, right.requestBeforeBlocking),
    responseBeforeBlocking: join(left.responseBeforeBlocking, right.responseBeforeBlocking),
  };
}
