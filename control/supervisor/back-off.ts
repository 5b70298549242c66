/** Owns how long a child that died waits before it is started again. Pure: time is passed in. */

import { supervisorLimits } from '../limits/command-limits.ts';

/** The state between restarts; begin with `initialBackOff`. */
export interface BackOff {
  readonly failures: number;
}

/** No failure yet. */
export const initialBackOff: BackOff = { failures: 0 };

/** What to wait after a child lived `livedMs`, and the state to keep. Doubles up to ten seconds. */
export function nextBackOff(state: BackOff, livedMs: number): { delayMs: number; state: BackOff } {
  const failures = livedMs >= supervisorLimits.healthyAfterMs ? 1 : state.failures + 1;
  const delayMs = Math.min(
    supervisorLimits.longestRestartDelayMs,
    supervisorLimits.firstRestartDelayMs * 2 ** (failures - 1),
  );
  return { delayMs, state: { failures } };
}
