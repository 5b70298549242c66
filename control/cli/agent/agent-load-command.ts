/** `waf agent load`: how busy a node was. */

import type { NodeMetricSample } from '../../../proto/gen/waf/v1/agent_pb.ts';
import type { CommandDefinition } from '../command.ts';
import type { Table } from '../output.ts';
import { readCount } from '../paging.ts';
import { lastHours, showMessage, timeText } from '../show.ts';

const mebibyte = 1024n * 1024n;

/** Commands on the load of nodes. */
export const agentLoadCommands: readonly CommandDefinition[] = [
  {
    path: ['agent', 'load'],
    summary: 'Show how busy a node was, oldest first',
    help:
      'Means of each step. CPU is in percent of all cores: of the machine, and of the engine.\n' +
      'INSPECTION is the share of its threads’ time; P99 that of one request, in milliseconds.\n' +
      'MEMORY is what the process of the engine holds.',
    arguments: [
      { name: '[node]', summary: 'id or name; default is the built-in node', resource: 'node' },
    ],
    flags: [
      { flags: '--hours <n>', summary: 'how far back', default: '1' },
      { flags: '--points <n>', summary: 'steps at most', default: '60' },
    ],
    run: async (context, [nodeId = 'local'], flags) => {
      const { start, end } = await lastHours(readCount(flags, 'hours', '--hours'));
      const { agents } = await context.api();
      const response = await agents.listNodeMetricSamples({
        nodeId,
        startTime: start,
        endTime: end,
        maxPoints: readCount(flags, 'points', '--points'),
      });
      await showMessage(context, response, loadTable(response.samples));
      if (response.samples.length === 0)
        context.output.note('the node reported nothing in that time');
      return 0;
    },
  },
];

function loadTable(samples: readonly NodeMetricSample[]): Table {
  return {
    columns: [
      ...['TIME', 'CPU %', 'ENGINE %', 'INSPECTION %', 'P99 MS', 'MEMORY MB', 'CONNECTIONS'],
      ...['REQUESTS/S', 'BLOCKED/S'],
    ],
    rows: samples.map(({ observedAt, metrics }) => [
      timeText(observedAt),
      String(metrics?.cpuPercent ?? 0),
      String(metrics?.wafAgentCpuPercent ?? 0),
      String(metrics?.wafEngineDemandPercent ?? 0),
      String(metrics?.wafPhaseP99Millis ?? 0),
      String((metrics?.memoryUsedBytes ?? 0n) / mebibyte),
      String(metrics?.activeConnections ?? 0),
      String(metrics?.requestsPerSecond ?? 0),
      String(metrics?.blockedPerSecond ?? 0),
    ]),
  };
}
