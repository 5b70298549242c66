/** Finds where a phase continues after a rule that skips. */

import type { Rule } from '../transaction/types.ts';
import type { PhasePlan } from '../plan/rule-plan.ts';

/** Index of the first item that runs after the skip. */
export function skipTarget(phase: PhasePlan, index: number, rule: Rule): number {
  if (rule.skipAfter !== null) {
    const next = phase.markers.get(rule.skipAfter)?.find((position) => position > index);
    return next ?? phase.items.length;
  }
  let next = index + 1;
  for (let left = rule.skip; left > 0 && next < phase.items.length; next++) {
    if (phase.items[next]!.kind !== 'marker') left--;
  }
  return next;
}

/** Takes all items before `index` out. */
export function clearBelow(bits: Uint32Array, index: number): void {
  const word = index >>> 5;
  bits.fill(0, 0, Math.min(word, bits.length));
  if (word < bits.length) bits[word]! &= ~((1 << (index & 31)) - 1);
}
