/**
 * Tells how far the present state of the store has come on the built-in node. Compares hashes: that
 * of the newest publication, which holds everything stored, with that of what the node applied.
 */

import { setTimeout as pause } from 'node:timers/promises';
import { toAppError } from '../../base/errors.ts';
import { callLimits } from '../limits/call-limits.ts';
import type { Uses } from './context.ts';

/** Where the stored state is. */
export interface Deployment {
  /**
   * `pending`: it is not published yet, or no node is there to apply it; `applying`: it was sent;
   * `failed`: it could not be published, or the node refused it; `applied`: the node serves it.
   */
  readonly state: 'pending' | 'applying' | 'failed' | 'applied';
  /** Why it failed or waits; '' otherwise. */
  readonly error: string;
  /** When the node answered on it, milliseconds; 0 where it did not. */
  readonly answeredAtMs: number;
}

const localNodeId = 'local';

/** Publishes and waits shortly for the answer of the built-in node. Never throws. */
export async function applyNow(parts: Uses<'logger' | 'publisher' | 'nodes'>): Promise<Deployment> {
  await parts.publisher.publish().catch((error: unknown) => {
    parts.logger.error('publishing failed', { reason: toAppError(error).message });
  });
  return awaitDeployment(parts);
}

/**
 * Waits, shortly, until the built-in node answered on the present state; with sites until it
 * serves those, whatever else still compiles. Also waits for a node that is just starting. Never
 * throws.
 */
export async function awaitDeployment(
  parts: Uses<'publisher' | 'nodes'>,
  siteIds: readonly string[] = [],
): Promise<Deployment> {
  let endMs = performance.now() + callLimits.servedWaitMs;
  for (;;) {
    const found = deploymentOf(parts, siteIds);
    const settled = found.state === 'applied' || found.state === 'failed';
    if (settled || !parts.nodes.isExpected(localNodeId)) return found;
    const connected = parts.nodes.get(localNodeId)?.connected === true;
    if (!connected) endMs = performance.now() + callLimits.servedWaitMs;
    if (performance.now() > endMs) {
      return { ...found, error: 'the node has not confirmed the change yet' };
    }
    await pause(callLimits.servedPollMs);
  }
}

/** How far the stored state has come; with sites, how far it has come there. */
export function deploymentOf(
  { publisher, nodes }: Uses<'publisher' | 'nodes'>,
  siteIds: readonly string[] = [],
): Deployment {
  const { waiting, error } = publisher.progress();
  if (error !== '') return { state: 'failed', error, answeredAtMs: 0 };
  const node = nodes.get(localNodeId);
  if (node?.connected !== true) {
    const reason = 'no node is connected; it gets the change when it connects';
    return { state: 'pending', error: reason, answeredAtMs: 0 };
  }
  const current = publisher.current();
  if (waiting || current === null) return { state: 'pending', error: '', answeredAtMs: 0 };
  const { sha256 } = current.signed;
  const apply = node.apply?.sha256 === sha256 ? node.apply : null;
  const answeredAtMs = apply?.atMs ?? 0;
  if (apply?.success === false) return { state: 'failed', error: apply.error, answeredAtMs };
  const { interim } = node;
  const inPart =
    siteIds.length > 0 &&
    interim?.sha256 === sha256 &&
    !siteIds.some((id) => interim.waitingSiteIds.has(id));
  if (inPart && node.configHash !== sha256) {
    return { state: 'applied', error: '', answeredAtMs: interim.atMs };
  }
  if (node.configHash !== sha256) return { state: 'applying', error: '', answeredAtMs };
  return { state: 'applied', error: '', answeredAtMs };
}
