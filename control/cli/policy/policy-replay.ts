/** `waf policy replay`: what a draft would do to requests that are retained. */

import type { ReplayDifference } from '../../../proto/gen/waf/replay/v1/replay_pb.ts';
import { PolicySchema } from '../../../proto/gen/waf/v1/policy_pb.ts';
import { boundsOf } from '../../limits/field-bounds.ts';
import type { CommandDefinition } from '../command.ts';
import { textFlag } from '../command.ts';
import { badFlag, readInputObject, wholeNumber } from '../input.ts';
import { nameArgument } from '../named-resource.ts';
import { readTimeRange } from '../log/log-flags.ts';
import { describeReplay, replay } from './replay-run.ts';
import { printable, readMessage, timeText } from '../show.ts';

/** The command. */
export const policyReplayCommand: CommandDefinition = {
  path: ['policy', 'replay'],
  summary: 'Try retained requests against a draft of a policy; nothing is changed',
  help:
    'Examples: waf policy replay Standard --draft Strict --since 1440\n' +
    '          waf policy replay Standard --file draft.yaml --site shop --sample 1000\n' +
    'Shows which requests would newly be blocked or passed, and by which rules. What is retained\n' +
    'of requests says the log policy: waf log policy.',
  arguments: [nameArgument('policy')],
  flags: [
    { flags: '--draft <policy>', summary: 'compare with this policy', resource: 'policy' },
    { flags: '--file <file>', summary: 'settings of the draft; - reads standard input' },
    { flags: '--site <site>', summary: 'only requests to this site', resource: 'site' },
    { flags: '--since <minutes>', summary: 'only the last minutes; 1440 unless given' },
    { flags: '--sample <n>', summary: 'try at most this number, drawn evenly' },
  ],
  run: async (context, [policyId = ''], flags) => {
    const { output } = context;
    const draftPolicyId = textFlag(flags, 'draft') ?? '';
    const file = textFlag(flags, 'file');
    if (draftPolicyId === '' && file === undefined) throw badFlag('give --draft or --file');
    const candidate =
      file === undefined
        ? {}
        : { candidate: await readMessage(PolicySchema, readInputObject(file), file) };
    const result = await replay(await context.api(), output, {
      policyId,
      draftPolicyId,
      siteId: textFlag(flags, 'site') ?? '',
      sampleMax: await readSample(textFlag(flags, 'sample')),
      ...(await readTimeRange(textFlag(flags, 'since'))),
      ...candidate,
    });
    const { ReplayDifferenceSchema, ReplayPlanSchema, ReplaySummarySchema } =
      await import('../../../proto/gen/waf/replay/v1/replay_pb.ts');
    const { toJson } = await import('@bufbuild/protobuf');
    const value = {
      plan: toJson(ReplayPlanSchema, result.plan),
      differences: result.differences.map((one) => toJson(ReplayDifferenceSchema, one)),
      summary: toJson(ReplaySummarySchema, result.summary),
    };
    output.result(value, {
      columns: ['TIME', 'CHANGE', 'REQUEST', 'RULES', 'REQUEST ID'],
      rows: result.differences.map(differenceRow),
    });
    for (const line of describeReplay(result)) output.line(line);
    const { differencesLeftOut: more } = result.summary;
    if (more > 0n) output.note(`${more} more differences are counted, but not shown.`);
    return 0;
  },
};

/** One row of a table of differences. */
export function differenceRow(one: ReplayDifference): string[] {
  return [
    timeText(one.startedAt),
    one.after?.blocked === true ? 'newly blocked' : 'newly passed',
    printable(`${one.method} ${one.host}${one.path}`),
    one.ruleIds.join(' '),
    printable(one.requestId),
  ];
}

/** Errors: AppError bad_flag. */
async function readSample(text: string | undefined): Promise<number> {
  if (text === undefined) return 0;
  const { RunReplayRequestSchema } = await import('../../../proto/gen/waf/replay/v1/replay_pb.ts');
  const { max } = boundsOf(RunReplayRequestSchema, 'sampleMax');
  return wholeNumber(text, '--sample', { min: 1, max });
}
