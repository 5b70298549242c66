/** What a controller knows of nodes that are connected to another one of the same store. */

import type { AgentRecord } from '../../domain/resource-records.ts';
import { agents } from '../../store/collections.ts';
import type { Controllers } from '../../store/shared/write-log.ts';
import type { ReadStore } from '../../store/store.ts';
import { unknownNode, type NodeState } from './node-registry.ts';

/**
 * Reads it from what the others noted; undefined for nodes that nobody noted, or this controller
 * did. A node whose controller is not heard of any more was seen when that one was, at the latest.
 */
export function nodesElsewhere(
  store: ReadStore,
  controllers: Controllers,
): (id: string) => NodeState | undefined {
  return (id) => {
    const agent = store.get(agents, id);
    const noted = agent?.noted;
    if (noted === undefined || noted.controller === controllers.ownId) return undefined;
    const heard = controllers.heard(noted.controller);
    const wasOnline = agent?.status !== 'AGENT_STATUS_OFFLINE';
    const isAlive = heard?.isAlive === true;
    return {
      ...unknownNode(id),
      version: agent?.version ?? '',
      connected: wasOnline && isAlive,
      lost: wasOnline && !isAlive,
      lastSeenMs: Math.max(notedMs(agent), wasOnline ? (heard?.atMs ?? 0) : 0),
      configHash: agent?.configHash ?? '',
      apply: noted.apply,
      fault: noted.fault,
    };
  };
}

function notedMs(agent: AgentRecord | undefined): number {
  return Date.parse(agent?.lastHeartbeat ?? '') || 0;
}
