/** What rules ask for while tests look at what they decide, not at how long they take. */

import { systemClock } from '../../base/clock.ts';
import type { RulePorts } from '../../engine/rules/transaction/ports.ts';

/** Nothing but the time of day. No work takes time: a slow machine reaches no deadline. */
export const rulePorts: RulePorts = {
  clock: systemClock,
  workedUs: () => 0,
  collections: null,
  geo: null,
  rbl: null,
  env: new Map(),
};
