/** `waf policy preview`: the SecLang text that a policy stands for. */

import type { CommandDefinition } from '../command.ts';
import { textFlag } from '../command.ts';
import { readInputObject } from '../input.ts';
import { nameArgument } from '../named-resource.ts';
import { readMessage } from '../show.ts';

/** The command. */
export const policyPreviewCommand: CommandDefinition = {
  path: ['policy', 'preview'],
  summary: 'Print the SecLang text of a policy',
  arguments: [nameArgument('policy')],
  flags: [
    {
      flags: '--site <site>',
      summary: "lay this site's override over the policy",
      resource: 'site',
    },
    { flags: '--file <file>', summary: 'render these fields instead; - reads standard input' },
  ],
  run: async (context, [policyId = ''], flags) => {
    const { PolicySchema, PreviewSecLangResponseSchema } =
      await import('../../../proto/gen/waf/v1/policy_pb.ts');
    const { toJson } = await import('@bufbuild/protobuf');
    const { policies } = await context.api();
    const siteId = textFlag(flags, 'site') ?? '';
    const file = textFlag(flags, 'file');
    const candidate =
      file === undefined
        ? {}
        : { candidate: await readMessage(PolicySchema, readInputObject(file), file) };
    const response = await policies.previewSecLang({ policyId, siteId, ...candidate });
    if (context.output.format === 'table') context.output.line(response.seclang.trimEnd());
    else {
      const value = toJson(PreviewSecLangResponseSchema, response);
      context.output.result(value, { columns: [], rows: [] });
    }
    return 0;
  },
};
