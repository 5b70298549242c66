/** `waf release apply|rollback|runs|run|watch|cancel`: releases on their way to nodes. */

import type { UpgradeRun } from '../../../proto/gen/waf/v1/system_pb.ts';
import { listFlag, type CommandDefinition, type FlagDefinition } from '../command.ts';
import type { Table } from '../output.ts';
import { notePage, pageFlags, readPage } from '../paging.ts';
import { printable, showMessage, timeText } from '../show.ts';

const runArgument = [{ name: '<run>', summary: 'id, as waf release runs shows it' }] as const;
const nodeFlag: FlagDefinition = {
  flags: '--node <node>',
  summary: 'only this node',
  repeatable: true,
  resource: 'node',
};

/** Commands on upgrade runs. */
export const releaseRunCommands: readonly CommandDefinition[] = [
  {
    path: ['release', 'apply'],
    summary: 'Roll an imported release out to nodes, in waves',
    help:
      'Goes to every node of its platform that does not run it, or to those named. A node that\n' +
      'fails stops the run; apply again for the nodes that are left. The controller and\n' +
      'its built-in node are never replaced. Watch it: waf release watch RUN',
    arguments: [{ name: '<release>', summary: 'id, for example release-1.2.3-linux-x64' }],
    flags: [nodeFlag],
    run: async (context, [releaseId = ''], flags) => {
      const { system } = await context.api();
      const agentIds = [...listFlag(flags, 'node')];
      const answer = await system.applyBinaryRelease({ releaseId, agentIds });
      await showMessage(context, answer, tableOf(answer.run));
      return 0;
    },
  },
  {
    path: ['release', 'rollback'],
    summary: 'Take nodes back to the program before their last upgrade',
    help: 'Every node that a run upgraded, or those named.',
    arguments: [],
    flags: [nodeFlag],
    run: async (context, _args, flags) => {
      const { system } = await context.api();
      const answer = await system.rollbackBinaryRelease({ agentIds: [...listFlag(flags, 'node')] });
      await showMessage(context, answer, tableOf(answer.run));
      return 0;
    },
  },
  {
    path: ['release', 'runs'],
    summary: 'List roll-outs, the newest first',
    help: '',
    arguments: [],
    flags: pageFlags,
    run: async (context, _args, flags) => {
      const { system } = await context.api();
      const answer = await system.listUpgradeRuns({ page: readPage(flags) });
      await showMessage(context, answer, tableOf(...answer.items));
      notePage(context.output, answer.items.length, answer.page?.total);
      return 0;
    },
  },
  {
    path: ['release', 'run'],
    summary: 'Show one roll-out',
    help: 'What happened to each node: waf release watch RUN',
    arguments: runArgument,
    flags: [],
    run: async (context, [id = '']) => {
      const answer = await (await context.api()).system.getUpgradeRun({ id });
      await showMessage(context, answer, tableOf(answer.run));
      return 0;
    },
  },
  {
    path: ['release', 'watch'],
    summary: 'Follow a roll-out from its start to its end',
    help: 'Ends with 1 for a run that failed or was canceled.',
    arguments: runArgument,
    flags: [],
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
  {
    path: ['release', 'cancel'],
    summary: 'End a roll-out; nodes that have their order finish it',
    help: '',
    arguments: runArgument,
    flags: [],
    run: async (context, [runId = '']) => {
      const answer = await (await context.api()).system.cancelUpgradeRun({ runId });
      await showMessage(context, answer, tableOf(answer.run));
      return 0;
    },
  },
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
