/** `waf policy test`: one request against a policy, in the engine that serves traffic. */

import type { CommandDefinition } from '../command.ts';
import { textFlag } from '../command.ts';
import { nameArgument } from '../named-resource.ts';
import { describedRequest, requestFlags } from './described-request.ts';
import { waitFor } from '../policy-progress.ts';
import { showMessage } from '../show.ts';

/** The command. */
export const policyTestCommand: CommandDefinition = {
  path: ['policy', 'test'],
  summary: 'Test a request against a policy; exit code 1 when it is blocked',
  help: `Example: waf policy test POLICY --url '/?id=1%27%20OR%20%271%27=%271'`,
  arguments: [nameArgument('policy')],
  flags: [
    ...requestFlags,
    { flags: '--url <url>', summary: 'path or full URL', required: true },
    {
      flags: '--site <site>',
      summary: "lay this site's override over the policy",
      resource: 'site',
    },
  ],
  run: async (context, [policyId = ''], flags) => {
    const { policies } = await context.api();
    const siteId = textFlag(flags, 'site') ?? '';
    const request = { policyId, siteId, ...describedRequest(flags) };
    const response = await waitFor(context, 'Compiling rules', (options) =>
      policies.testPolicy(request, options),
    );
    await showMessage(context, response, {
      columns: ['RULE', 'PHASE', 'SEVERITY', 'MESSAGE'],
      rows: response.matchedRules.map((rule) => [
        String(rule.ruleId),
        String(rule.phase),
        rule.severity,
        rule.message,
      ]),
    });
    const refusal = response.transaction?.['refusal'];
    // Not by a rule: by a guard, the check of an API document, or a limit.
    if (typeof refusal === 'string' && refusal !== '') context.output.line(`refused: ${refusal}`);
    const answer = response.transaction?.['siteAnswer'] as Record<string, string> | undefined;
    if (answer !== undefined) context.output.line(answeredText(answer));
    const clientIp = response.transaction?.['clientIp'];
    if (request.clientIp === '' && siteId !== '' && typeof clientIp === 'string') {
      context.output.line(`tested as client ${clientIp}; --client-ip names another`);
    }
    const verdict = response.blocked ? 'blocked' : 'passed';
    const score = response.totalInboundScore;
    context.output.line(`${verdict}, status ${response.status}, inbound score ${score}`);
    return response.blocked ? 1 : 0;
  },
};

/** What the site answers by itself. */
function answeredText({ name = '', location = '' }: Readonly<Record<string, string>>): string {
  return `answered by the site: ${name}${location === '' ? '' : `, to ${location}`}`;
}
