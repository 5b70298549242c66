/** `waf site list`: one page of sites. */

import { pageFlags, readPage, notePage } from '../paging.ts';
import type { CommandDefinition } from '../command.ts';
import { textFlag } from '../command.ts';
import { showMessage } from '../show.ts';
import { siteTable } from './site-table.ts';

/** The command. */
export const siteListCommand: CommandDefinition = {
  path: ['site', 'list'],
  summary: 'List sites',
  help: '',
  arguments: [],
  flags: [{ flags: '--query <text>', summary: 'part of a name or host' }, ...pageFlags],
  run: async (context, _args, flags) => {
    const { sites } = await context.api();
    const query = textFlag(flags, 'query') ?? '';
    const response = await sites.listSites({ page: readPage(flags), query });
    await showMessage(context, response, siteTable(response.items));
    notePage(context.output, response.items.length, response.page?.total);
    return 0;
  },
};
