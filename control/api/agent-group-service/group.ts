/** Groups of nodes, by tag and by id; an update replaces the whole group. */

import { AgentGroupSchema, type AgentGroupJson } from '../../../proto/gen/waf/v1/agent_group_pb.ts';
import { checkSelector, membersOf } from '../../domain/release/agent-groups.ts';
import { refusal } from '../../domain/errors.ts';
import { checkName } from '../../domain/names.ts';
import type { AgentGroupRecord } from '../../domain/resource-records.ts';
import { resourceLimits } from '../../limits/resource-limits.ts';
import { groupSpec, readGroupSpec } from '../../publish/manifests/manifest-accounts.ts';
import { agentGroups, agents } from '../../store/collections.ts';
import { toMessage } from '../convert.ts';
import { ownedBy } from '../resource/owned.ts';
import type { Resource } from '../resource/resource.ts';

/** Groups of nodes, shown with the present number of their members. */
export const groupKind: Resource<typeof AgentGroupSchema, AgentGroupJson, AgentGroupRecord> = {
  schema: AgentGroupSchema,
  collection: agentGroups,
  noun: 'agent group',
  audit: 'agent_group',
  field: 'group',
  prefix: 'group',
  nameOf: ({ name }) => name,
  show: (store, tenantId) => {
    const known = ownedBy(store, { tenantId }, { collection: agents });
    return (group) => {
      const memberCount = membersOf(group.selector ?? {}, known).length;
      return toMessage(AgentGroupSchema, { ...group, memberCount });
    };
  },
  settle: (_change, asked, _before, base) => ({
    record: { ...base, name: checkName(asked.name, 'group.name'), selector: checkSelector(asked) },
  }),
  refuseMore: (store, caller) => {
    if (ownedBy(store, caller, groupKind).length < resourceLimits.agentGroupsMax) return;
    throw refusal('resource_exhausted', 'there are too many groups: remove some first');
  },
  taken: 'group.name: another group has it',
  document: {
    reference: 'agent group',
    permission: 'agent_group:write',
    read: readGroupSpec,
    spec: groupSpec,
  },
};
