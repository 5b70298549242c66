/** `waf ip-list`: lists of addresses, their entries, and where they decide. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import { parseNetwork } from '../../../base/ip-address.ts';
import {
  IpListBindingRecordSchema,
  ListIpListBindingsResponseSchema,
  ListIpListsRequestSchema,
  type IpList,
  type IpListBindingRecord,
  type IpListEntry,
  type IpListEntryHits,
  type IpListEntrySchema,
} from '../../../proto/gen/waf/v1/ip_list_pb.ts';
import type { ApiClient } from '../api-client.ts';
import type { CommandContext, CommandDefinition, FlagDefinition } from '../command.ts';
import { listFlag, switchFlag, textFlag } from '../command.ts';
import { againWhenChanged } from '../change-attempts.ts';
import { wordsOf } from '../field-flags.ts';
import { badFlag } from '../input.ts';
import { nameArgument } from '../named-resource.ts';
import { importCsv } from './ip-list-import.ts';
import type { Table } from '../output.ts';
import { notePage, pageFlags, readPage } from '../paging.ts';
import { callCommand, deleteCommand, listCommand } from '../regular-commands.ts';
import { showMessage, showRemoved, timeText } from '../show.ts';
import { noteBinding } from '../try-lines.ts';
import { listEverywhere } from './every-place.ts';

const idArgument = [nameArgument('ip-list')];
const placeFlags: readonly FlagDefinition[] = [
  { flags: '--policy <policy>', summary: 'a policy', resource: 'policy' },
  {
    flags: '--site <site>',
    summary: 'a site; without either the whole deployment',
    resource: 'site',
  },
];

/** Commands on lists. */
export const ipListCommands: readonly CommandDefinition[] = [
  listCommand({
    path: ['ip-list', 'list'],
    summary: 'List IP lists',
    query: 'part of a name',
    flags: [
      {
        flags: '--mode <mode>',
        summary: 'who fills them',
        choices: wordsOf(ListIpListsRequestSchema, 'managementMode'),
      },
    ],
    call: ({ ipLists }, { page, query }, _args, flags) =>
      ipLists.listIpLists({ page, query, managementMode: textFlag(flags, 'mode') ?? '' }),
    table: listTable,
  }),
  {
    path: ['ip-list', 'get'],
    summary: 'Show one IP list',
    arguments: idArgument,
    run: async (context, [id = '']) => {
      const { ipList } = await (await context.api()).ipLists.getIpList({ id });
      return showOne(context, ipList);
    },
  },
  {
    path: ['ip-list', 'create'],
    summary: 'Create a manual IP list',
    help: 'Example: waf ip-list create --name office --entry 192.0.2.0/24',
    flags: [
      { flags: '--name <name>', summary: 'name for people', required: true },
      { flags: '--description <text>', summary: 'text for people' },
      { flags: '--entry <network>', summary: 'address or network; repeatable', repeatable: true },
    ],
    run: async (context, _args, flags) => {
      const { ipLists } = await context.api();
      const { ipList } = await ipLists.createIpList({
        ipList: {
          name: textFlag(flags, 'name') ?? '',
          description: textFlag(flags, 'description') ?? '',
          entries: listFlag(flags, 'entry').map((value) => ({ value })),
        },
      });
      return showOne(context, ipList);
    },
  },
  deleteCommand({
    path: ['ip-list', 'delete'],
    summary: 'Remove an IP list that nothing uses',
    arguments: idArgument,
    kind: 'IP list',
    call: ({ ipLists }, id) => ipLists.deleteIpList({ id }),
  }),
  callCommand({
    path: ['ip-list', 'entries'],
    summary: 'Show entries of an IP list',
    arguments: idArgument,
    flags: [{ flags: '--query <text>', summary: 'part of an address or note' }, ...pageFlags],
    call: ({ ipLists }, [ipListId = ''], flags) => {
      const query = textFlag(flags, 'query') ?? '';
      const asked = { ipListId, page: readPage(flags), query };
      return ipLists.listIpListEntries(asked);
    },
    table: (response) => ({
      columns: ['VALUE', 'NOTE', 'EXPIRES', 'HITS', 'LAST HIT'],
      rows: response.items.map((one, at) => [
        one.value,
        one.note,
        timeText(one.expiresAt) || '-',
        ...hitTexts(response.hits[at], response.hitsNotCounted),
      ]),
    }),
    after: ({ output }, response) => {
      const { hits = 0n } = response.otherHits ?? {};
      if (hits > 0n) output.note(`Hits of this list without an entry: ${hits}.`);
      if (response.hitsNotCounted) {
        output.note('Allows of this list skip nothing: their hits are not counted.');
      }
      notePage(output, response.items.length, response.page?.total);
    },
  }),
  {
    path: ['ip-list', 'add'],
    summary: 'Add addresses or networks to an IP list',
    help: 'Example: waf ip-list add ID 192.0.2.7 2001:db8::/32 --note scanner',
    arguments: [...idArgument, { name: '<value...>', summary: 'addresses or networks' }],
    flags: [{ flags: '--note <text>', summary: 'text kept with each of them' }],
    run: async (context, [ipListId = '', ...values], flags) => {
      const { ipLists } = await context.api();
      const entries: MessageInitShape<typeof IpListEntrySchema>[] = [];
      for (const value of values) {
        const present = await entryOf(ipLists, ipListId, value);
        const note = textFlag(flags, 'note') ?? present?.note ?? '';
        entries.push(present === undefined ? { value, note } : { ...present, value, note });
      }
      return showOne(context, (await ipLists.addEntries({ ipListId, entries })).ipList);
    },
  },
  {
    path: ['ip-list', 'remove'],
    summary: 'Remove addresses or networks from an IP list',
    arguments: [...idArgument, { name: '<value...>', summary: 'addresses or networks' }],
    run: async (context, [ipListId = '', ...values]) => {
      const { ipLists } = await context.api();
      return showOne(context, (await ipLists.removeEntries({ ipListId, values })).ipList);
    },
  },
  {
    path: ['ip-list', 'import'],
    summary: 'Add the entries of a CSV file to an IP list',
    help: 'Columns value, note and expires_at; without a header line the first is the address.',
    arguments: [...idArgument, { name: '<file>', summary: 'CSV file, or - for standard input' }],
    flags: [{ flags: '--replace', summary: 'remove all other entries' }],
    run: async (context, [id = '', file = ''], flags) =>
      showOne(context, await importCsv(context, id, file, switchFlag(flags, 'replace'))),
  },
  {
    path: ['ip-list', 'export'],
    summary: 'Write an IP list as CSV to standard output',
    arguments: idArgument,
    run: async (context, [ipListId = '']) => {
      const { csv } = await (await context.api()).ipLists.exportCsv({ ipListId });
      process.stdout.write(csv);
      return 0;
    },
  },
  {
    path: ['ip-list', 'lookup'],
    summary: 'Show what the bound lists decide for an address',
    arguments: [{ name: '<ip>', summary: 'address of a client' }],
    flags: [
      { flags: '--site <site>', summary: 'the site that is asked', resource: 'site' },
      { flags: '--peer <ip>', summary: 'address of the connection' },
      { flags: '--path <path>', summary: 'path of the request' },
    ],
    run: async (context, [ip = ''], flags) => {
      const response = await (
        await context.api()
      ).ipLists.lookupIpScopes({
        ip,
        siteId: textFlag(flags, 'site') ?? '',
        peerIp: textFlag(flags, 'peer') ?? '',
        requestPath: textFlag(flags, 'path') ?? '',
      });
      await showMessage(context, response, {
        columns: ['LIST', 'KIND', 'SCOPE', 'PLACE', 'PATH', 'ENTRIES'],
        rows: response.hits.map((hit) => [
          hit.ipListName,
          hit.kind,
          hit.scope,
          hit.siteName || hit.policyName || '-',
          hit.pathPrefix || '/',
          hit.entries.map(({ value }) => value).join(' '),
        ]),
      });
      context.output.line(`decision: ${response.decision || response.decisionStatus}`);
      return 0;
    },
  },
  {
    path: ['ip-list', 'bind'],
    summary: 'Let an IP list decide for the deployment, a policy or a site',
    help: 'Unspecified options are unchanged. Example: waf ip-list bind ID --kind deny --site SITE',
    arguments: idArgument,
    flags: [
      {
        flags: '--kind <kind>',
        summary: 'what happens',
        choices: wordsOf(IpListBindingRecordSchema, 'kind'),
        required: true,
      },
      ...placeFlags,
      { flags: '--path <prefix>', summary: 'only below this path' },
      { flags: '--peer', summary: 'judge the connection, not the client' },
      { flags: '--not-in', summary: 'decide for addresses outside of the list' },
      { flags: '--in', summary: 'decide for addresses in the list' },
      {
        flags: '--bypass <mode>',
        summary: 'what an allowed address skips',
        choices: wordsOf(IpListBindingRecordSchema, 'bypassMode'),
      },
    ],
    published: true,
    run: async (context, [ipListId = ''], flags) => {
      const { ipLists } = await context.api();
      const binding = {
        ipListId,
        kind: textFlag(flags, 'kind') ?? '',
        policyId: textFlag(flags, 'policy') ?? '',
        siteId: textFlag(flags, 'site') ?? '',
        pathPrefix: textFlag(flags, 'path') ?? '',
        addressSource: switchFlag(flags, 'peer') ? 'peer_ip' : 'client_ip',
      };
      const { policyId, siteId } = binding;
      const [notIn, within] = [switchFlag(flags, 'notIn'), switchFlag(flags, 'in')];
      if (notIn && within) throw badFlag('--not-in and --in exclude each other');
      const global = policyId === '' && siteId === '';
      const made = await againWhenChanged(async () => {
        const { items } = global
          ? await ipLists.listGlobalIpListBindings({})
          : await ipLists.listIpListBindings({ policyId, siteId });
        const before = items.find((one) => samePlace(one) === samePlace(binding));
        const wanted = {
          ...binding,
          matchMode: notIn ? 'not_in_list' : within ? 'in_list' : (before?.matchMode ?? 'in_list'),
          bypassMode:
            textFlag(flags, 'bypass') ?? (before?.kind === binding.kind ? before.bypassMode : ''),
        };
        const kept = before === undefined ? wanted : { ...before, ...wanted };
        const request = { binding: kept, expected: before ?? {} };
        return global
          ? ipLists.upsertGlobalIpListBinding(request)
          : ipLists.upsertIpListBinding(request);
      });
      const code = await showBindings(context, made.binding === undefined ? [] : [made.binding]);
      if (made.binding !== undefined) await noteBinding(context, made.binding);
      return code;
    },
  },
  {
    path: ['ip-list', 'bindings'],
    summary: 'Show where IP lists decide: for a policy, for a site, or everywhere',
    flags: [
      { flags: '--policy <policy>', summary: 'only a policy', resource: 'policy' },
      { flags: '--site <site>', summary: 'only a site', resource: 'site' },
    ],
    run: async (context, _args, flags) => {
      const api = await context.api();
      const policyId = textFlag(flags, 'policy') ?? '';
      const siteId = textFlag(flags, 'site') ?? '';
      if (policyId !== '' || siteId !== '') {
        const { items } = await api.ipLists.listIpListBindings({ policyId, siteId });
        return showBindings(context, items);
      }
      const { items } = await api.ipLists.listGlobalIpListBindings({});
      const placed = await listEverywhere(api, (one) => api.ipLists.listIpListBindings(one));
      return showBindings(context, [...items, ...placed]);
    },
  },
  {
    path: ['ip-list', 'unbind'],
    summary: 'Remove a binding',
    arguments: [{ name: '<binding>', summary: 'binding id' }],
    flags: [{ flags: '--global', summary: 'it is one of the deployment' }],
    published: true,
    run: async (context, [id = ''], flags) => {
      const { ipLists } = await context.api();
      if (switchFlag(flags, 'global')) await ipLists.deleteGlobalIpListBinding({ id });
      else await ipLists.deleteIpListBinding({ id });
      return showRemoved(context, 'binding', id);
    },
  },
];

/** What is known of the hits of an entry; nothing without the right to read it. */
function hitTexts(entry: IpListEntryHits | undefined, notCounted: boolean): string[] {
  const isKnown = entry !== undefined && !(notCounted && entry.lastHitAt === undefined);
  if (!isKnown) return ['-', '-'];
  return [String(entry.hits), timeText(entry.lastHitAt) || 'never'];
}

/** The entry that a list has for exactly this network. */
async function entryOf(
  ipLists: ApiClient['ipLists'],
  ipListId: string,
  value: string,
): Promise<IpListEntry | undefined> {
  const key = parseNetwork(value.trim());
  if (key === null) return undefined;
  // Entries show single addresses without a prefix.
  const query = value
    .trim()
    .replace(/\/(?:32|128)$/, '')
    .toLowerCase();
  const { items } = await ipLists.listIpListEntries({ ipListId, query });
  return items.find((one) => parseNetwork(one.value) === key);
}

/** Shows one list; a list that is not there is a mistake of ours. */
export async function showOne(context: CommandContext, list: IpList | undefined): Promise<number> {
  if (list === undefined) throw badFlag('the service answered without the list');
  return showMessage(context, list, listTable([list]));
}

/** What makes two bindings the same one. */
function samePlace(
  one: Pick<
    IpListBindingRecord,
    'ipListId' | 'policyId' | 'siteId' | 'pathPrefix' | 'addressSource'
  >,
): string {
  const { ipListId, policyId, siteId, pathPrefix, addressSource } = one;
  return JSON.stringify([ipListId, policyId, siteId, pathPrefix, addressSource]);
}

function listTable(lists: readonly IpList[]): Table {
  return {
    columns: ['ID', 'NAME', 'ENTRIES', 'MODE', 'IN USE', 'SYNC'],
    rows: lists.map((list) => [
      list.id,
      list.name,
      String(list.entryCount),
      list.managementMode,
      list.deploymentStatus,
      list.syncStatus?.status ?? '-',
    ]),
  };
}

async function showBindings(
  context: CommandContext,
  bindings: readonly IpListBindingRecord[],
): Promise<number> {
  const { create } = await import('@bufbuild/protobuf');
  const response = create(ListIpListBindingsResponseSchema, { items: [...bindings] });
  return showMessage(context, response, {
    columns: ['ID', 'LIST', 'KIND', 'SCOPE', 'PLACE', 'PATH', 'ADDRESS', 'MATCH'],
    ids: { PLACE: ['site', 'policy'] },
    rows: bindings.map((one) => [
      one.id,
      one.ipListName,
      one.kind,
      one.scope,
      one.siteId || one.policyId || '-',
      one.pathPrefix || '/',
      one.addressSource,
      one.matchMode,
    ]),
  });
}
