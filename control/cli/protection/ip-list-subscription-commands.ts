/** `waf ip-list subscribe` and what belongs to it: lists that a URL fills. */

import {
  IpListSourceInputSchema,
  ListIpListSyncRunsResponseSchema,
  type IpListSyncRun,
} from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import type { CommandContext, CommandDefinition } from '../command.ts';
import { listFlag, switchFlag, textFlag } from '../command.ts';
import { wordsOf } from '../field-flags.ts';
import { badFlag, readPairs } from '../input.ts';
import { nameArgument } from '../named-resource.ts';
import { showOne } from './ip-list-commands.ts';
import { showMessage, timeText } from '../show.ts';

const idArgument = [nameArgument('ip-list')];
/** Commands on subscriptions. */
export const ipListSubscriptionCommands: readonly CommandDefinition[] = [
  {
    path: ['ip-list', 'subscribe'],
    summary: 'Create an IP list that a URL fills',
    help: 'Example: waf ip-list subscribe --name drop --url https://feeds.example/drop.txt',
    flags: [
      { flags: '--name <name>', summary: 'name for people', required: true },
      { flags: '--url <url>', summary: 'where it is fetched', required: true },
      {
        flags: '--format <format>',
        summary: 'form of the content',
        choices: wordsOf(IpListSourceInputSchema, 'format'),
        default: 'text_v1',
      },
      { flags: '--json-path <path>', summary: 'JSONPath; repeatable', repeatable: true },
      { flags: '--interval <seconds>', summary: 'time between fetches; default 3600' },
      { flags: '--header <name=value>', summary: 'secret header; repeatable', repeatable: true },
    ],
    run: async (context, _args, flags) => {
      const interval = textFlag(flags, 'interval');
      if (interval !== undefined && !/^\d{1,8}$/.test(interval)) {
        throw badFlag('--interval wants a whole number of seconds');
      }
      const { ipLists } = await context.api();
      const { ipList, syncRun } = await ipLists.createIpListSubscription({
        name: textFlag(flags, 'name') ?? '',
        syncNow: true,
        source: {
          url: textFlag(flags, 'url') ?? '',
          format: textFlag(flags, 'format') ?? '',
          jsonPaths: [...listFlag(flags, 'jsonPath')],
          ...(interval === undefined ? {} : { interval: { seconds: BigInt(interval), nanos: 0 } }),
          headers: Object.entries(readPairs(listFlag(flags, 'header'), '--header')).map(
            ([name, value]) => ({ name, change: { case: 'replaceSecret', value } as const }),
          ),
        },
      });
      await showOne(context, ipList);
      return noteRun(context, syncRun);
    },
  },
  {
    path: ['ip-list', 'sync'],
    summary: 'Fetch a subscription now',
    arguments: idArgument,
    run: async (context, [id = '']) => {
      const { syncRun } = await (await context.api()).ipLists.syncIpListNow({ id });
      await showRuns(context, syncRun === undefined ? [] : [syncRun]);
      return noteRun(context, syncRun);
    },
  },
  {
    path: ['ip-list', 'runs'],
    summary: 'Show the fetches of a subscription',
    arguments: idArgument,
    run: async (context, [id = '']) => {
      const { items } = await (await context.api()).ipLists.listIpListSyncRuns({ id });
      await showRuns(context, items);
      return 0;
    },
  },
  {
    path: ['ip-list', 'pause'],
    summary: 'Stop fetching a subscription',
    arguments: idArgument,
    run: async (context, [id = '']) =>
      showOne(context, (await (await context.api()).ipLists.pauseIpListSync({ id })).ipList),
  },
  {
    path: ['ip-list', 'resume'],
    summary: 'Fetch a subscription again',
    arguments: idArgument,
    flags: [{ flags: '--now', summary: 'at once' }],
    run: async (context, [id = ''], flags) => {
      const { ipLists } = await context.api();
      const syncNow = switchFlag(flags, 'now');
      const { ipList, syncRun } = await ipLists.resumeIpListSync({ id, syncNow });
      await showOne(context, ipList);
      return noteRun(context, syncRun);
    },
  },
  {
    path: ['ip-list', 'held'],
    summary: 'Accept or discard an update that waits',
    help: 'See what it would change: waf ip-list get ID --output json',
    arguments: idArgument,
    flags: [
      { flags: '--accept', summary: 'apply it' },
      { flags: '--discard', summary: 'delete it' },
    ],
    run: async (context, [id = ''], flags) => {
      const { ipLists } = await context.api();
      const accept = switchFlag(flags, 'accept');
      if (accept === switchFlag(flags, 'discard')) throw badFlag('give --accept or --discard');
      if (!accept) return showOne(context, (await ipLists.discardHeldIpListUpdate({ id })).ipList);
      const { syncRun } = await ipLists.acceptHeldIpListUpdate({ id });
      await showRuns(context, syncRun === undefined ? [] : [syncRun]);
      return 0;
    },
  },
];

async function showRuns(context: CommandContext, runs: readonly IpListSyncRun[]): Promise<void> {
  const { create } = await import('@bufbuild/protobuf');
  const response = create(ListIpListSyncRunsResponseSchema, { items: [...runs] });
  await showMessage(context, response, {
    columns: ['STARTED', 'TRIGGER', 'STATUS', 'RESULT', 'ENTRIES', 'ADDED', 'REMOVED', 'WHY'],
    rows: runs.map((run) => [
      timeText(run.startedAt),
      run.trigger,
      run.status,
      run.resultCode,
      String(run.entryCount),
      String(run.addedCount),
      String(run.removedCount),
      run.error,
    ]),
  });
}

/** A fetch that failed or waits is said on standard error, and by the exit code when it failed. */
function noteRun({ output }: CommandContext, run: IpListSyncRun | undefined): number {
  if (run === undefined || run.error === '') return 0;
  output.note(`${run.status}: ${run.error}`);
  return run.status === 'failed' ? 1 : 0;
}
