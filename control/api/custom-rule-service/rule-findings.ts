/**
 * Everything that the engine says against the rules of a policy, each fault at its place in the
 * text of its rule: the rules are compiled together, every rule as a file of its own.
 */

import { placeCustomRules, renderCustomRule } from '../../domain/policy/custom-rules.ts';
import type { CustomRuleRecord, PolicyRecord } from '../../domain/records.ts';
import { toRuntimePolicy } from '../../publish/build-bundle.ts';
import { listFiles } from '../../publish/parts/policy-lists.ts';
import type { Uses } from '../context.ts';
import { diagnosticText } from '../policy-service/compile.ts';

/** A fault of a rule. */
export interface RuleFault {
  /** Number of the rule. */
  readonly ruleId: string;
  /** Line in its text, from 1. */
  readonly line: number;
  /** Column in that line, from 1. */
  readonly column: number;
  readonly code: string;
  readonly message: string;
}

const folder = 'custom-rules/';

/**
 * Compiles `rules`, and no other, under the settings of a policy. Errors: unavailable when no
 * engine answers. Cost: one compilation, however many rules there are.
 */
export async function findRuleFaults(
  parts: Uses<'store' | 'engine'>,
  policy: PolicyRecord,
  rules: readonly CustomRuleRecord[],
): Promise<RuleFault[]> {
  const files = rules.map((rule) => ({
    path: `${folder}${rule.ruleId}.conf`,
    content: Buffer.from(renderCustomRule(rule), 'utf8'),
  }));
  const included = rules.map((rule) => ({
    placement: rule.placement ?? '',
    sortOrder: rule.sortOrder ?? 0,
    seclang: `Include ${folder}${rule.ruleId}.conf`,
    enabled: true,
  }));
  const sent = toRuntimePolicy({
    id: policy.id,
    revision: policy.revision,
    policy,
    ruleset: null,
    added: placeCustomRules(included),
    files: [...listFiles(parts.store, rules), ...files],
  });
  const { diagnostics } = await parts.engine.compile({ policy: sent, ruleset: null });
  return diagnostics.flatMap(({ error, file, line, column, code, message }) => {
    const ruleId = /^custom-rules\/(\d+)\.conf$/.exec(file)?.[1];
    if (!error || ruleId === undefined) return [];
    return [{ ruleId, line, column, code, message: diagnosticText(message) }];
  });
}
