/** What a node says of its own overload; plain data. */

import { overloadStates, type OverloadState } from '../../base/overload-states.ts';

/** What becomes of requests beyond the share: inspection, or their site's fail policy. */
export type OverloadAction = 'none' | 'fail_policy';

/** What is waited for too long; '' for nothing. */
export type OverloadCause = '' | 'event_loop' | 'pool_queue' | 'held_bytes';

/** The overload of a front thread, or of the worst thread of a node. */
export interface OverloadStatus {
  readonly state: OverloadState;
  readonly action: OverloadAction;
  /** Percent of requests that are inspected, 1..100. */
  readonly probePercent: number;
  /** What was above its bound last; '' in the state `normal`. */
  readonly cause: OverloadCause;
}

/** Nothing is shed. */
export const notOverloaded: OverloadStatus = {
  state: 'normal',
  action: 'none',
  probePercent: 100,
  cause: '',
};

/** The worse of two: the one that inspects less, then the one in the later state. */
export function worseOverload(left: OverloadStatus, right: OverloadStatus): OverloadStatus {
  if (left.probePercent !== right.probePercent) {
    return left.probePercent < right.probePercent ? left : right;
  }
  return overloadStates.indexOf(left.state) >= overloadStates.indexOf(right.state) ? left : right;
}
