/** `waf policy test`: one request against a policy, in the engine that serves traffic. */

import type { CommandDefinition } from './command.ts';
import { listFlag, textFlag } from './command.ts';
import { badFlag, readInput } from './input.ts';
import { waitFor } from './policy-progress.ts';
import { showMessage } from './show.ts';

/** The command. */
export const policyTestCommand: CommandDefinition = {
  path: ['policy', 'test'],
  summary: 'Test a request against a policy; exit code 1 when it is blocked',
  help: `Example: waf policy test POLICY --url '/?id=1%27%20OR%20%271%27=%271'`,
  arguments: [{ name: '<policy>', summary: 'id or name', resource: 'policy' }],
  flags: [
    { flags: '--method <method>', summary: 'request method', default: 'GET' },
    { flags: '--url <url>', summary: 'path or full URL', required: true },
    { flags: '--header <name: value>', summary: 'header; repeatable', repeatable: true },
    { flags: '--body <text>', summary: 'body; @FILE reads a file, - standard input' },
    { flags: '--protocol <version>', summary: 'for example HTTP/1.0' },
    {
      flags: '--site <site>',
      summary: "lay this site's override over the policy",
      resource: 'site',
    },
    { flags: '--client-ip <address>', summary: 'address that the rules see' },
    { flags: '--peer-ip <address>', summary: 'address that the connection comes from' },
  ],
  run: async (context, [policyId = ''], flags) => {
    const { TestPolicyResponseSchema } = await import('../../proto/gen/waf/v1/policy_pb.ts');
    const { policies } = await context.api();
    const request = {
      policyId,
      method: textFlag(flags, 'method') ?? 'GET',
      url: textFlag(flags, 'url') ?? '/',
      headers: readHeaders(listFlag(flags, 'header')),
      body: readBody(textFlag(flags, 'body')),
      protocol: textFlag(flags, 'protocol') ?? '',
      siteId: textFlag(flags, 'site') ?? '',
      clientIp: textFlag(flags, 'clientIp') ?? '',
      peerIp: textFlag(flags, 'peerIp') ?? '',
    };
    const response = await waitFor(context, 'Compiling rules', (options) =>
      policies.testPolicy(request, options),
    );
    await showMessage(context, TestPolicyResponseSchema, response, {
      columns: ['RULE', 'PHASE', 'SEVERITY', 'MESSAGE'],
      rows: response.matchedRules.map((rule) => [
        String(rule.ruleId),
        String(rule.phase),
        rule.severity,
        rule.message,
      ]),
    });
    const verdict = response.blocked ? 'blocked' : 'passed';
    const score = response.totalInboundScore;
    context.output.line(`${verdict}, status ${response.status}, inbound score ${score}`);
    return response.blocked ? 1 : 0;
  },
};

function readHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const cut = line.indexOf(':');
      if (cut <= 0) throw badFlag('--header wants "Name: value"');
      return [line.slice(0, cut).trim(), line.slice(cut + 1).trim()];
    }),
  );
}

function readBody(text: string | undefined): Uint8Array<ArrayBuffer> {
  if (text === undefined) return new Uint8Array();
  if (text === '-') return readInput('-');
  return text.startsWith('@') ? readInput(text.slice(1)) : new TextEncoder().encode(text);
}
