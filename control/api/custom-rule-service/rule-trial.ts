/** What a rule must pass before it is kept: it compiles, and a patch does what it states. */

import { AppError } from '../../../base/errors.ts';
import { notFound } from '../../domain/errors.ts';
import type { CustomRuleRecord, PolicyRecord } from '../../domain/records.ts';
import { policies } from '../../store/collections.ts';
import type { Uses } from '../context.ts';
import { refuseUncompiled, refuseUncompiledRule } from '../policy-service/compile.ts';
import type { Vet } from '../resource/serve.ts';
import { rulesOfPolicy } from './custom-rule.ts';
import { effectivePatches, refuseIneffectivePatch } from './patch-trial.ts';
import { findRuleFaults } from './rule-findings.ts';

/** What a rule that calls create or change must pass. Errors: as of `refuseFaultyRule`. */
export function ruleTrial(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
): Vet<CustomRuleRecord> {
  return async (rule) => {
    const policy = parts.store.get(policies, rule.policyId);
    if (policy === undefined) throw notFound('policy', rule.policyId);
    const others = rulesOfPolicy(parts.store, policy.id).filter(({ id }) => id !== rule.id);
    await refuseFaultyRule(parts, policy, rule, others);
  };
}

/**
 * Errors: invalid_argument where the engine cannot compile a rule, alone or with all others of its
 * policy, or where it is a patch that treats its own requests otherwise than they state.
 */
export async function refuseFaultyRule(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
  policy: PolicyRecord,
  rule: CustomRuleRecord,
  others: readonly CustomRuleRecord[],
): Promise<void> {
  await refuseUncompiledRule(parts, policy, rule, others);
  await refuseIneffectivePatch(parts, policy, rule);
}

/**
 * The same for many rules, `changed` of all `rules` of a policy: they are compiled and tried
 * together, so that a thousand cost little more than one, and alone only where they have a fault.
 * Disabled ones are compiled as if all of them were enabled. `named` runs the checks of a rule, or
 * of all with null, to rename their errors.
 */
export async function refuseFaultyRules(
  parts: Uses<'store' | 'clock' | 'logger' | 'engine'>,
  policy: PolicyRecord,
  rules: readonly CustomRuleRecord[],
  changed: readonly CustomRuleRecord[],
  named: (rule: CustomRuleRecord | null, check: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const faulty = await findFaultyRules(parts, policy, rules);
  const disabled = changed.filter((rule) => rule.enabled !== true);
  let couldAct = true;
  await named(null, async () => {
    couldAct = await compileEnabled(parts, policy, rules, disabled);
  });
  for (const rule of changed) {
    if (!faulty.has(rule.ruleId ?? '') && (couldAct || rule.enabled === true)) continue;
    const others = rules.filter(({ id }) => id !== rule.id);
    await named(rule, () => refuseFaultyRule(parts, policy, rule, others));
  }
  for (const siteId of new Set(changed.map((rule) => rule.siteId))) {
    if (!changed.some((rule) => rule.siteId === siteId && rule.enabled === true)) continue;
    const draft = { customRules: rules };
    await named(null, () => refuseUncompiled(parts, policy, 'policy.customRules', draft, siteId));
  }
  const proved = await effectivePatches(parts, policy, changed);
  for (const rule of changed) {
    if (proved.has(rule)) continue;
    await named(rule, () => refuseIneffectivePatch(parts, policy, rule));
  }
}

/** Whether disabled rules compile with all others of their policy once all of them are enabled. */
async function compileEnabled(
  parts: Uses<'store' | 'logger' | 'engine'>,
  policy: PolicyRecord,
  rules: readonly CustomRuleRecord[],
  disabled: readonly CustomRuleRecord[],
): Promise<boolean> {
  const off = new Set(disabled);
  const customRules = rules.map((rule) => (off.has(rule) ? { ...rule, enabled: true } : rule));
  try {
    for (const siteId of new Set(disabled.map((rule) => rule.siteId))) {
      await refuseUncompiled(parts, policy, 'policy.customRules', { customRules }, siteId);
    }
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_argument') return false;
    throw error;
  }
}

/** Numbers of rules that do not compile without the ruleset; none where no engine can say it. */
async function findFaultyRules(
  parts: Uses<'store' | 'engine'>,
  policy: PolicyRecord,
  rules: readonly CustomRuleRecord[],
): Promise<ReadonlySet<string>> {
  try {
    const faults = await findRuleFaults(parts, policy, rules);
    return new Set(faults.map(({ ruleId }) => ruleId));
  } catch (error) {
    if (error instanceof AppError && error.code === 'unavailable') return new Set();
    throw error;
  }
}
