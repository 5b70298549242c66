/**
 * Leaves out values that a scan hit and that cannot match after all, before each of the others is
 * evaluated: patterns that a scan only approximates are hit by a thousand values of one request.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { ruleRunLimits } from '../../../base/rule-limits.ts';
import type { Transaction } from '../transaction/transaction.ts';
import type { Rule } from '../transaction/types.ts';
import { transformAt } from './transformed-values.ts';

const values: ByteString[] = [];
let possible = new Uint8Array(1024);

/**
 * Keeps those of the first `count` locations whose values may match, in order; how many they are.
 * Errors: `inspection_deadline`. Cost: one search for some sixty values, and their transformations.
 */
export function leavePossible(
  tx: Transaction,
  rule: Rule,
  locations: number[],
  count: number,
): number {
  const { operator } = rule;
  if (count < ruleRunLimits.siftedValuesMin || operator?.sift === undefined) return count;
  if (rule.negated || rule.multiMatch) return count;
  tx.checkDeadline();
  if (possible.length < count) possible = new Uint8Array(2 * count);
  values.length = 0;
  for (let i = 0; i < count; i++) values.push(transformAt(tx, rule, locations[i]!));
  const knows = operator.sift(values, possible);
  values.length = 0;
  if (!knows) return count;
  let left = 0;
  for (let i = 0; i < count; i++) if (possible[i] === 1) locations[left++] = locations[i]!;
  return left;
}
