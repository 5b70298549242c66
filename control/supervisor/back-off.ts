/** Owns how long a child that died waits before it is started again. Pure: time is passed in. */

const firstDelayMs = 250;
const longestDelayMs = 10_000;
/** A child that lived this long counts as healthy: the next delay is the first again. */
const healthyAfterMs = 30_000;

/** The state between restarts; begin with `initialBackOff`. */
export interface BackOff {
  readonly failures: number;
}

/** No failure yet. */
export const initialBackOff: BackOff = { failures: 0 };

/** What to wait after a child lived `livedMs`, and the state to keep. Doubles up to ten seconds. */
export function nextBackOff(state: BackOff, livedMs: number): { delayMs: number; state: BackOff } {
  const failures = livedMs >= healthyAfterMs ? 1 : state.failures + 1;
  const delayMs = Math.min(longestDelayMs, firstDelayMs * 2 ** (failures - 1));
  return { delayMs, state: { failures } };
}
