/** `waf site canary`: a second pool for a part of the requests of a route. */

import { boundsOf } from '../../limits/field-bounds.ts';
import { againWhenChanged } from '../change-attempts.ts';
import type { CommandDefinition } from '../command.ts';
import { switchFlag, textFlag } from '../command.ts';
import { badFlag, wholeNumber } from '../input.ts';
import { nameArgument } from '../named-resource.ts';
import { showMessage } from '../show.ts';
import { revisionOf } from './site-change.ts';
import { routingTable } from './site-routing.ts';

/** The command. */
export const siteCanaryCommand: CommandDefinition = {
  path: ['site', 'canary'],
  summary: 'Send a part of the requests of a path route to a second pool',
  help:
    'Example: waf site canary shop /api --pool shop-next --weight 10 --header X-Canary\n' +
    'The field decides before the cookie, the cookie before the weight: their values always and\n' +
    'never. The weight is a share of clients by address; a client stays where it is. Unspecified\n' +
    'options stay. For all paths of a site give it a route with the prefix /.',
  arguments: [nameArgument('site'), { name: '<prefix>', summary: 'path prefix of the route' }],
  flags: [
    { flags: '--pool <pool>', summary: 'the second pool', resource: 'upstream' },
    { flags: '--weight <percent>', summary: 'share of the clients, 0 to 100' },
    { flags: '--header <name>', summary: 'field that decides; "" for none' },
    { flags: '--cookie <name>', summary: 'cookie that decides; "" for none' },
    { flags: '--off', summary: 'all requests go to the pool of the route' },
  ],
  published: true,
  run: async (context, [siteId = '', prefix = ''], flags) => {
    const off = switchFlag(flags, 'off');
    const named = {
      upstreamId: textFlag(flags, 'pool'),
      weight: await readWeight(textFlag(flags, 'weight')),
      headerName: textFlag(flags, 'header'),
      cookieName: textFlag(flags, 'cookie'),
    };
    if (off === Object.keys(defined(named)).length > 0) {
      throw badFlag('give --off, or what changes: --pool, --weight, --header, --cookie');
    }
    const { create } = await import('@bufbuild/protobuf');
    const { CanaryPoolSchema } = await import('../../../proto/gen/waf/v1/site_pb.ts');
    const { sites } = await context.api();
    const response = await againWhenChanged(async () => {
      const revision = await revisionOf(context, siteId, {});
      const { routing } = await sites.getSiteRouting({ siteId });
      const wanted = prefix.replace(/\/+$/, '').toLowerCase() || '/';
      const route = routing?.routes.find(({ pathPrefix }) => pathPrefix === wanted);
      if (routing === undefined || route === undefined) {
        throw badFlag(`the site has no route ${wanted}: waf site routing-set adds one`);
      }
      if (off) delete route.canary;
      else {
        const { upstreamId, weight, headerName, cookieName } = route.canary ?? {};
        const before = { upstreamId, weight, headerName, cookieName };
        route.canary = create(CanaryPoolSchema, { ...defined(before), ...defined(named) });
      }
      return sites.updateSiteRouting({ siteId, revision, routing });
    }, false);
    return showMessage(context, response, routingTable(response.routing));
  },
};

async function readWeight(text: string | undefined): Promise<number | undefined> {
  if (text === undefined) return undefined;
  const { CanaryPoolSchema } = await import('../../../proto/gen/waf/v1/site_pb.ts');
  return wholeNumber(text, '--weight', boundsOf(CanaryPoolSchema, 'weight'));
}

interface CanaryFields {
  readonly upstreamId: string | undefined;
  readonly weight: number | undefined;
  readonly headerName: string | undefined;
  readonly cookieName: string | undefined;
}

/** The fields that are there. */
function defined(fields: CanaryFields): {
  [F in keyof CanaryFields]?: NonNullable<CanaryFields[F]>;
} {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
