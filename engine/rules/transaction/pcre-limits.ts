/** How a transaction learns of searches that PCRE2's limits stopped, whoever asked. */

import { searchesStopped } from '../../match/regex.ts';
import type { Transaction } from './transaction.ts';

/** How many searches were stopped in this thread; to be given to `noteLimits` after a rule. */
export function stoppedSoFar(): number {
  return searchesStopped();
}

/** Notes the rule when searches were stopped since `before`: its selectors' searches, too. */
export function noteLimits(tx: Transaction, ruleId: number, before: number): void {
  if (searchesStopped() !== before) tx.notePcreLimit(ruleId);
}
