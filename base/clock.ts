/** How the product asks for the time, so that tests can inject their own. */

/** The time of day, and one that only goes forward. */
export interface Clock {
  /** Wall-clock time, milliseconds since the Unix epoch. */
  nowMs(): number;
  /** Time that never goes back, microseconds from an arbitrary start. */
  monotonicUs(): number;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicUs: () => performance.now() * 1000,
};
