/** `waf ai …`: explanations and drafts by a language model that you have set up. */

import type { AIProposal } from '../../../proto/gen/waf/v1/ai_pb.ts';
import { textFlag, type CommandDefinition } from '../command.ts';
import { findEventOfRequest } from '../log/found-event.ts';
import { badFlag, readInputText } from '../input.ts';
import { nameArgument } from '../named-resource.ts';
import type { Output } from '../output.ts';
import { commandLineLimits } from '../../limits/command-limits.ts';
import { callCommand } from '../regular-commands.ts';
import { only, printable, timeText } from '../show.ts';

const idArgument = [{ name: '<proposal>', summary: 'proposal id' }];

const patience = { timeoutMs: commandLineLimits.longCallTimeoutMs };

/** Commands on the assistant. */
export const aiCommands: readonly CommandDefinition[] = [
  callCommand({
    path: ['ai', 'status'],
    summary: 'Show whether a model is set up, and which',
    help: 'It is set up with waf system settings-set, key ai.config; nothing is sent before.',
    call: ({ ai }) => ai.getAIStatus({}),
    table: ({ enabled, modelSummary, provider }) => ({
      columns: ['ENABLED', 'PROVIDER', 'MODEL'],
      rows: [[enabled ? 'yes' : 'no', provider, modelSummary || '-']],
    }),
  }),
  {
    path: ['ai', 'set-key'],
    summary: 'Store the key of the model provider; it is never shown again',
    help: 'Example: waf ai set-key --file key.txt   (- reads standard input)',
    flags: [{ flags: '--file <file>', summary: 'file with the key', required: true }],
    run: async (context, _args, flags) => {
      const apiKey = readInputText(textFlag(flags, 'file') ?? '-').trim();
      const { keySet } = await (await context.api()).ai.setAIProviderSecret({ apiKey });
      context.output.result({ keySet }, { columns: ['KEY SET'], rows: [[keySet ? 'yes' : 'no']] });
      return 0;
    },
  },
  callCommand({
    path: ['ai', 'query'],
    summary: 'Turn a question into filters of waf log security',
    help: 'Example: waf ai query "what was blocked by rule 942100 in the last hour"',
    arguments: [{ name: '<question>', summary: 'in your words' }],
    call: ({ ai }, [query = '']) =>
      ai.translateLogQuery({ query }, { timeoutMs: commandLineLimits.modelTimeoutMs }),
    table: ({ query: found }) => ({
      columns: ['SITE', 'CLIENTS', 'RULES', 'LAST SECONDS', 'OUTCOME'],
      ids: { SITE: ['site'] },
      rows: [
        [
          found?.siteId || '-',
          found?.clientIpCidrs.join(' ') || '-',
          found?.ruleIds.join(' ') || '-',
          String(found?.lookbackSeconds ?? 0n),
          ['-', 'any', 'blocked', 'passed'][found?.outcome ?? 0] ?? '-',
        ],
      ],
    }),
    after: ({ output }, { notes }) => {
      if (notes !== '') output.line(printable(notes));
    },
  }),
  {
    path: ['ai', 'explain'],
    summary: 'Have the model explain the event of a request',
    help: 'Example: waf ai explain 3f0c…   (the X-Request-Id of an answer)',
    arguments: [{ name: '<request>', summary: 'id of a request that left a security event' }],
    run: async (context, [requestId = '']) => {
      const { LogKind } = await import('../../../proto/gen/waf/v1/ai_pb.ts');
      const api = await context.api();
      const { event } = await findEventOfRequest(api, context.output, requestId);
      const logEvent = { kind: LogKind.SECURITY, id: event.id };
      const options = { timeoutMs: commandLineLimits.modelTimeoutMs };
      const subject = { case: 'logEvent', value: logEvent } as const;
      return showAnswer(context.output, api.ai.streamAnalysis({ subject }, options));
    },
  },
  callCommand({
    path: ['ai', 'draft-rule'],
    summary: 'Have the model draft a custom rule; it becomes a proposal',
    help: 'The draft is compiled and tried on retained requests before it is shown.',
    arguments: [nameArgument('policy'), { name: '<intent>', summary: 'what the rule is to do' }],
    call: ({ ai }, [policyId = '', intent = '']) =>
      ai.draftCustomRule({ policyId, intent }, patience),
    table: ({ proposal }) => proposalTable(only(proposal)),
    after: ({ output }, { seclangPreview }) => {
      for (const line of seclangPreview.split('\n')) output.line(printable(line));
    },
  }),
  callCommand({
    path: ['ai', 'proposals'],
    summary: 'List what the model suggested, newest first',
    call: ({ ai }) => ai.listAIProposals({}),
    table: ({ items }) => proposalTable(items),
  }),
  callCommand({
    path: ['ai', 'apply'],
    summary: 'Carry a proposal out, with the checks of a change by hand',
    arguments: idArgument,
    published: true,
    call: ({ ai }, [id = '']) => ai.applyAIProposal({ id }, patience),
    table: ({ proposal }) => proposalTable(only(proposal)),
  }),
  callCommand({
    path: ['ai', 'reject'],
    summary: 'Mark a proposal as not wanted',
    arguments: idArgument,
    call: ({ ai }, [id = '']) => ai.rejectAIProposal({ id }),
    table: ({ proposal }) => proposalTable(only(proposal)),
  }),
];

/** Prints an answer when it is whole. */
async function showAnswer(
  output: Output,
  pieces: AsyncIterable<{ readonly delta: string; readonly tokenCost: bigint }>,
): Promise<number> {
  let answer = '';
  let tokens = 0n;
  for await (const { delta, tokenCost } of pieces) {
    answer += delta;
    tokens += tokenCost;
  }
  if (answer === '') throw badFlag('the model gave no answer; try again');
  if (output.format === 'table') {
    for (const line of answer.split('\n')) output.line(printable(line));
  } else output.result({ answer, tokens }, { columns: [], rows: [] });
  return 0;
}

function proposalTable(proposals: readonly AIProposal[]) {
  return {
    columns: ['ID', 'STATUS', 'MODEL', 'CREATED', 'RULE'],
    rows: proposals.map((one) => [
      one.id,
      ['-', 'draft', 'accepted', 'rejected', 'superseded'][one.status] ?? '-',
      printable(one.modelId),
      timeText(one.createdAt),
      printable((JSON.parse(one.patchJson || '{}') as { name?: string }).name ?? ''),
    ]),
  };
}
