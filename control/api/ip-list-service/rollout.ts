/** Owns what a caller is told of a change of access on its way to the nodes. */

import type { ApiParts } from '../context.ts';
import { applyNow } from '../deployment.ts';

/** The rollout of a change with so many consumers; without any there is nothing to wait for. */
export async function rolloutOf(parts: ApiParts, affectedConsumers: number) {
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
