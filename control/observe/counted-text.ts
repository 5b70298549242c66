/** Texts in the keys of counters that nodes send. Pure. */

import { observationLimits } from '../limits/observation-limits.ts';

/** Whether a member of such a key is a text that is not too long. */
export function isCountedText(one: unknown): boolean {
  return typeof one === 'string' && one.length <= observationLimits.countedTextCharsMax;
}
