/**
 * Values of a transaction by location, and what a rule's transformations make of them. Keeps the
 * last result of each rule for short values; the transaction keeps those of long ones.
 */

import type { ByteString } from '../../../base/byte-string.ts';
import { ruleRunLimits } from '../../../base/rule-limits.ts';
import type { Transaction } from '../transaction/transaction.ts';
import type { Rule } from '../transaction/types.ts';

/** The value or, for an odd location, the key of its row. */
export function valueAt(tx: Transaction, location: number): ByteString {
  const row = location >> 1;
  return (location & 1) === 1 ? tx.values.key(row) : tx.values.value(row);
}

/** What each rule's transformations made of the last value; header lines come again and again. */
const lastResults = new WeakMap<Rule, { value: ByteString; result: ByteString }>();

/** What the rule's transformations make of the value at a location. */
export function transformAt(tx: Transaction, rule: Rule, location: number): ByteString {
  const value = valueAt(tx, location);
  const { transformations } = rule;
  const short = value.length <= ruleRunLimits.rememberedValueBytesMax;
  if (short || transformations.length === 0) return transform(rule, value);
  // Items of a list share the bytes of their name.
  const { keyStart, start } = tx.values;
  const row = location >> 1;
  const place = (location & 1) === 1 ? keyStart[row]! : start[row]!;
  return tx.transformed.apply(place, value, transformations);
}

/** What the rule's transformations make of the value. */
export function transform(rule: Rule, value: ByteString): ByteString {
  const { transformations } = rule;
  if (transformations.length === 0) return value;
  if (value.length > ruleRunLimits.rememberedValueBytesMax) return applyAll(rule, value);
  const last = lastResults.get(rule);
  if (last === undefined) {
    const result = applyAll(rule, value);
    lastResults.set(rule, { value, result });
    return result;
  }
  if (last.value !== value) {
    last.result = applyAll(rule, value);
    last.value = value;
  }
  return last.result;
}

function applyAll({ transformations }: Rule, value: ByteString): ByteString {
  let current = value;
  for (const transformation of transformations) current = transformation.apply(current);
  return current;
}
