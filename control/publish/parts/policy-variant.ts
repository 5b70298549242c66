/**
 * The policy as one site gets it: the shared policy with its overrides and custom rules, and what
 * belongs to the site alone laid over it. Sites that change nothing share one variant.
 */

import type { CrsCoreSettingsJson, PolicyJson } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { placeCustomRules } from '../../domain/policy/custom-rules.ts';
import type { AddedSecLang } from '../../domain/policy/policy-seclang.ts';
import type { PluginBindingRecord } from '../../domain/policy/exclusion-plugins.ts';
import type {
  CustomRuleRecord,
  PolicyRecord,
  RuleOverrideRecord,
  SiteOverrideRecord,
} from '../../domain/records.ts';
import { describedDetector, isDetector } from '../../domain/policy/detectors.ts';
import { renderScoring } from '../../domain/policy/policy-scoring.ts';
import { renderOverrides } from '../../domain/policy/rule-overrides.ts';
import { customRules, ruleOverrides, siteOverrides } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import type { BundlePolicy, BundleRuleset } from '../build-bundle.ts';
import { listFiles } from './policy-lists.ts';
import { bindingsOf, policyPlugins } from '../rulesets/ruleset-plugins.ts';
import { rulesOfBundle } from '../rulesets/ruleset-rules.ts';

/** Id of the variant that a site gets; the policy's own where the site changes nothing. */
export function variantId(store: ReadStore, policyId: string, siteId: string): string {
  const own =
    store.get(siteOverrides, siteId) !== undefined ||
    store.find(ruleOverrides, 'policy', policyId).some((one) => one.siteId === siteId) ||
    store.find(customRules, 'policy', policyId).some((one) => one.siteId === siteId);
  return own ? `${policyId}~${siteId}` : policyId;
}

/** A policy as it is rendered, with what deserves a look. */
export interface RenderablePolicy extends BundlePolicy {
  readonly warnings: readonly string[];
}

/** Records to render in place of those in the store: a change that is not kept yet. */
export interface PolicyDraft {
  readonly overrides?: readonly RuleOverrideRecord[];
  readonly customRules?: readonly CustomRuleRecord[];
  readonly bindings?: readonly PluginBindingRecord[];
}

/** A policy for a site, or for every site without changes of its own when `siteId` is ''. */
export function policyVariant(
  store: ReadStore,
  policy: PolicyRecord,
  siteId: string,
  ruleset: BundleRuleset | null,
  draft: PolicyDraft = {},
): RenderablePolicy {
  const applies = (one: { readonly siteId: string }): boolean =>
    one.siteId === '' || one.siteId === siteId;
  const allOverrides = draft.overrides ?? store.find(ruleOverrides, 'policy', policy.id);
  const overrides = allOverrides.filter(applies);
  const allRules = draft.customRules ?? store.find(customRules, 'policy', policy.id);
  const site = siteId === '' ? undefined : store.get(siteOverrides, siteId);
  const changed: PolicyRecord =
    site === undefined ? policy : { ...policy, crsCore: overlay(policy.crsCore ?? {}, site) };
  const bindings = draft.bindings ?? bindingsOf(store, policy.id);
  const plugins = policyPlugins(store, policy, bindings, ruleset);
  const mine = allRules.filter(applies);
  const rules = placeCustomRules(mine);
  const rawOf = overrides.length === 0 ? () => undefined : rawsOf(changed, ruleset);
  const added = mergeAdded(rules, overridesText(overrides, rawOf));
  return {
    id: siteId === '' ? policy.id : variantId(store, policy.id, siteId),
    revision: policy.revision,
    policy: changed,
    ruleset: plugins.ruleset,
    added: { ...added, pluginSettings: plugins.settings },
    files: [...plugins.files, ...listFiles(store, mine)],
    warnings: [...plugins.warnings, ...orphans(overrides, rawOf), ...signs(overrides, changed)],
  };
}

/** Texts of the rules that a policy has, by number; describing a ruleset costs some 100 ms. */
function rawsOf(
  policy: PolicyJson,
  ruleset: BundleRuleset | null,
): (id: number) => string | undefined {
  const ofRuleset = ruleset === null ? () => undefined : rulesOfBundle(ruleset).rawOf;
  const isScored = renderScoring(policy, ruleset?.version ?? '') !== '';
  return (id) => ofRuleset(id) ?? (isScored ? describedDetector(id)?.raw : undefined);
}

/** Overrides of rules that the policy does not have. */
function orphans(
  overrides: readonly RuleOverrideRecord[],
  rawOf: (id: number) => string | undefined,
): string[] {
  const missing = overrides.filter(({ crsRuleId }) => rawOf(Number(crsRuleId)) === undefined);
  const ids = [...new Set(missing.map(({ crsRuleId = '' }) => crsRuleId))].sort();
  return ids.map((id) => {
    const why = isDetector(Number(id))
      ? 'crsCore.decision leaves the anomaly score alone to decide'
      : 'this ruleset has no such rule';
    return `override of rule ${id}: ${why}`;
  });
}

/** Overrides of the anomaly score where the score of detection refuses, too. */
function signs(overrides: readonly RuleOverrideRecord[], { crsCore }: PolicyJson): string[] {
  const { decision } = crsCore ?? {};
  if (decision !== 'DECISION_SCORE' && decision !== 'DECISION_BOTH') return [];
  const ofScore = ['RULE_OVERRIDE_ACTION_LOG_ONLY', 'RULE_OVERRIDE_ACTION_SCORE_OVERRIDE'];
  const found = overrides.filter(({ actionEnum }) => ofScore.includes(actionEnum ?? ''));
  const ids = [...new Set(found.map(({ crsRuleId = '' }) => crsRuleId))].sort();
  return ids.map((id) => {
    return `override of rule ${id}: it stays a sign of the score of detection; exclude it instead`;
  });
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
  rawOf: (id: number) => string | undefined,
): AddedSecLang {
  // An override of a rule that the policy does not have changes nothing.
  return renderOverrides(
    overrides.filter(({ crsRuleId }) => rawOf(Number(crsRuleId)) !== undefined),
    rawOf,
  );
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
