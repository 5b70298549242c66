/** Which values a rule looks at: target by target, less what is excluded. Matches nothing. */

import type { ByteString } from '../../../base/byte-string.ts';
import { lowerBytes } from '../transaction/macro.ts';
import { isCountExcluded, isExcluded, removedTargetsOf } from '../transaction/removal.ts';
import type { Transaction } from '../transaction/transaction.ts';
import type { Rule, Target } from '../transaction/types.ts';
import type { Entry } from '../transaction/values.ts';

/** One value that a rule tests. */
export interface Candidate {
  readonly target: Target;
  readonly key: ByteString;
  readonly value: ByteString;
}

/** The values of one target, in order; a count is one value. */
export function selectCandidates(rule: Rule, target: Target, tx: Transaction): Candidate[] {
  const exclusions = [...rule.exclusions, ...removedTargetsOf(rule, tx)];
  if (target.count && isCountExcluded(exclusions, target)) return [];
  const entries = selectEntries(rule, target, tx);
  if (target.count) return [{ target, key: '', value: String(entries.length) }];
  return entries
    .filter(({ key }) => !isExcluded(exclusions, target, key))
    .map(({ key, value }) => ({ target, key, value }));
}

function selectEntries(rule: Rule, target: Target, tx: Transaction): readonly Entry[] {
  const { variable, selector } = target;
  if (selector === null) return variable.entries(tx);
  if (selector.kind === 'xpath') return variable.select?.(tx, selector.text, rule.namespaces) ?? [];
  if (selector.kind === 'regex') {
    return variable.entries(tx).filter(({ key }) => selector.regex.test(key));
  }
  const { key } = selector;
  if (variable.lookup) return variable.lookup(tx, key);
  return variable.entries(tx).filter((entry) => lowerBytes(entry.key) === key);
}
