/** A pool thread whose policies fail as their sources say. */

import { createPoolWorker } from '../../engine/pool/worker.ts';
import { faultyEngine, type FaultPlan } from './faulty-policy.ts';

// Piscina takes the handler from the module's default export.
// oxlint-disable-next-line import/no-default-export
export default createPoolWorker(
  (source) => {
    if (source === 'die while loading') process.exit(1);
    return faultyEngine(source as FaultPlan);
  },
  () => undefined,
);
