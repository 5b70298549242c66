/**
 * The states of one rollout, the way of a configuration from its arrival to all threads, and the
 * events that move it. Pure: `next` is a table look-up.
 */

/** Where a rollout stands. */
export type RolloutState =
  /** It arrived; nothing is planned yet. */
  | 'wanted'
  /** Its policies are linked and their databases compiled. */
  | 'planning'
  /** Planning takes long: what is ready serves, the other sites keep their previous policies. */
  | 'interim'
  /** It serves; policies that were not needed yet are built on first use. */
  | 'serving'
  /** It serves and every policy is built. */
  | 'settled'
  /** A later configuration took its place before it was settled, or after. */
  | 'superseded'
  /** It cannot be served. */
  | 'failed';

/** What happens to a rollout. */
export type RolloutEvent =
  /** Planning of its policies begins. */
  | 'plan'
  /** A policy takes longer than the interim delay. */
  | 'late'
  /** All threads serve it. */
  | 'served'
  /** All threads serve it, and every policy is built. */
  | 'built'
  /** A later configuration arrived. */
  | 'newer'
  /** A policy does not compile, or a thread cannot apply it. */
  | 'fault';

/** Every move that exists; a pair that is absent is a programming error. */
export const rolloutTable: Readonly<
  Record<RolloutState, Partial<Record<RolloutEvent, RolloutState>>>
> = {
  wanted: { plan: 'planning', served: 'serving', newer: 'superseded', fault: 'failed' },
  planning: { late: 'interim', served: 'serving', newer: 'superseded', fault: 'failed' },
  interim: { late: 'interim', served: 'serving', newer: 'superseded', fault: 'failed' },
  serving: { plan: 'serving', built: 'settled', newer: 'superseded', fault: 'failed' },
  settled: { newer: 'superseded' },
  superseded: { newer: 'superseded', fault: 'superseded' },
  failed: { newer: 'failed', fault: 'failed' },
};

/** The state after `event`. Errors: an assertion for a move that the table does not have. */
export function nextState(state: RolloutState, event: RolloutEvent): RolloutState {
  const next = rolloutTable[state][event];
  if (next === undefined) throw new Error(`a rollout that is ${state} cannot take "${event}"`);
  return next;
}
