/** `waf site list`: one page of sites. */

import { pageFlags, readPage, notePage } from '../paging.ts';
import type { CommandDefinition } from '../command.ts';
import { textFlag } from '../command.ts';
import { allPages } from '../all-pages.ts';
import type { ApiClient } from '../api-client.ts';
import { siteTable } from './site-table.ts';

/** The command. */
export const siteListCommand: CommandDefinition = {
  path: ['site', 'list'],
  summary: 'List sites',
  help: '',
  arguments: [],
  flags: [{ flags: '--query <text>', summary: 'part of a name or host' }, ...pageFlags],
  run: async (context, _args, flags) => {
    const { ListSitesResponseSchema } = await import('../../../proto/gen/waf/v1/site_pb.ts');
    const { toJson } = await import('@bufbuild/protobuf');
    const { sites } = await context.api();
    const query = textFlag(flags, 'query') ?? '';
    const response = await sites.listSites({ page: readPage(flags), query });
    const names = await policyNames(await context.api());
    const table = siteTable(response.items, names);
    context.output.result(toJson(ListSitesResponseSchema, response), table);
    notePage(context.output, response.items.length, response.page?.total);
    return 0;
  },
};

/** Names of policies by id; none for a caller who may not read policies. Errors: of the call. */
async function policyNames({ policies }: ApiClient): Promise<Map<string, string>> {
  const { Code, ConnectError } = await import('@connectrpc/connect');
  try {
    const found = await allPages((page) => policies.listPolicies({ page }));
    return new Map(found.map(({ id, name }) => [id, name]));
  } catch (error) {
    if (ConnectError.from(error).code === Code.PermissionDenied) return new Map();
    throw error;
  }
}
