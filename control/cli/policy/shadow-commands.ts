/** `waf crs shadow`: a ruleset that inspects live traffic beside the one that decides. */

import type { ShadowRun } from '../../../proto/gen/waf/shadow/v1/shadow_pb.ts';
import { boundsOf } from '../../limits/field-bounds.ts';
import type { CommandContext, CommandDefinition, FlagDefinition, FlagValues } from '../command.ts';
import { textFlag } from '../command.ts';
import { readSeconds, wholeNumber } from '../input.ts';
import { nameArgument } from '../named-resource.ts';
import type { Table } from '../output.ts';
import { waitFor } from '../policy-progress.ts';
import { callCommand } from '../regular-commands.ts';
import { timeText } from '../show.ts';

const policyArgument = nameArgument('policy');
const shadowHelp =
  'Each request, or with --share that part of them, is inspected twice until the run ends: it\n' +
  'costs the CPU time of a second inspection. Nothing is blocked by the other ruleset. Answers and bodies past 64 KB are not\n' +
  'compared.';

/** Which part of the requests is inspected twice. */
export const shareFlag: FlagDefinition = {
  flags: '--share <percent>',
  summary: 'of the requests are inspected twice, drawn at random',
  default: '100',
};

/** Commands on shadow runs. */
export const shadowCommands: readonly CommandDefinition[] = [
  {
    path: ['crs', 'shadow-start'],
    summary: 'Compare another ruleset on live traffic of a policy; it blocks nothing',
    help: shadowHelp,
    arguments: [policyArgument, nameArgument('ruleset', 'id, or name such as crs-4.28.0')],
    flags: [{ flags: '--for <time>', summary: 'how long: 30m, 2h, 1d', default: '1h' }, shareFlag],
    published: true,
    run: async (context, [policyId = '', crsRulesetId = ''], flags) => {
      const durationSeconds = readSeconds(textFlag(flags, 'for') ?? '', '--for');
      const sharePercent = await readShare(flags);
      await startShadow(context, { policyId, crsRulesetId, durationSeconds, sharePercent });
      return 0;
    },
  },
  callCommand({
    path: ['crs', 'shadow'],
    summary: 'Show how the decisions of a policy and of the ruleset beside it compare',
    arguments: [policyArgument],
    call: ({ shadows }, [policyId = '']) => shadows.getShadowRun({ policyId }),
    table: ({ run }) => exampleTable(run),
    after: ({ output }, response) => {
      if (response.run !== undefined) output.line(summaryOf(response.run));
    },
  }),
  callCommand({
    path: ['crs', 'shadow-stop'],
    summary: 'End the comparison of a policy with another ruleset; its counts stay',
    arguments: [policyArgument],
    published: true,
    call: ({ shadows }, [policyId = '']) => shadows.stopShadowRun({ policyId }),
    table: ({ run }) => exampleTable(run),
    after: ({ output }, response) => {
      if (response.run !== undefined) output.line(summaryOf(response.run));
    },
  }),
];

/** The run that is wanted. */
export interface ShadowWish {
  readonly policyId: string;
  readonly crsRulesetId: string;
  readonly durationSeconds: number;
  readonly sharePercent: number;
}

/** The share that is named. Errors: AppError bad_flag. */
export async function readShare(flags: FlagValues): Promise<number> {
  const { StartShadowRunRequestSchema } =
    await import('../../../proto/gen/waf/shadow/v1/shadow_pb.ts');
  // 0 is the default of the service: nobody means it here.
  const { max } = boundsOf(StartShadowRunRequestSchema, 'sharePercent');
  return wholeNumber(textFlag(flags, 'share') ?? '', '--share', { min: 1, max });
}

/** Begins a run and says how to look at it. */
export async function startShadow(context: CommandContext, wanted: ShadowWish): Promise<void> {
  const { shadows } = await context.api();
  const { run } = await waitFor(context, 'Compiling rules', (options) =>
    shadows.startShadowRun(wanted, options),
  );
  const until = timeText(run?.endsAt);
  context.output.note(`Compared until ${until}: waf crs shadow ${wanted.policyId}`);
}

function exampleTable(run: ShadowRun | undefined): Table {
  return {
    columns: ['BLOCKED BY', 'METHOD', 'PATH', 'RULES', 'REQUEST'],
    rows: (run?.examples ?? []).map((one) => [
      one.onlyNew ? 'the other ruleset' : 'the policy',
      one.method,
      one.path,
      one.ruleIds.join(' '),
      one.requestId,
    ]),
  };
}

function summaryOf(run: ShadowRun): string {
  const { bothPassed, bothBlocked, onlyCurrent, onlyNew, notCompared, running, endsAt } = run;
  const { sharePercent, notSelected } = run;
  const left = sharePercent < 100 ? `, ${notSelected} not in the share of ${sharePercent} %` : '';
  const end = `${running ? 'runs until' : 'ended'} ${timeText(endsAt)}`;
  return (
    `${run.currentRulesetId} and ${run.crsRulesetId}: ${bothPassed} passed by both, ` +
    `${bothBlocked} blocked by both, ${onlyCurrent} blocked by the policy only, ` +
    `${onlyNew} by the other only, ${notCompared} not compared${left}; ${end}`
  );
}
