/** AgentGroupService. */

import {
  AgentGroupSchema,
  type AgentGroupJson,
  type AgentGroupService,
} from '../../../proto/gen/waf/v1/agent_group_pb.ts';
import { AgentSchema } from '../../../proto/gen/waf/v1/agent_pb.ts';
import { checkSelector, membersOf } from '../../domain/release/agent-groups.ts';
import { invalidField } from '../../domain/errors.ts';
import { agents } from '../../store/collections.ts';
import { callerOf, type Uses } from '../context.ts';
import { toMessage, toRecord } from '../convert.ts';
import type { Built } from '../method.ts';
import { ownedBy, stored } from '../resource/owned.ts';
import { serve } from '../resource/serve.ts';
import { groupKind } from './group.ts';

/** AgentGroupService. */
export function agentGroupService(parts: Uses<'store' | 'clock'>): Built<typeof AgentGroupService> {
  const { store } = parts;
  const { show, asked, list, get, create, update, remove } = serve(parts, groupKind);
  return {
    listAgentGroups: list,
    getAgentGroup: (request, context) => ({ group: get(request, context) }),
    createAgentGroup: async ({ group }, context) => ({
      group: show(await create(asked(group), context)),
    }),
    updateAgentGroup: async (request, context) => ({
      group: show(await update(asked(request.group), request, context)),
    }),
    deleteAgentGroup: remove,
    resolveAgentGroup: ({ id, group }, context) => {
      const caller = callerOf(context);
      if ((id === '') === (group === undefined)) {
        throw invalidField('id', 'give either id or group');
      }
      const selector =
        group === undefined
          ? (stored(store, caller, groupKind, id, 'id').selector ?? {})
          : checkSelector(toRecord<AgentGroupJson>(AgentGroupSchema, group));
      const members = membersOf(selector, ownedBy(store, caller, { collection: agents }));
      return {
        agents: members.map((agent) => toMessage(AgentSchema, agent)),
        agentIds: members.map((agent) => agent.id),
      };
    },
  };
}
