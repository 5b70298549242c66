/** Owns how a change of access reaches the local node, and what its caller is told of that. */

import { setTimeout as pause } from 'node:timers/promises';
import { toAppError } from '../../../engine/base/errors.ts';
import type { ApiParts } from '../context.ts';

/** What became of a change within the time that a call waits. */
export interface Applied {
  readonly applied: boolean;
  /** Empty when it is applied. */
  readonly error: string;
}

const waitMs = 3_000;
const lookAgainMs = 20;
const localNodeId = 'local';

/** Publishes and waits shortly for the receipt of the local node. */
export async function applyNow(parts: ApiParts): Promise<Applied> {
  try {
    const { signed } = await parts.publisher.publish();
    const endMs = parts.clock.nowMs() + waitMs;
    while (parts.clock.nowMs() < endMs) {
      const node = parts.nodes.get(localNodeId);
      if (node?.connected !== true) {
        const error = 'no node is connected; it gets the change when it connects';
        return { applied: false, error };
      }
      if (node.configHash === signed.sha256) return { applied: true, error: '' };
      if (node.apply?.success === false && node.apply.sha256 === signed.sha256) {
        return { applied: false, error: 'the node refused the configuration; see ListNodes' };
      }
      await pause(lookAgainMs);
    }
    return { applied: false, error: 'the node has not confirmed the change yet' };
  } catch (error) {
    parts.logger.error('publishing failed', { reason: toAppError(error).message });
    return { applied: false, error: 'the change is saved, publishing it failed' };
  }
}

/** The rollout of a change with so many consumers; without any there is nothing to wait for. */
export async function rolloutOf(parts: ApiParts, affectedConsumers: number) {
  if (affectedConsumers === 0) {
    return { status: 'not_in_use', affectedConsumers, updatedTargets: 0, failedTargets: 0 };
  }
  const { applied } = await applyNow(parts);
  const failed = parts.nodes.get(localNodeId)?.apply?.success === false;
  return {
    status: applied ? 'config_receipts_complete' : failed ? 'config_failed' : 'config_applying',
    affectedConsumers,
    updatedTargets: applied ? 1 : 0,
    failedTargets: failed && !applied ? 1 : 0,
  };
}
