/** `waf release apply|rollback|runs|run|watch|cancel`: releases on their way to nodes. */

import type { UpgradeRun } from '../../../proto/gen/waf/v1/system_pb.ts';
import { listFlag, type CommandDefinition, type FlagDefinition } from '../command.ts';
import type { Table } from '../output.ts';
import { callCommand, listCommand } from '../regular-commands.ts';
import { printable, timeText } from '../show.ts';

const runArgument = [{ name: '<run>', summary: 'id, as waf release runs shows it' }] as const;
const nodeFlag: FlagDefinition = {
  flags: '--node <node>',
  summary: 'only this node',
  repeatable: true,
  resource: 'node',
};

/** Commands on upgrade runs. */
export const releaseRunCommands: readonly CommandDefinition[] = [
  callCommand({
    path: ['release', 'apply'],
    summary: 'Roll an imported release out to nodes, in waves',
    help:
      'Goes to every node of its platform that does not run it, or to those named. A node that\n' +
      'fails stops the run; apply again for the nodes that are left. The controller and\n' +
      'its built-in node are never replaced. Watch it: waf release watch RUN',
    arguments: [{ name: '<release>', summary: 'id, for example release-1.2.3-linux-x64' }],
    flags: [nodeFlag],
    call: ({ system }, [releaseId = ''], flags) => {
      const agentIds = [...listFlag(flags, 'node')];
      return system.applyBinaryRelease({ releaseId, agentIds });
    },
    table: ({ run }) => tableOf(run),
  }),
  callCommand({
    path: ['release', 'rollback'],
    summary: 'Take nodes back to the program before their last upgrade',
    help: 'Every node that a run upgraded, or those named.',
    flags: [nodeFlag],
    call: ({ system }, _args, flags) =>
      system.rollbackBinaryRelease({ agentIds: [...listFlag(flags, 'node')] }),
    table: ({ run }) => tableOf(run),
  }),
  listCommand({
    path: ['release', 'runs'],
    summary: 'List roll-outs, the newest first',
    call: ({ system }, { page }) => system.listUpgradeRuns({ page }),
    table: (items: readonly UpgradeRun[]) => tableOf(...items),
  }),
  callCommand({
    path: ['release', 'run'],
    summary: 'Show one roll-out',
    help: 'What happened to each node: waf release watch RUN',
    arguments: runArgument,
    call: ({ system }, [id = '']) => system.getUpgradeRun({ id }),
    table: ({ run }) => tableOf(run),
  }),
  {
    path: ['release', 'watch'],
    summary: 'Follow a roll-out from its start to its end',
    help: 'Ends with 1 for a run that failed or was canceled.',
    arguments: runArgument,
    run: async (context, [runId = '']) => {
      const { UpgradeRunEventKind: kinds } = await import('../../../proto/gen/waf/v1/system_pb.ts');
      const { system } = await context.api();
      // A roll-out may take hours: no deadline ends the stream.
      let last: number = kinds.UNSPECIFIED;
      for await (const { event } of system.streamUpgradeRun({ runId }, { timeoutMs: 0 })) {
        if (event === undefined) continue;
        last = event.kind;
        const named = Object.entries(kinds).find(([, value]) => value === event.kind);
        const kind = (named?.[0] ?? '').toLowerCase().replaceAll('_', ' ');
        const facts = Object.entries(event.payload ?? {}).map(
          ([name, value]) => `${name}=${printable(JSON.stringify(value))}`,
        );
        context.output.line([timeText(event.occurredAt), kind, ...facts].join(' '));
      }
      return last === kinds.RUN_SUCCEEDED ? 0 : 1;
    },
  },
  callCommand({
    path: ['release', 'cancel'],
    summary: 'End a roll-out; nodes that have their order finish it',
    arguments: runArgument,
    call: ({ system }, [runId = '']) => system.cancelUpgradeRun({ runId }),
    table: ({ run }) => tableOf(run),
  }),
];

const statuses = ['-', 'pending', 'running', 'succeeded', 'failed', 'canceled'];

function tableOf(...runs: readonly (UpgradeRun | undefined)[]): Table {
  return {
    columns: ['ID', 'VERSION', 'STATUS', 'STARTED', 'FINISHED'],
    rows: runs
      .filter((run) => run !== undefined)
      .map((run) => [
        printable(run.id),
        run.targetVersion === '' ? 'previous' : printable(run.targetVersion),
        statuses[run.status] ?? '-',
        timeText(run.startedAt),
        timeText(run.finishedAt),
      ]),
  };
}
