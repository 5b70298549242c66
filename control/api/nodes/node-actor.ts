/** How the audit trail names what a node did by itself, and what was done to it. */

import type { AuditNote } from '../../store/audit-chain.ts';
import type { AgentRecord } from '../../domain/resource-records.ts';

/** The node as actor and as resource of a row. */
export function nodeActor(agent: AgentRecord): Omit<AuditNote, 'action'> {
  return {
    actorId: agent.id,
    actorName: `node ${agent.name}`,
    tenantId: agent.tenantId,
    resourceType: 'agent',
    resourceId: agent.id,
    resourceName: agent.name,
  };
}
