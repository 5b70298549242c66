/**
 * Applies the overrides and custom rules of a Policy document. Where the document states a list,
 * the policy has exactly these afterwards; where it is silent, it keeps what it has.
 */

import { randomUUID } from 'node:crypto';
import { AppError } from '../../../base/errors.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import type { CustomRuleJson } from '../../../proto/gen/waf/v1/custom_rule_pb.ts';
import type { RuleOverrideJson } from '../../../proto/gen/waf/v1/rule_override_pb.ts';
import { canonicalJson } from '../../domain/canonical-json.ts';
import { invalidField } from '../../domain/errors.ts';
import type { CustomRuleRecord, RuleOverrideRecord } from '../../domain/records.ts';
import { checkOverride, refuseEvaluation } from '../../domain/policy/rule-overrides.ts';
import type { ManifestDocument } from '../../publish/manifests/manifest-documents.ts';
import {
  customRuleSpecOf,
  overrideSpecOf,
  readCustomRuleSpecs,
  readOverrideSpecs,
} from '../../publish/manifests/manifest-rules.ts';
import { policies, ruleOverrides } from '../../store/collections.ts';
import {
  customRuleKind,
  requireSecLangPermission,
  rulesOfPolicy,
  settleRule,
} from '../custom-rule-service/custom-rule.ts';
import { drop, keep } from '../resource/owned.ts';
import { atField } from '../rethrown-at.ts';
import {
  overrideKind,
  refuseMisplaced,
  refuseUnreadTargets,
} from '../rule-override-service/upsert.ts';
import { withLists, type ApplyRun, type DocumentChange, type StatedList } from './context.ts';

/** Applies both lists and returns the change with theirs. Errors: AppError naming the field. */
export function applyPolicyRules(
  run: ApplyRun,
  document: ManifestDocument,
  change: DocumentChange,
): DocumentChange {
  const overrides = readOverrideSpecs(document, run.references);
  const overridden =
    overrides === undefined ? [] : [applyOverrides(run, document, change.id, overrides)];
  const rules = readCustomRuleSpecs(document, run.references);
  const ruled = rules === undefined ? [] : [applyRules(run, document, change.id, rules)];
  return withLists(change, [...overridden, ...ruled]);
}

function applyOverrides(
  run: ApplyRun,
  { where }: ManifestDocument,
  policyId: string,
  asked: readonly RuleOverrideJson[],
): StatedList {
  const { tx, caller, now, references } = run;
  const present = tx.find(ruleOverrides, 'policy', policyId);
  const keyOf = (one: RuleOverrideJson): string =>
    canonicalJson([one.crsRuleId ?? '', one.siteId ?? '', one.scope ?? '']);
  const known = new Map(present.map((one) => [keyOf(one), one]));
  const show = (list: readonly RuleOverrideJson[]) =>
    list
      .toSorted((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1))
      .map((one) => overrideSpecOf(one, references));
  if (asked.length > resourceLimits.ruleOverridesMax) {
    const most = resourceLimits.ruleOverridesMax;
    throw invalidField('policy.ruleOverrides', `has at most ${most} entries`);
  }
  const kept = asked.map((one, at): RuleOverrideRecord => {
    const field = `policy.ruleOverrides[${at}]`;
    checkOverride(one, field);
    refuseEvaluation(one, field);
    const before = known.get(keyOf(one));
    known.delete(keyOf(one));
    const record = { ...one, policyId, siteId: one.siteId ?? '' };
    const same =
      before !== undefined &&
      canonicalJson(overrideSpecOf(before, references)) ===
        canonicalJson(overrideSpecOf(record, references));
    if (same) return before;
    const after: RuleOverrideRecord = {
      ...record,
      id: before?.id ?? `override-${randomUUID()}`,
      createdAt: before?.createdAt ?? now,
      updatedAt: now,
    };
    return keep(tx, caller, overrideKind, before, after, { action: 'upsert' });
  });
  refuseTwice(kept.map(keyOf), 'policy.ruleOverrides', 'rule, site and scope');
  checkEffects(run, where, policyId, kept, new Set(present));
  for (const gone of known.values()) drop(tx, caller, overrideKind, gone);
  const same = kept.length === present.length && kept.every((one) => present.includes(one));
  if (!same) run.overridesChanged.push({ policyId, overrides: kept, where });
  return { name: 'ruleOverrides', before: show(present), after: show(kept) };
}

/**
 * A manifest may come from elsewhere: that this store has no such rule, or that a site uses another
 * policy, is only a warning. A target that the rule does not read is a mistake: it is refused, but
 * for overrides that are kept as they were.
 */
function checkEffects(
  { tx, caller, warn }: ApplyRun,
  where: string,
  policyId: string,
  overrides: readonly RuleOverrideRecord[],
  present: ReadonlySet<RuleOverrideRecord>,
): void {
  const policy = tx.get(policies, policyId);
  if (policy === undefined) return;
  for (const [at, override] of overrides.entries()) {
    const warned = warnsOf(where, warn, () => {
      const field = `spec.ruleOverrides[${at}]`;
      refuseMisplaced(tx, caller, policy, override, field);
      if (present.has(override)) refuseUnreadTargets(tx, policy, override, field);
    });
    if (warned || present.has(override)) continue;
    refuseUnreadTargets(tx, policy, override, `policy.ruleOverrides[${at}]`);
  }
}

/** True when the check found something, which is then a warning. */
function warnsOf(where: string, warn: ApplyRun['warn'], check: () => void): boolean {
  try {
    check();
    return false;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    warn(`${where}: ${error.message}; the override has no effect`);
    return true;
  }
}

function applyRules(
  run: ApplyRun,
  { where }: ManifestDocument,
  policyId: string,
  asked: readonly CustomRuleJson[],
): StatedList {
  const { tx, caller, now, references } = run;
  const present = rulesOfPolicy(tx, policyId);
  const left = new Set(present);
  const taken = asked.map((one) => {
    const found = [...left].find((rule) =>
      one.ruleId ? rule.ruleId === one.ruleId : rule.name === one.name,
    );
    if (found !== undefined) left.delete(found);
    return found;
  });
  for (const gone of left) drop(tx, caller, customRuleKind, gone);
  // As the transaction has them, which would read them all for each rule.
  const current = new Map(present.filter((rule) => !left.has(rule)).map((rule) => [rule.id, rule]));
  const changed: { readonly rule: CustomRuleRecord; readonly at: number }[] = [];
  const kept = asked.map((one, at): CustomRuleRecord => {
    const before = taken[at];
    const draft: CustomRuleRecord = {
      ...one,
      id: before?.id ?? `rule-${randomUUID()}`,
      policyId,
      siteId: one.siteId ?? '',
      ruleId: one.ruleId ?? before?.ruleId ?? '',
      phase: one.phase || 2,
      placement: one.placement || 'before_crs',
      sortOrder: one.sortOrder ?? at + 1,
      enabled: one.enabled ?? true,
      createdAt: before?.createdAt ?? now,
      updatedAt: now,
    };
    const field = `policy.customRules[${at}]`;
    const after = atField(field, 'rule', () => settleRule(tx, draft, [...current.values()]));
    const spec = canonicalJson(customRuleSpecOf(after, references));
    if (before !== undefined && canonicalJson(customRuleSpecOf(before, references)) === spec) {
      return before;
    }
    requireSecLangPermission(caller, after);
    changed.push({ rule: after, at });
    const stored = keep(tx, caller, customRuleKind, before, after);
    current.set(stored.id, stored);
    return stored;
  });
  if (changed.length > 0) run.rulesChanged.push({ policyId, changed, rules: kept, where });
  const show = (list: readonly CustomRuleRecord[]) =>
    list
      .toSorted((one, other) => Number(one.ruleId) - Number(other.ruleId))
      .map((one) => customRuleSpecOf(one, references));
  return { name: 'customRules', before: show(present), after: show(kept) };
}

function refuseTwice(keys: readonly string[], field: string, what: string): void {
  const twice = keys.findIndex((key, at) => keys.indexOf(key) !== at);
  if (twice >= 0) throw invalidField(`${field}[${twice}]`, `has the ${what} of another entry`);
}
