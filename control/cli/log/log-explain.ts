/** `waf log explain`: why the rules decided so about a request, and what would have avoided it. */

import type {
  SecurityEventExplanation,
  SecurityMessage,
} from '../../../proto/gen/waf/v1/log_pb.ts';
import type { CommandDefinition } from '../command.ts';
import { findEventOfRequest } from './found-event.ts';
import type { Output } from '../output.ts';
import { printable, showMessage } from '../show.ts';

/** The command. */
export const logExplainCommand: CommandDefinition = {
  path: ['log', 'explain'],
  summary: 'Explain a blocked request: rules, scores, values, and exclusions that avoid it',
  help:
    'Example: waf log explain 3f0c…   (the X-Request-Id of an answer)\n' +
    'waf rule exclude --from ID adds one of the exclusions.',
  arguments: [{ name: '<request>', summary: 'id of a request that left a security event' }],
  run: async (context, [requestId = '']) => {
    const { output } = context;
    const found = await findEventOfRequest(await context.api(), output, requestId);
    const { event, response } = found;
    const verdict = event.blocked ? 'blocked' : 'passed';
    const request = printable(`${event.method} ${event.host}${event.path}`);
    output.line(`${request}: ${verdict}, status ${event.status}, score ${event.anomalyScore}`);
    await showMessage(context, response, {
      columns: ['RULE', 'SCORE', 'MATCHED', 'TEXT', 'TRANSFORMATIONS', 'MESSAGE'],
      rows: event.messages.map(messageRow),
    });
    showExclusions(output, response.explanation);
    const some = (response.explanation?.exclusions.length ?? 0) > 0;
    if (some) output.line(`Add one: waf rule exclude --from ${printable(requestId)} --apply`);
    return 0;
  },
};

/** Prints the exclusions of an explanation, numbered, and its notes. */
export function showExclusions(
  output: Output,
  explanation: SecurityEventExplanation | undefined,
): void {
  const { exclusions = [], notes = [] } = explanation ?? {};
  if (exclusions.length > 0) output.line('Exclusions that would have avoided it:');
  exclusions.forEach(({ summary }, at) => output.line(`  ${at + 1}. ${printable(summary)}`));
  for (const note of notes) output.line(printable(note));
}

function messageRow(one: SecurityMessage): string[] {
  const key = one.matchKey === '' ? '' : `:${one.matchKey}`;
  const chains = one.links.map(({ transformations }) => transformations.join(' ') || '-');
  return [
    one.ruleId,
    String(one.scoreContribution),
    printable(`${one.matchVariable}${key}`),
    printable(one.matchedText || one.matchValue),
    chains.join('; '),
    one.message,
  ];
}
