/** Runs a replay to its end, with its progress on standard error. */

import { counted } from '../../../base/counted.ts';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type {
  ReplayDifference,
  ReplayPlan,
  ReplayRebuilt,
  ReplaySummary,
  RunReplayRequestSchema,
} from '../../../proto/gen/waf/replay/v1/replay_pb.ts';
import { AppError } from '../../../base/errors.ts';
import { commandLineLimits } from '../../limits/command-limits.ts';
import type { ApiClient } from '../api-client.ts';
import type { Output } from '../output.ts';

/** What a run found. */
export interface ReplayResult {
  readonly plan: ReplayPlan;
  readonly differences: readonly ReplayDifference[];
  readonly summary: ReplaySummary;
  /** The request of the event that was asked for, made anew. */
  readonly rebuilt?: ReplayRebuilt | undefined;
}

/** Errors: of the call; AppError replay_incomplete for one that ends early. */
export async function replay(
  { replay: service }: ApiClient,
  output: Output,
  request: MessageInitShape<typeof RunReplayRequestSchema>,
): Promise<ReplayResult> {
  let plan: ReplayPlan | undefined;
  let summary: ReplaySummary | undefined;
  let rebuilt: ReplayRebuilt | undefined;
  const differences: ReplayDifference[] = [];
  let noticeMs = performance.now() + commandLineLimits.callNoticeMs;
  const options = { timeoutMs: commandLineLimits.replayTimeoutMs };
  for await (const { message } of service.runReplay(request, options)) {
    if (message.case === 'plan') plan = message.value;
    if (message.case === 'difference') differences.push(message.value);
    if (message.case === 'summary') summary = message.value;
    if (message.case === 'rebuilt') rebuilt = message.value;
    if (message.case !== 'progress' || performance.now() < noticeMs) continue;
    noticeMs = performance.now() + commandLineLimits.callNoticeMs;
    output.note(`Trying requests: ${message.value.done} of ${message.value.total}`);
  }
  if (plan !== undefined && summary !== undefined) {
    return { plan, differences, summary, rebuilt };
  }
  throw new AppError('replay_incomplete', 'the replay ended early; try again', {
    source: 'internal',
  });
}

/** What a run compared, in sentences. */
export function describeReplay({ plan, summary }: ReplayResult): string[] {
  const some = plan.sample === 'sample' ? `a sample of ${plan.chosen} of ` : '';
  const older = plan.moreRetained ? ' Older requests were not looked at.' : '';
  const skipped = summary.skipped.map(({ reason, count }) => `${count} ${reason}`).join(', ');
  const left = skipped === '' ? '' : ` Not tried: ${skipped}.`;
  const way = wayOn(summary);
  return [
    `Tried ${counted(summary.replayed, 'request')}, ${some}${plan.found} retained.${left}${older}`,
    `Newly blocked: ${summary.newlyBlocked}. Newly passed: ${summary.newlyPassed}.`,
    ...(way === null ? [] : [way]),
  ];
}

/** What lets more of the next requests be tried; null where nothing does. */
function wayOn({ skipped }: ReplaySummary): string | null {
  const reasons = new Set(skipped.map(({ reason }) => reason));
  if (reasons.has('body_cut')) {
    return (
      'Bodies of these requests are not kept whole. To keep those to come (they may hold secrets): ' +
      'waf log policy-set --evidence-body prefix --evidence-body-bytes 65536'
    );
  }
  if (!reasons.has('headers_cut')) return null;
  return 'Header fields are not kept whole. To keep more: waf log policy-set --evidence-header-bytes 65536';
}
