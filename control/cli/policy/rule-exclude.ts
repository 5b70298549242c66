/** `waf rule exclude`: the exclusions that would have let a request through, and adding one. */

import type { ReplayRebuilt } from '../../../proto/gen/waf/replay/v1/replay_pb.ts';
import type {
  GetSecurityEventResponse,
  SuggestedExclusion,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import { AppError } from '../../../base/errors.ts';
import type { ApiClient } from '../api-client.ts';
import { switchFlag, textFlag, type CommandDefinition } from '../command.ts';
import { findEventOfRequest } from '../log/found-event.ts';
import { badFlag } from '../input.ts';
import { showExclusions } from '../log/log-explain.ts';
import type { Output, Table } from '../output.ts';
import { differenceRow } from './policy-replay.ts';
import { describeReplay, replay, type ReplayResult } from './replay-run.ts';
import { printable } from '../show.ts';
import { withNames } from '../shown-names.ts';

/** Other requests that are listed. */
const othersShown = 10;

/** The command. */
export const ruleExcludeCommand: CommandDefinition = {
  path: ['rule', 'exclude'],
  summary: 'Show exclusions that let a blocked request through, and add one',
  help:
    'Examples: waf rule exclude --from 3f0c…\n' +
    '          waf rule exclude --from 3f0c… --choose 2 --apply\n' +
    'The first exclusion is the narrowest. What a rule leaves out already stays.',
  flags: [
    { flags: '--from <request>', summary: 'id of the request that was blocked', required: true },
    { flags: '--choose <n>', summary: 'number of the exclusion; 1 unless given' },
    { flags: '--apply', summary: 'add it; without this flag nothing is changed' },
  ],
  published: true,
  run: async (context, _args, flags) => {
    const { output } = context;
    const api = await context.api();
    const from = textFlag(flags, 'from') ?? '';
    const { response } = await findEventOfRequest(api, output, from);
    const exclusions = response.explanation?.exclusions ?? [];
    showExclusions(output, response.explanation);
    if (exclusions.length === 0) {
      const message =
        'no exclusion of a rule would have let this request through: see the lines above';
      throw new AppError('nothing_to_exclude', message, { source: 'client' });
    }
    const chosen = choose(exclusions, textFlag(flags, 'choose') ?? '1');
    const { BulkUpsertRuleOverridesResponseSchema, ListChange } =
      await import('../../../proto/gen/waf/v1/rule_override_pb.ts');
    const { create, toJson } = await import('@bufbuild/protobuf');
    const tried = await tryExclusion(api, output, response, chosen);
    const table = await withNames(context, overrideTable(chosen));
    if (!switchFlag(flags, 'apply')) {
      const shown = create(BulkUpsertRuleOverridesResponseSchema, { overrides: chosen.overrides });
      const value = toJson(BulkUpsertRuleOverridesResponseSchema, shown);
      output.result(value, table);
      for (const line of tried) output.line(line);
      output.note('Nothing was changed. Add --apply to add this exclusion.');
      return 0;
    }
    const rationale = `from request ${from}`.slice(0, 200);
    const overrides = chosen.overrides.map((one) => ({ ...one, rationale }));
    const kept = await api.ruleOverrides.bulkUpsertRuleOverrides({
      overrides,
      listChange: ListChange.ADD,
    });
    output.result(toJson(BulkUpsertRuleOverridesResponseSchema, kept), table);
    for (const line of tried) output.line(line);
    output.note('Added. Send the request again to see it pass.');
    return 0;
  },
};

function overrideTable({ overrides }: SuggestedExclusion): Table {
  return {
    columns: ['RULE', 'ACTION', 'WITHOUT', 'PATH', 'SITE'],
    ids: { SITE: ['site'] },
    rows: overrides.map((one) => [
      one.crsRuleId,
      one.removedTargets.length === 0 ? 'disable' : 'exclude',
      printable(one.removedTargets.join(', ')) || '-',
      printable(one.scope) || '-',
      one.siteId || '-',
    ]),
  };
}

/** What the exclusion would let through of the requests that are retained, in sentences. */
async function tryExclusion(
  api: ApiClient,
  output: Output,
  { event, explanation }: GetSecurityEventResponse,
  { overrides }: SuggestedExclusion,
): Promise<string[]> {
  const { ConnectError } = await import('@connectrpc/connect');
  try {
    const found = await replay(api, output, {
      policyId: explanation?.policyId ?? '',
      siteId: event?.siteId ?? '',
      addedOverrides: overrides,
      // What is kept whole is tried among the others.
      securityEventId: isWhole(event) ? '' : (event?.id ?? ''),
    });
    const own = found.differences.find(({ requestId }) => requestId === event?.requestId);
    const others = found.differences.filter((one) => one !== own && one.after?.blocked === false);
    const rows = others.slice(0, othersShown).map((one) => `  ${differenceRow(one).join('  ')}`);
    const more = Number(found.summary.newlyPassed) - (own === undefined ? 0 : 1) - rows.length;
    const all = describeReplay(found);
    const named = all.some((line) => line.includes(keepBodies));
    return [
      ...all,
      ...(own === undefined ? notRetained(event, found, named) : ['This request would pass.']),
      ...(rows.length === 0 ? [] : ['Other requests that would pass, too:', ...rows]),
      ...(more > 0 ? [`  and ${more} more`] : []),
    ];
  } catch (error) {
    if (!(error instanceof ConnectError)) throw error;
    return [`What else it would let through is not known: ${printable(error.rawMessage)}`];
  }
}

function isWhole(event: GetSecurityEventResponse['event']): boolean {
  const kept = event?.requestEvidence;
  return kept?.available === true && !kept.headerTruncated && !kept.bodyTruncated;
}

const keepBodies = 'waf log policy-set --evidence-body prefix --evidence-body-bytes 65536';

/** What is known of a request that no replay shows to pass. */
function notRetained(
  event: GetSecurityEventResponse['event'],
  { rebuilt }: ReplayResult,
  isNamed: boolean,
): string[] {
  if (isWhole(event)) return ['This request would still be blocked: see waf log explain.'];
  const kept = event?.requestEvidence;
  const headIsWhole = kept?.available === true && !kept.headerTruncated;
  const lacking = headIsWhole ? 'its body was not kept' : 'it was not kept';
  return [
    `This request cannot be sent again: ${lacking}. Tried instead: the values in its event.`,
    ...rebuiltVerdict(rebuilt),
    ...(isNamed ? [] : [`To keep those to come (they may hold secrets): ${keepBodies}`]),
  ];
}

/** What the request made of the event's values says. */
function rebuiltVerdict(rebuilt: ReplayRebuilt | undefined): string[] {
  if (rebuilt === undefined)
    return ['No request could be made of the values in the event and tried.'];
  const { before, after, leftOut } = rebuilt;
  const left = leftOut.length === 0 ? '' : ` without ${printable(leftOut.join(', '))}`;
  const values = `A request with the matched values${left}`;
  if (before?.blocked !== true) {
    return [`${values} is not blocked today: they show nothing of the exclusion.`];
  }
  const rules = (ids: readonly string[] = []): string => ids.join(', ');
  if (after?.blocked === true) {
    return [`${values} would still be blocked, by ${rules(after.ruleIds)}.`];
  }
  return [`${values} is blocked today (${rules(before.ruleIds)}) and would pass.`];
}

/** Errors: AppError bad_flag. */
function choose(exclusions: readonly SuggestedExclusion[], text: string): SuggestedExclusion {
  const found = /^\d{1,3}$/.test(text) ? exclusions[Number(text) - 1] : undefined;
  if (found !== undefined) return found;
  throw badFlag(`--choose wants a number from 1 to ${exclusions.length}`);
}
