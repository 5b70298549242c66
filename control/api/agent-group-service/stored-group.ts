/** Owns what holds for every group of nodes that is kept. */

import type { Caller } from '../../auth/permissions.ts';
import { refusal } from '../../domain/errors.ts';
import type { AgentGroupRecord } from '../../domain/resource-records.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { agentGroups } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { actorNote } from '../context.ts';

/** Groups of the caller's tenant. */
export function groupsOf(store: ReadStore, caller: Caller): AgentGroupRecord[] {
  return store.list(agentGroups).filter((one) => one.tenantId === caller.tenantId);
}

/** Errors: resource_exhausted when there is no room for one more. */
export function refuseMoreGroups(store: ReadStore, caller: Caller): void {
  if (groupsOf(store, caller).length < resourceLimits.agentGroupsMax) return;
  throw refusal('resource_exhausted', 'there are too many groups: remove some first');
}

/** Errors: already_exists when another group of the tenant has the name. */
export function refuseSameGroupName(
  store: ReadStore,
  caller: Caller,
  group: AgentGroupRecord,
): void {
  const taken = groupsOf(store, caller).some(
    (other) => other.id !== group.id && other.name === group.name,
  );
  if (taken) throw refusal('already_exists', 'group.name: another group has it');
}

/** The audit note of a change of a group. */
export function groupNote(caller: Caller, group: AgentGroupRecord) {
  return {
    ...actorNote(caller),
    resourceType: 'agent_group',
    resourceId: group.id,
    resourceName: group.name,
  };
}
