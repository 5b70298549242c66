/** `waf policy list`: one page of policies. */

import type { CommandDefinition } from './command.ts';
import { textFlag } from './command.ts';
import { notePage, pageFlags, readPage } from './paging.ts';

const engineStates = ['-', 'on', 'detection-only', 'off'];
const blockingModes = ['-', 'anomaly', 'self-contained'];

/** The command. */
export const policyListCommand: CommandDefinition = {
  path: ['policy', 'list'],
  summary: 'List policies',
  help: '',
  arguments: [],
  flags: [{ flags: '--query <text>', summary: 'part of a name' }, ...pageFlags],
  run: async (context, _args, flags) => {
    const { ListPoliciesResponseSchema } = await import('../../proto/gen/waf/v1/policy_pb.ts');
    const { toJson } = await import('@bufbuild/protobuf');
    const { policies } = await context.api();
    const query = textFlag(flags, 'query') ?? '';
    const response = await policies.listPolicies({ page: readPage(flags), query });
    context.output.result(toJson(ListPoliciesResponseSchema, response), {
      columns: ['ID', 'NAME', 'RULESET', 'ENGINE', 'BLOCKING', 'PARANOIA', 'STATUS', 'REVISION'],
      rows: response.items.map((one) => [
        one.id,
        one.name + (one.builtin ? ' (built in)' : ''),
        one.crsRulesetId,
        engineStates[one.engineState] ?? '-',
        blockingModes[one.blockingMode] ?? '-',
        String(one.crsCore?.blockingParanoiaLevel ?? '-'),
        one.status,
        String(one.revision),
      ]),
    });
    notePage(context.output, response.items.length, response.page?.total);
    return 0;
  },
};
