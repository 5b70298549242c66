/** `waf site routing` and `waf site routing-set`: which paths of a site go where. */

import type { CanaryPool, SiteRouting } from '../../../proto/gen/waf/v1/site_pb.ts';
import { againWhenChanged, isRevisionGiven } from '../change-attempts.ts';
import type { CommandContext, CommandDefinition, FlagValues } from '../command.ts';
import { listFlag, textFlag } from '../command.ts';
import { badFlag, readInputObject, readPairs } from '../input.ts';
import { changeList, listChangeFlags, listMode, noteChange } from '../list-change.ts';
import { nameArgument } from '../named-resource.ts';
import type { Table } from '../output.ts';
import { callCommand } from '../regular-commands.ts';
import { readMessage, showMessage } from '../show.ts';
import { revisionOf } from './site-change.ts';

const idArgument = [nameArgument('site')];
const rewriteNames = ['preserve', 'preserve', 'strip'];
const unmatched: Readonly<Record<string, string>> = {
  default: 'UNMATCHED_PATH_ACTION_DEFAULT_UPSTREAM',
  '404': 'UNMATCHED_PATH_ACTION_RETURN_404',
};

/** Commands on routing tables. */
export const siteRoutingCommands: readonly CommandDefinition[] = [
  callCommand({
    path: ['site', 'routing'],
    summary: 'Show the path routes of a site',
    help: 'The longest prefix of whole path segments wins.',
    arguments: idArgument,
    call: ({ sites }, [siteId = '']) => sites.getSiteRouting({ siteId }),
    table: ({ routing }) => routingTable(routing),
  }),
  {
    path: ['site', 'routing-set'],
    summary: 'Add, replace or remove path routes of a site',
    help:
      'Example: waf site routing-set ID --route /api=POOL --strip /app=POOL --unmatched 404\n' +
      'Routes are added, or changed where their prefix is there; --replace replaces the table,\n' +
      '--remove removes the named prefixes. A file is the whole table.',
    arguments: idArgument,
    flags: [
      {
        flags: '--route <prefix=pool>',
        summary: 'forward the path unchanged',
        repeatable: true,
        resource: 'upstream',
      },
      {
        flags: '--strip <prefix=pool>',
        summary: 'strip the prefix',
        repeatable: true,
        resource: 'upstream',
      },
      { flags: '--unmatched <action>', summary: 'other paths', choices: Object.keys(unmatched) },
      { flags: '--file <file>', summary: 'the table as JSON or YAML; - reads standard input' },
      ...listChangeFlags,
      { flags: '--revision <n>', summary: 'revision that the change is made from' },
    ],
    published: true,
    run: async (context, [siteId = ''], flags) => {
      const { SiteRoutingSchema } = await import('../../../proto/gen/waf/v1/site_pb.ts');
      const { sites } = await context.api();
      const file = textFlag(flags, 'file');
      const kept = listFlag(flags, 'route');
      const stripped = listFlag(flags, 'strip');
      if (file !== undefined && kept.length + stripped.length > 0) {
        throw badFlag('--file excludes --route and --strip');
      }
      const whole = file === undefined ? undefined : readInputObject(file);
      const named = readRoutes(kept, stripped);
      const action = unmatched[textFlag(flags, 'unmatched') ?? ''];
      const response = await againWhenChanged(async () => {
        // Read first: a table that changes after this is of a later revision.
        const revision = await revisionOf(context, siteId, flags);
        const value = whole ?? (await changedTable(context, siteId, named, flags));
        const routing = await readMessage(
          SiteRoutingSchema,
          { ...value, ...(action === undefined ? {} : { unmatchedAction: action }) },
          file ?? 'routes',
        );
        return sites.updateSiteRouting({ siteId, revision, routing });
      }, isRevisionGiven(flags));
      return showMessage(context, response, routingTable(response.routing));
    },
  },
];

/** The table with the routes that the flags name, in its JSON form. */
async function changedTable(
  context: CommandContext,
  siteId: string,
  named: readonly Route[],
  flags: FlagValues,
): Promise<Record<string, unknown>> {
  const { SiteRoutingSchema } = await import('../../../proto/gen/waf/v1/site_pb.ts');
  const { toJson } = await import('@bufbuild/protobuf');
  const { routing } = await (await context.api()).sites.getSiteRouting({ siteId });
  const before = routing === undefined ? {} : toJson(SiteRoutingSchema, routing);
  const present = (before.routes ?? []) as readonly Route[];
  const prefixOf = ({ pathPrefix }: Route): string => pathPrefix.replace(/\/+$/, '').toLowerCase();
  // A route that is there keeps its id and name.
  const known = new Map(present.map((one) => [prefixOf(one), one]));
  const asked = named.map((one) => ({ ...known.get(prefixOf(one)), ...one }));
  const routes = changeList(listMode(flags), present, asked, '--route', prefixOf);
  noteChange(context.output, 'taken away', present, routes, prefixOf);
  return { ...before, routes };
}

interface Route {
  readonly pathPrefix: string;
  readonly upstreamId?: string;
  readonly rewriteMode?: string;
}

function readRoutes(kept: readonly string[], stripped: readonly string[]): Route[] {
  const read = (pairs: readonly string[], flag: string, rewriteMode: string): Route[] =>
    Object.entries(readPairs(pairs, flag)).map(([pathPrefix, upstreamId]) => ({
      pathPrefix,
      upstreamId,
      rewriteMode,
    }));
  return [
    ...read(kept, '--route', 'PATH_REWRITE_MODE_PRESERVE'),
    ...read(stripped, '--strip', 'PATH_REWRITE_MODE_STRIP_PREFIX'),
  ];
}

/** The routes of a site, a row each. */
export function routingTable(routing: SiteRouting | undefined): Table {
  const rows = (routing?.routes ?? []).map((route) => [
    route.pathPrefix,
    route.upstreamId,
    rewriteNames[route.rewriteMode] ?? '-',
    route.name,
    route.canary?.upstreamId ?? '',
    canaryText(route.canary),
  ]);
  const rest = routing?.unmatchedAction === 2 ? '404' : "the site's own upstream";
  return {
    columns: ['PREFIX', 'POOL', 'PATH', 'NAME', 'CANARY', 'BY'],
    ids: { POOL: ['upstream'], CANARY: ['upstream'] },
    rows: [...rows, ['(other paths)', rest, '', '', '', '']],
  };
}

function canaryText(canary: CanaryPool | undefined): string {
  if (canary === undefined) return '';
  const { weight, headerName, cookieName } = canary;
  const named = [headerName && `field ${headerName}`, cookieName && `cookie ${cookieName}`];
  return [...named.filter((one) => one !== ''), `${weight} %`].join(', ');
}
