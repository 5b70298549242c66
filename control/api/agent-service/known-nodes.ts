/** Owns which nodes there are: the built-in one, and those that are enrolled. */

import type { Caller } from '../../auth/permissions.ts';
import { notFound } from '../../domain/errors.ts';
import type { AgentRecord } from '../../domain/resource-records.ts';
import { agents } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import type { ApiParts } from '../context.ts';
import { requireText } from '../convert.ts';
import type { NodeState } from '../nodes/node-registry.ts';

/** Id of the built-in node. */
export const localNodeId = 'local';

/** Enrolled nodes of the caller's tenant, by name. */
export function agentsOf(store: ReadStore, caller: Caller): AgentRecord[] {
  return store
    .list(agents)
    .filter((agent) => agent.tenantId === caller.tenantId)
    .sort((left, right) => left.name.localeCompare(right.name, 'en'));
}

/** An enrolled node. Errors: invalid_argument at `field`, not_found. */
export function storedAgent(
  store: ReadStore,
  caller: Caller,
  id: string,
  field: string,
): AgentRecord {
  const agent = store.get(agents, requireText(id, field));
  if (agent === undefined || agent.tenantId !== caller.tenantId) throw notFound('agent', id);
  return agent;
}

/**
 * What is known of a node that exists; undefined when it never connected. Errors: invalid_argument
 * at `field`, not_found.
 */
export function requireNode(
  parts: ApiParts,
  caller: Caller,
  id: string,
  field: string,
): NodeState | undefined {
  if (requireText(id, field) !== localNodeId) {
    const agent = parts.store.get(agents, id);
    if (agent === undefined || agent.tenantId !== caller.tenantId) throw notFound('node', id);
  }
  return parts.nodes.get(id);
}

/** When a node was seen last, RFC 3339, also before control began; '' for never. */
export function lastSeenAt(state: NodeState | undefined, agent?: AgentRecord): string {
  if (state !== undefined && state.lastSeenMs > 0) return new Date(state.lastSeenMs).toISOString();
  return agent?.lastHeartbeat ?? '';
}
