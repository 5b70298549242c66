/** Owns comparing two rulesets for one policy: rules that come, go or change. Pure. */

import type { CrsRuleChangeJson } from '../../proto/gen/waf/v1/policy_pb.ts';
import type { DescribedRule } from './crs-rules.ts';

/** What a move to another ruleset changes. */
export interface RulesetImpact {
  readonly addedRuleIds: readonly number[];
  readonly removedRuleIds: readonly number[];
  readonly changedRules: readonly CrsRuleChangeJson[];
}

const changesMax = 2_000;
const valueCharactersMax = 2_000;

/** Fields that are compared, and how each reads. */
const compared: readonly (readonly [field: string, read: (rule: DescribedRule) => string])[] = [
  ['phase', (rule) => String(rule.phase)],
  ['targets', (rule) => (rule.targets ?? []).join('|')],
  ['condition', (rule) => rule.operator ?? ''],
  ['transforms', (rule) => (rule.transformChain ?? []).join(',')],
  ['score', (rule) => rule.scoreExpression ?? ''],
  ['action', (rule) => rule.defaultAction ?? ''],
  ['severity', (rule) => rule.severity ?? ''],
  ['paranoia', (rule) => String(rule.paranoiaLevel ?? 0)],
];

/** Compares rules by number. Cost: linear in both rulesets. */
export function compareRulesets(
  from: readonly DescribedRule[],
  to: readonly DescribedRule[],
): RulesetImpact {
  const before = new Map(from.map((rule) => [rule.ruleId, rule]));
  const after = new Map(to.map((rule) => [rule.ruleId, rule]));
  const ascending = (left: number, right: number): number => left - right;
  const changedRules = [...after].flatMap(([ruleId, rule]) => {
    const old = before.get(ruleId);
    if (old === undefined) return [];
    const changes = compared.flatMap(([field, read]) => {
      const [left, right] = [read(old), read(rule)];
      return left === right ? [] : [{ field, before: cut(left), after: cut(right) }];
    });
    return changes.length === 0 ? [] : [{ ruleId, changes }];
  });
  return {
    addedRuleIds: [...after.keys()].filter((id) => !before.has(id)).sort(ascending),
    removedRuleIds: [...before.keys()].filter((id) => !after.has(id)).sort(ascending),
    changedRules: changedRules.slice(0, changesMax),
  };
}

/** Long targets and patterns are cut; the rule itself shows them whole. */
function cut(text: string): string {
  return text.slice(0, valueCharactersMax);
}
