/** `waf site get`: one site. */

import type { CommandDefinition } from '../command.ts';
import { showResource } from '../show.ts';

/** The command. */
export const siteGetCommand: CommandDefinition = {
  path: ['site', 'get'],
  summary: 'Show all settings of one site',
  help: '',
  arguments: [{ name: '<site>', summary: 'id or name', resource: 'site' }],
  flags: [],
  run: async (context, [id = '']) => {
    const response = await (await context.api()).sites.getSite({ id });
    await showResource(context, response, 'site');
    if (response.bodyInspection) context.output.note(response.bodyInspection.summary);
    return 0;
  },
};
