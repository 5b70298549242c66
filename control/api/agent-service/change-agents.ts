/** AgentService/UpdateAgent and DeleteAgent. */

import {
  AgentSchema,
  type AgentJson,
  type AgentService,
} from '../../../proto/gen/waf/v1/agent_pb.ts';
import { checkTags } from '../../domain/release/enrollment.ts';
import { invalidField, refusal } from '../../domain/errors.ts';
import { checkName } from '../../domain/names.ts';
import type { AgentRecord } from '../../domain/resource-records.ts';
import { applyMask } from '../../domain/update-mask.ts';
import { agentIdentities, enrollments } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import { toRecord } from '../convert.ts';
import type { Method } from '../method.ts';
import { nextUpdate } from '../unchanged.ts';
import { drop, keep } from '../resource/owned.ts';
import { agentKind, agentsOf, storedAgent } from './known-nodes.ts';
import { showAgent } from './show-node.ts';

/** Changes name and tags; everything else a node says itself. */
export function updateAgent(
  parts: Uses<'store' | 'clock' | 'nodes'>,
): Method<typeof AgentService, 'updateAgent'> {
  return async ({ agent, updateMask }, context) => {
    const caller = callerOf(context);
    if (agent === undefined) throw invalidField('agent', 'is required');
    const change = toRecord<AgentJson>(AgentSchema, agent);
    const stored = await parts.store.write((tx) => {
      const before = storedAgent(tx, caller, agent.id, 'agent.id');
      const masked = applyMask(before, change, updateMask, { name: true, tags: true });
      const name = checkName(masked.name, 'agent.name');
      const same = agentsOf(tx, caller).some(
        (other) => other.id !== before.id && other.name === name,
      );
      if (same) throw refusal('already_exists', 'agent.name: another node has it');
      const tags = checkTags(masked.tags ?? [], 'agent.tags');
      const updatedAt = nextUpdate(before, parts.clock);
      const after: AgentRecord = { ...before, name, tags, updatedAt };
      return keep(tx, caller, agentKind, before, after);
    });
    return { agent: showAgent(parts, stored) };
  };
}

/** Removes a node: its streams end at once, and nothing that it has proves it any more. */
export function deleteAgent(
  parts: Uses<'store' | 'clock' | 'nodes' | 'streams'>,
): Method<typeof AgentService, 'deleteAgent'> {
  return async ({ id }, context) => {
    const caller = callerOf(context);
    const deletedAt = new Date(parts.clock.nowMs()).toISOString();
    await parts.store.write((tx) => {
      const before = storedAgent(tx, caller, id, 'id');
      tx.remove(agentIdentities, id);
      // It stays counted by the tokens that enrolled it, and does not come back with them.
      for (const row of tx.find(enrollments, 'agent', id))
        tx.put(enrollments, { ...row, deletedAt });
      drop(tx, caller, agentKind, before);
    });
    parts.streams.end(id, 'the node was deleted');
    parts.nodes.remove(id);
    const { tenantId } = caller;
    const atMs = parts.clock.nowMs();
    parts.nodes.note({ nodeId: id, kind: 'deleted', atMs, payload: {}, tenantId });
    return { result: { id, changed: true } };
  };
}
