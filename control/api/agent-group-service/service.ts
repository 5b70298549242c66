/** Owns AgentGroupService: groups of nodes by tag and by id; an update replaces the whole group. */

import { randomUUID } from 'node:crypto';
import {
  AgentGroupSchema,
  type AgentGroup,
  type AgentGroupJson,
  type AgentGroupService,
} from '../../../proto/gen/waf/v1/agent_group_pb.ts';
import { AgentSchema } from '../../../proto/gen/waf/v1/agent_pb.ts';
import type { Caller } from '../../auth/permissions.ts';
import { checkGroupName, checkSelector, membersOf } from '../../domain/release/agent-groups.ts';
import { invalidField, notFound } from '../../domain/errors.ts';
import type { AgentGroupRecord, AgentRecord } from '../../domain/resource-records.ts';
import { agentGroups, agents } from '../../store/collections.ts';
import type { ReadStore } from '../../store/store.ts';
import { callerOf, type ApiParts } from '../context.ts';
import { fitsQuery, isoNow, pageOf, requireText, toMessage, toRecord } from '../convert.ts';
import type { Built } from '../method.ts';
import { nextUpdate, requireUnchanged } from '../unchanged.ts';
import { groupNote, groupsOf, refuseMoreGroups, refuseSameGroupName } from './stored-group.ts';

type Methods = Required<Built<typeof AgentGroupService>>;

/** AgentGroupService. */
export function agentGroupService(parts: ApiParts): Built<typeof AgentGroupService> {
  const { store } = parts;
  return {
    listAgentGroups: ({ page: asked, query }, context) => {
      const caller = callerOf(context);
      const found = groupsOf(store, caller)
        .filter((group) => fitsQuery(query, group.name))
        .sort((left, right) => left.name.localeCompare(right.name, 'en'));
      const { items, page } = pageOf(found, asked);
      const known = agentsOf(store, caller);
      return { items: items.map((group) => show(group, known)), page };
    },
    getAgentGroup: ({ id }, context) => {
      const caller = callerOf(context);
      return { group: show(storedGroup(store, caller, id, 'id'), agentsOf(store, caller)) };
    },
    createAgentGroup: createGroup(parts),
    updateAgentGroup: updateGroup(parts),
    deleteAgentGroup: async ({ id }, context) => {
      const caller = callerOf(context);
      await store.write((tx) => {
        const before = storedGroup(tx, caller, id, 'id');
        tx.remove(agentGroups, before.id);
        tx.audit({ ...groupNote(caller, before), action: 'delete', before });
      });
      return { result: { id, changed: true } };
    },
    resolveAgentGroup: ({ id, group }, context) => {
      const caller = callerOf(context);
      if ((id === '') === (group === undefined)) {
        throw invalidField('id', 'give either id or group');
      }
      const selector =
        group === undefined
          ? (storedGroup(store, caller, id, 'id').selector ?? {})
          : checkSelector(toRecord<AgentGroupJson>(AgentGroupSchema, group));
      const members = membersOf(selector, agentsOf(store, caller));
      return {
        agents: members.map((agent) => toMessage(AgentSchema, agent)),
        agentIds: members.map((agent) => agent.id),
      };
    },
  };
}

function createGroup(parts: ApiParts): Methods['createAgentGroup'] {
  return async (request, context) => {
    const caller = callerOf(context);
    if (request.group === undefined) throw invalidField('group', 'is required');
    const asked = toRecord<AgentGroupJson>(AgentGroupSchema, request.group);
    const now = isoNow(parts.clock);
    const record: AgentGroupRecord = {
      id: `group-${randomUUID()}`,
      tenantId: caller.tenantId,
      name: checkGroupName(asked),
      selector: checkSelector(asked),
      createdAt: now,
      updatedAt: now,
    };
    await parts.store.write((tx) => {
      refuseMoreGroups(tx, caller);
      refuseSameGroupName(tx, caller, record);
      tx.put(agentGroups, record);
      tx.audit({ ...groupNote(caller, record), action: 'create', after: record });
    });
    return { group: show(record, agentsOf(parts.store, caller)) };
  };
}

function updateGroup(parts: ApiParts): Methods['updateAgentGroup'] {
  return async (request, context) => {
    const caller = callerOf(context);
    if (request.group === undefined) throw invalidField('group', 'is required');
    const asked = toRecord<AgentGroupJson>(AgentGroupSchema, request.group);
    const stored = await parts.store.write((tx) => {
      const before = storedGroup(tx, caller, asked.id ?? '', 'group.id');
      requireUnchanged(request.expectedUpdatedAt, before);
      const after: AgentGroupRecord = {
        ...before,
        name: checkGroupName(asked),
        selector: checkSelector(asked),
        updatedAt: nextUpdate(before, parts.clock),
      };
      refuseSameGroupName(tx, caller, after);
      tx.put(agentGroups, after);
      tx.audit({ ...groupNote(caller, after), action: 'update', before, after });
      return after;
    });
    return { group: show(stored, agentsOf(parts.store, caller)) };
  };
}

/** A group with the present number of its members. */
function show(group: AgentGroupRecord, known: readonly AgentRecord[]): AgentGroup {
  const memberCount = membersOf(group.selector ?? {}, known).length;
  return toMessage(AgentGroupSchema, { ...group, memberCount });
}

function storedGroup(store: ReadStore, caller: Caller, id: string, field: string) {
  const group = store.get(agentGroups, requireText(id, field));
  if (group === undefined || group.tenantId !== caller.tenantId) throw notFound('agent group', id);
  return group;
}

function agentsOf(store: ReadStore, caller: Caller): AgentRecord[] {
  return store.list(agents).filter((one) => one.tenantId === caller.tenantId);
}
