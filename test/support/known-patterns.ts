/** Patterns that a trial found fit, kept in memory. */

import type { KnownPatterns } from '../../engine/rollout/pattern-trial.ts';

/** None at first. */
export function knownInMemory(): KnownPatterns {
  const known = new Set<string>();
  return {
    has: (pattern) => known.has(pattern),
    add: (patterns) => patterns.forEach((pattern) => known.add(pattern)),
  };
}
