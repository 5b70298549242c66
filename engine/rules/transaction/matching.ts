/**
 * The effects of a match on the transaction, for the fast path. Decides nothing about
 * control flow.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { ruleRunLimits } from '../../../base/rule-limits.ts';
import { buildMatchedRule } from './report.ts';
import type { Transaction } from './transaction.ts';
import type { Rule, Target } from './types.ts';

/** Highest capture number kept in TX. */
const captureMax = 9;

/**
 * Records that one value matched one link: MATCHED_VAR(S), captures, then the link's own actions.
 * `target` is null for SecAction; `value` is the transformed value.
 */
export function noteMatch(
  tx: Transaction,
  rule: Rule,
  target: Target | null,
  key: ByteString,
  value: ByteString,
  captures: readonly ByteString[],
): void {
  if (target !== null) {
    const name = matchName(target, key);
    tx.matchedVariable = value;
    tx.matchedVariableName = name;
    tx.matchedVariables.push({ key: name, value });
  }
  if (rule.capture) keepCaptures(tx, captures);
  for (const action of rule.actions) action.run(tx, rule);
}

const captureNames = Array.from({ length: captureMax + 1 }, (_, i) => String(i));

/** Puts what was captured into TX.0 to TX.9 and removes older captures; nothing for none. */
export function keepCaptures(tx: Transaction, captures: readonly ByteString[]): void {
  if (captures.length === 0) return;
  for (let i = 0; i <= captureMax; i++) {
    const text = captures[i];
    if (text === undefined) tx.tx.delete(captureNames[i]!);
    else tx.tx.set(captureNames[i]!, text);
  }
}

/** A matched value's name in logs and MATCHED_VAR_NAME: `ARGS:q`, `&ARGS`, `REQUEST_URI`. */
export function matchName(target: Target, key: ByteString): ByteString {
  const { variable } = target;
  if (target.count) {
    const selector = target.selector?.kind === 'key' ? `:${target.selector.key}` : '';
    return `&${variable.name}${selector}`;
  }
  // The XML tree as a whole has no key; an argument may have an empty one.
  const keyed = variable.shape === 'collection' && (key !== '' || variable.select === undefined);
  if (!keyed) return variable.name;
  if (key.length > ruleRunLimits.rememberedNameBytesMax) return `${variable.name}:${key}`;
  if (lastName.key !== key || lastName.variable !== variable.name) {
    lastName.key = key;
    lastName.variable = variable.name;
    lastName.name = `${variable.name}:${key}`;
  }
  return lastName.name;
}

/** Items of a list have one name, of kilobytes perhaps: what is made of it is made once. */
const lastName = { variable: '', key: '', name: ':' };

/** Records that a rule and its whole chain matched. */
export function finishMatch(tx: Transaction, rule: Rule): void {
  if (rule.severity >= 0 && rule.severity < tx.highestSeverity) tx.highestSeverity = rule.severity;
  if (!rule.log && !rule.auditLog) return;
  if (tx.matchedRules.length < ruleRunLimits.matchedRulesMax) {
    tx.matchedRules.push(buildMatchedRule(rule, tx));
  }
}
