/** `waf policy list`: one page of policies. */

import type { CommandDefinition } from '../command.ts';
import { textFlag } from '../command.ts';
import { notePage, pageFlags, readPage } from '../paging.ts';
import { policyTable } from './policy-table.ts';
import { showMessage } from '../show.ts';

/** The command. */
export const policyListCommand: CommandDefinition = {
  path: ['policy', 'list'],
  summary: 'List policies',
  help: '',
  arguments: [],
  flags: [{ flags: '--query <text>', summary: 'part of a name' }, ...pageFlags],
  run: async (context, _args, flags) => {
    const { policies } = await context.api();
    const query = textFlag(flags, 'query') ?? '';
    const response = await policies.listPolicies({ page: readPage(flags), query });
    const table = policyTable(response.items);
    await showMessage(context, response, table);
    notePage(context.output, response.items.length, response.page?.total);
    return 0;
  },
};
