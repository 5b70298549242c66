/** How long a child that died waits before it is started again. Pure: time is passed in. */

import { supervisorLimits } from '../limits/command-limits.ts';

/** The state between restarts; begin with `initialBackOff`. */
export interface BackOff {
  readonly failures: number;
}

/** No failure yet. */
export const initialBackOff: BackOff = { failures: 0 };

/**
 * What to wait after a child lived `livedMs`, and the state to keep. One that lived long starts
 * again at once; after that waits double up to ten seconds.
 */
export function nextBackOff(state: BackOff, livedMs: number): { delayMs: number; state: BackOff } {
  if (livedMs >= supervisorLimits.healthyAfterMs) return { delayMs: 0, state: initialBackOff };
  const failures = state.failures + 1;
  const delayMs = Math.min(
    supervisorLimits.longestRestartDelayMs,
    supervisorLimits.firstRestartDelayMs * 2 ** (failures - 1),
  );
  return { delayMs, state: { failures } };
}
