/** `waf agent-group`: groups of nodes by tag and by id. */

import type { AgentGroup } from '../../../proto/gen/waf/v1/agent_group_pb.ts';
import { againWhenChanged, readAt } from '../change-attempts.ts';
import type { CommandContext, CommandDefinition, FlagDefinition, FlagValues } from '../command.ts';
import { listFlag, textFlag } from '../command.ts';
import { changeList, listChangeFlags, listMode, noteChange } from '../list-change.ts';
import { nameArgument } from '../named-resource.ts';
import type { Table } from '../output.ts';
import { callCommand, deleteCommand, listCommand } from '../regular-commands.ts';
import { only, showMessage } from '../show.ts';

const idArgument = [nameArgument('agent-group')];
const selectorFlags: readonly FlagDefinition[] = [
  { flags: '--tag <tag>', summary: 'nodes that have every such tag; repeatable', repeatable: true },
  {
    flags: '--agent <node>',
    summary: 'this node; repeatable',
    repeatable: true,
    resource: 'node',
  },
];

/** Commands on groups of nodes. */
export const agentGroupCommands: readonly CommandDefinition[] = [
  listCommand({
    path: ['agent-group', 'list'],
    summary: 'List groups of nodes',
    query: 'part of a name',
    call: ({ agentGroups }, { page, query }) => agentGroups.listAgentGroups({ page, query }),
    table: groupTable,
  }),
  callCommand({
    path: ['agent-group', 'get'],
    summary: 'Show one group of nodes',
    arguments: idArgument,
    call: ({ agentGroups }, [id = '']) => agentGroups.getAgentGroup({ id }),
    table: ({ group }) => groupTable(only(group)),
  }),
  callCommand({
    path: ['agent-group', 'create'],
    summary: 'Create a group of nodes',
    help: 'Example: waf agent-group create --name edge --tag eu --tag edge',
    flags: [{ flags: '--name <name>', summary: 'name', required: true }, ...selectorFlags],
    call: ({ agentGroups }, _args, flags) => {
      const group = { name: textFlag(flags, 'name') ?? '', selector: selectorOf(flags) };
      return agentGroups.createAgentGroup({ group });
    },
    table: ({ group }) => groupTable(only(group)),
  }),
  {
    path: ['agent-group', 'update'],
    summary: 'Change a group of nodes; unspecified options are unchanged',
    help: 'Tags and nodes are added, unless --replace or --remove is given.',
    arguments: idArgument,
    flags: [{ flags: '--name <name>', summary: 'name' }, ...selectorFlags, ...listChangeFlags],
    run: async (context, [id = ''], flags) => {
      const { agentGroups } = await context.api();
      const response = await againWhenChanged(async () => {
        const { group: before } = await agentGroups.getAgentGroup({ id });
        const selector = changedSelector(context, before, flags);
        const group = { id, name: textFlag(flags, 'name') ?? before?.name ?? '', selector };
        const expectedUpdatedAt = readAt(before?.updatedAt);
        return agentGroups.updateAgentGroup({ group, expectedUpdatedAt });
      });
      return showMessage(context, response, groupTable(only(response.group)));
    },
  },
  deleteCommand({
    path: ['agent-group', 'delete'],
    summary: 'Remove a group; its nodes stay',
    arguments: idArgument,
    kind: 'group',
    call: ({ agentGroups }, id) => agentGroups.deleteAgentGroup({ id }),
  }),
  callCommand({
    path: ['agent-group', 'resolve'],
    summary: 'List the nodes of a group, saved or given by flags',
    help: 'Example: waf agent-group resolve --tag eu',
    arguments: [{ name: '[group]', summary: 'id or name', resource: 'agent-group' }],
    flags: selectorFlags,
    call: ({ agentGroups }, [id = ''], flags) =>
      agentGroups.resolveAgentGroup(
        id === '' ? { group: { selector: selectorOf(flags) } } : { id },
      ),
    table: ({ agents }) => ({
      columns: ['ID', 'NAME', 'TAGS'],
      rows: agents.map((one) => [one.id, one.name, one.tags.join(' ')]),
    }),
  }),
];

function selectorOf(flags: FlagValues) {
  return { matchTags: [...listFlag(flags, 'tag')], matchAgentIds: [...listFlag(flags, 'agent')] };
}

/** The selector with what the flags add, take away or put in its place. */
function changedSelector(
  { output }: CommandContext,
  before: AgentGroup | undefined,
  flags: FlagValues,
): ReturnType<typeof selectorOf> {
  const mode = listMode(flags);
  const { matchTags = [], matchAgentIds = [] } = before?.selector ?? {};
  const asked = selectorOf(flags);
  const after = {
    matchTags: changeList(mode, matchTags, asked.matchTags, '--tag'),
    matchAgentIds: changeList(mode, matchAgentIds, asked.matchAgentIds, '--agent'),
  };
  const all = (one: typeof after): string[] => [...one.matchTags, ...one.matchAgentIds];
  noteChange(output, 'taken away', all({ matchTags, matchAgentIds }), all(after));
  return after;
}

function groupTable(groups: readonly AgentGroup[]): Table {
  return {
    columns: ['ID', 'NAME', 'TAGS', 'NODES', 'MEMBERS'],
    rows: groups.map((group) => [
      group.id,
      group.name,
      (group.selector?.matchTags ?? []).join(' '),
      (group.selector?.matchAgentIds ?? []).join(' '),
      String(group.memberCount),
    ]),
  };
}
