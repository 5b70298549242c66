/** `waf agent`: nodes, what they serve, and the configurations that they were given. */

import type { ConfigBundleSummary, Node } from '../../../proto/gen/waf/v1/agent_pb.ts';
import type { ArgumentDefinition, CommandDefinition } from '../command.ts';
import { switchFlag, textFlag } from '../command.ts';
import type { Table } from '../output.ts';
import { callCommand, listCommand } from '../regular-commands.ts';
import { only, showMessage, timeText } from '../show.ts';

const nodeArgument: readonly ArgumentDefinition[] = [
  { name: '[node]', summary: 'id or name; default is the built-in node', resource: 'node' },
];
const idArgument = [{ name: '<id>', summary: 'configuration id' }];

const agentListCommand: CommandDefinition = {
  path: ['agent', 'list'],
  summary: 'List nodes, the built-in one first',
  flags: [
    { flags: '--query <text>', summary: 'part of an id or name' },
    { flags: '--status <status>', summary: 'local, connected, degraded or offline' },
    { flags: '--local', summary: 'only the built-in node' },
  ],
  run: async (context, _args, flags) => {
    const { agents } = await context.api();
    const response = await agents.listNodes({
      query: textFlag(flags, 'query') ?? '',
      status: textFlag(flags, 'status') ?? '',
      localOnly: switchFlag(flags, 'local'),
    });
    return showMessage(context, response, nodeTable(response.items));
  },
};

/** `waf agents`: the same, for those who look for the plural. */
export const agentsCommand: CommandDefinition = { ...agentListCommand, path: ['agents'] };

/** Commands on nodes. */
export const agentCommands: readonly CommandDefinition[] = [
  agentListCommand,
  callCommand({
    path: ['agent', 'state'],
    summary: 'Show the configuration of a node; exit code 1 until the node confirms it',
    arguments: nodeArgument,
    call: ({ agents }, [nodeId = 'local']) => agents.getNodeServingState({ nodeId }),
    table: (response) => ({
      columns: ['NODE', 'CONFIGURATION', 'ASSIGNED', 'CONFIRMED', 'SITES', 'SHA-256'],
      rows: [
        [
          response.nodeId,
          response.configRevisionId,
          response.assigned ? 'yes' : 'no',
          response.acknowledged ? 'yes' : 'no',
          String(response.siteIds.length),
          response.artifactSha256,
        ],
      ],
    }),
    after: (_context, response) => {
      return response.acknowledged ? 0 : 1;
    },
  }),
  callCommand({
    path: ['agent', 'capabilities'],
    summary: 'Show the capabilities of the current connection of a node',
    arguments: nodeArgument,
    call: ({ agents }, [nodeId = 'local']) => agents.getNodeCapabilities({ nodeId }),
    table: (response) => ({
      columns: ['NODE', 'KNOWN', 'ARTIFACT FORMAT', 'SHA-256'],
      rows: [
        [
          response.nodeId,
          response.known ? 'yes' : 'no',
          response.capabilities?.artifactFormat ?? '-',
          response.capabilitiesSha256,
        ],
      ],
    }),
  }),
  callCommand({
    path: ['agent', 'retry'],
    summary: 'Deliver the latest configuration to a node again',
    arguments: nodeArgument,
    call: ({ agents }, [nodeId = 'local']) => agents.retryNodeConfig({ nodeId }),
    table: (response, [nodeId = 'local']) => ({
      columns: ['NODE', 'CONFIGURATION'],
      rows: [[nodeId, `config-${response.result?.revision ?? 0n}`]],
    }),
  }),
  listCommand({
    path: ['agent', 'bundles'],
    summary: 'List the configurations that a node was given, newest first',
    arguments: nodeArgument,
    call: ({ agents }, { page }, [nodeId = 'local']) => agents.listConfigBundles({ nodeId, page }),
    table: bundleTable,
  }),
  callCommand({
    path: ['agent', 'bundle'],
    summary: 'Show one configuration; its content with --output json',
    arguments: idArgument,
    call: ({ agents }, [id = '']) => agents.getConfigBundle({ id }),
    table: ({ bundle }) => bundleTable(only(bundle)),
  }),
  {
    path: ['agent', 'events'],
    summary: 'Follow what happens to nodes until interrupted',
    help: 'One line an event; with --output json one object a line.',
    arguments: nodeArgument,
    run: async (context, [agentId = '']) => {
      const { AgentEventSchema } = await import('../../../proto/gen/waf/v1/agent_pb.ts');
      const { toJson } = await import('@bufbuild/protobuf');
      const { agents } = await context.api();
      for await (const { event } of agents.streamAgentEvents({ agentId }, { timeoutMs: 0 })) {
        if (event === undefined) continue;
        const line =
          context.output.format === 'json'
            ? JSON.stringify(toJson(AgentEventSchema, event))
            : `${timeText(event.createdAt)}  ${event.agentId}  ${event.kind}`;
        process.stdout.write(`${line}\n`);
      }
      return 0;
    },
  },
];

function nodeTable(nodes: readonly Node[]): Table {
  return {
    columns: ['ID', 'NAME', 'CONNECTION', 'PROXY', 'CONFIGURATION', 'APPLY', 'VERSION', 'ERROR'],
    rows: nodes.map((node) => [
      node.id,
      node.name,
      node.connectionStatus,
      node.proxyStatus,
      String(node.configRevision),
      node.applyResult,
      node.version,
      node.applyError,
    ]),
  };
}

function bundleTable(
  bundles: readonly Omit<ConfigBundleSummary, '$typeName' | '$unknown'>[],
): Table {
  return {
    columns: ['ID', 'EMITTED', 'DELIVERED', 'APPLIED', 'RESULT', 'ERROR'],
    rows: bundles.map((one) => [
      one.id,
      timeText(one.emittedAt),
      timeText(one.deliveredAt),
      timeText(one.appliedAt),
      one.applyResult,
      one.applyError,
    ]),
  };
}
