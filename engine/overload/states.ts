/** The states of the overload controller, and what each may lead to, as one table. Pure. */

import type { OverloadState } from '../../base/overload-states.ts';

/** What a sample of the waits comes to. */
export type OverloadEvent =
  /** A wait is above its bound. */
  | 'hot'
  /** So it was for as many samples in a row as shedding needs. */
  | 'hot_long'
  /** All waits are below their bounds. */
  | 'calm'
  /** So they were for as many samples in a row as trying again needs. */
  | 'calm_long'
  /** Everything is inspected again, and the waits stayed short. */
  | 'whole';

/** Every transition there is. */
export const overloadTransitions: readonly (readonly [
  OverloadState,
  OverloadEvent,
  OverloadState,
])[] = [
  ['normal', 'hot', 'pressed'],
  ['normal', 'hot_long', 'shedding'],
  ['normal', 'calm', 'normal'],
  ['normal', 'calm_long', 'normal'],
  ['pressed', 'hot', 'pressed'],
  ['pressed', 'hot_long', 'shedding'],
  ['pressed', 'calm', 'normal'],
  ['pressed', 'calm_long', 'normal'],
  ['shedding', 'hot', 'shedding'],
  ['shedding', 'hot_long', 'shedding'],
  ['shedding', 'calm', 'shedding'],
  ['shedding', 'calm_long', 'probing'],
  ['probing', 'hot', 'shedding'],
  ['probing', 'hot_long', 'shedding'],
  ['probing', 'calm', 'probing'],
  ['probing', 'calm_long', 'probing'],
  ['probing', 'whole', 'normal'],
];

const table = new Map(
  overloadTransitions.map(([from, event, to]) => [`${from} ${event}`, to] as const),
);

/** The state that follows. Errors: an assertion where the table has none. */
export function nextOverloadState(state: OverloadState, event: OverloadEvent): OverloadState {
  const next = table.get(`${state} ${event}`);
  if (next === undefined) throw new Error(`event ${event} is not possible in state ${state}`);
  return next;
}
