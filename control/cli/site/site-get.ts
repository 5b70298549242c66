/** `waf site get`: one site. */

import type { CommandDefinition } from '../command.ts';
import { siteTable } from './site-table.ts';

/** The command. */
export const siteGetCommand: CommandDefinition = {
  path: ['site', 'get'],
  summary: 'Show one site',
  help: 'All fields: waf site get ID --output json',
  arguments: [{ name: '<site>', summary: 'id or name', resource: 'site' }],
  flags: [],
  run: async (context, [id = '']) => {
    const { GetSiteResponseSchema } = await import('../../../proto/gen/waf/v1/site_pb.ts');
    const { toJson } = await import('@bufbuild/protobuf');
    const { sites } = await context.api();
    const response = await sites.getSite({ id });
    const found = response.site === undefined ? [] : [response.site];
    context.output.result(toJson(GetSiteResponseSchema, response), siteTable(found));
    return 0;
  },
};
