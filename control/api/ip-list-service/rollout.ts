/** Reports to callers how far a change of access has been rolled out to the nodes. */

import type { Uses } from '../context.ts';
import { applyNow } from '../deployment.ts';

/** The rollout of a change with this number of consumers; without any it is complete at once. */
export async function rolloutOf(
  parts: Uses<'logger' | 'publisher' | 'nodes'>,
  affectedConsumers: number,
) {
  if (affectedConsumers === 0) {
    return { status: 'not_in_use', affectedConsumers, updatedTargets: 0, failedTargets: 0 };
  }
  const { state } = await applyNow(parts);
  const applied = state === 'applied';
  const failed = state === 'failed';
  return {
    status: applied ? 'config_receipts_complete' : failed ? 'config_failed' : 'config_applying',
    affectedConsumers,
    updatedTargets: applied ? 1 : 0,
    failedTargets: failed ? 1 : 0,
  };
}
