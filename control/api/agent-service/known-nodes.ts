/** Which nodes there are: the built-in one, and those that are enrolled. */

import type { Caller } from '../../auth/permissions.ts';
import type { AgentRecord } from '../../domain/resource-records.ts';
import { agents } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import type { Uses } from '../context.ts';
import { finderOf, listed, ours, stored, type Owned } from '../resource/owned.ts';
import type { NodeState } from '../nodes/node-registry.ts';

/** Id of the built-in node. */
export const localNodeId = 'local';

/** Enrolled nodes. */
export const agentKind: Owned<AgentRecord> = {
  collection: agents,
  noun: 'agent',
  audit: 'agent',
  nameOf: ({ name }) => name,
};

/** Enrolled nodes of the caller's tenant, by name. */
export function agentsOf(store: ReadStore, caller: Caller): AgentRecord[] {
  return listed(store, caller, agentKind);
}

/** An enrolled node. Errors: invalid_argument at `field`, not_found. */
export const storedAgent = finderOf(agentKind);

/** Whether a node serves the caller's tenant: the built-in one serves all. */
export function isNodeOf(store: ReadStore, caller: Caller, id: string): boolean {
  return id === localNodeId || ours(store.get(agents, id), caller) !== undefined;
}

/**
 * What is known of a node that exists; undefined when it never connected. Errors: invalid_argument
 * at `field`, not_found.
 */
export function requireNode(
  parts: Uses<'store' | 'nodes'>,
  caller: Caller,
  id: string,
  field: string,
): NodeState | undefined {
  if (id !== localNodeId) stored(parts.store, caller, { ...agentKind, noun: 'node' }, id, field);
  return parts.nodes.get(id);
}

/** When a node was seen last, RFC 3339, also before control began; '' for never. */
export function lastSeenAt(state: NodeState | undefined, agent?: AgentRecord): string {
  if (state !== undefined && state.lastSeenMs > 0) return new Date(state.lastSeenMs).toISOString();
  return agent?.lastHeartbeat ?? '';
}
