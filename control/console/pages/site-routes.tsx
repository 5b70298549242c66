/** The routes of a site: which path prefix goes to which pool, and what becomes of other paths. */

import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { create, equals } from '@bufbuild/protobuf';
import type { JSX } from 'preact';
import { ResourceStatus } from '../../../proto/gen/waf/v1/common_pb.ts';
import {
  CanaryPoolSchema,
  PathRewriteMode,
  SiteRouteSchema,
  SiteRoutingSchema,
  SiteService,
  UnmatchedPathAction,
  type CanaryPool,
  type GetSiteRoutingResponse,
  type SiteRoute,
  type SiteRouting,
} from '../../../proto/gen/waf/v1/site_pb.ts';
import { UpstreamService, type Upstream } from '../../../proto/gen/waf/v1/upstream_pb.ts';
import { useCall } from '../call.ts';
import { Act } from '../parts/act.tsx';
import { Edit, heldBy, useBase, useOpened, type Field, type Values } from '../parts/edit.tsx';
import { allItems, FoldedEdit } from '../parts/list.tsx';
import { Card } from '../parts/panel.tsx';
import { State } from '../parts/state.tsx';
import { Table } from '../parts/table.tsx';
import { transport } from '../session.ts';
import { pageTexts } from '../text/text.ts';
import { type ShownSite } from './site-form.tsx';

const sites = createClient(SiteService, transport);
const upstreams = createClient(UpstreamService, transport);

const w = pageTexts({
  title: ['Routes', '路由'],
  note: [
    'The longest prefix wins. Paths are compared by whole segments, without case.',
    '最长前缀优先。路径按完整分段比较，不区分大小写。',
  ],
  empty: [
    'No route: every path goes to the origins of the site.',
    '没有路由：所有路径转发到站点源站。',
  ],
  path: ['Path prefix', '路径前缀'],
  pool: ['Pool', '源站池'],
  newPool: ['A new pool at the address below', '使用下方地址新建源站池'],
  origin: ['Address of the origin', '源站地址'],
  originHint: ['For example http://127.0.0.1:3000', '例如 http://127.0.0.1:3000'],
  rewrite: ['The origin sees', '源站看到的路径'],
  preserve: ['The path as it was sent', '原始路径'],
  strip: ['The path without the prefix', '去掉前缀的路径'],
  canary: ['Second pool', '第二源站池'],
  noCanary: ['None', '无'],
  canaryHint: [
    'A part of the requests goes there, such as to a new version',
    '部分请求转发到此处，例如新版本',
  ],
  weight: ['Percent of the clients that go there', '转发到此处的客户端百分比'],
  weightHint: [
    'A client stays where it is while the number only grows',
    '比例只增不减时，客户端保持不变',
  ],
  header: ['Header field that decides', '由此请求头决定'],
  cookie: ['Cookie that decides', '由此 Cookie 决定'],
  decides: [
    'The value “always” sends a request there, “never” to the first pool',
    '值为 always 时转发到第二源站池，never 时转发到第一个',
  ],
  lost: ['Choose the second pool that this is for.', '请选择对应的第二源站池。'],
  share: ['{pool}, {weight} %', '{pool}，{weight}%'],
  add: ['Add a route', '添加路由'],
  edit: ['Edit', '编辑'],
  save: ['Save', '保存'],
  close: ['Close', '关闭'],
  remove: ['Delete', '删除'],
  removeAsk: ['Delete this route?', '删除此路由？'],
  changed: ['Somebody else changed this meanwhile.', '其他人已修改此项。'],
  rest: ['Other paths', '其他路径'],
  restLabel: ['A path without a route', '没有路由的路径'],
  toOrigins: ['Goes to the origins of the site', '转发到站点源站'],
  refused: ['Is refused with 404', '以 404 拒绝'],
});

const rewriteTexts = [
  [PathRewriteMode.PRESERVE, 'preserve'],
  [PathRewriteMode.STRIP_PREFIX, 'strip'],
] as const;

/** What changes the routes of a site, always from what was read last. */
interface Change {
  readonly siteId: string;
  readonly changed: () => void;
}

/** The routes, and the revision of the site that they were read at. */
interface Held {
  readonly routing: SiteRouting;
  readonly revision: bigint;
}

const heldOf = ({
  routing,
  revision,
}: Pick<GetSiteRoutingResponse, 'routing' | 'revision'>): Held => ({
  routing: routing ?? create(SiteRoutingSchema),
  revision,
});

/** The view. */
export function SiteRoutes({ of }: { readonly of: ShownSite }): JSX.Element {
  const siteId = of.site.id;
  const found = useCall(siteId, (signal) => sites.getSiteRouting({ siteId }, { signal }));
  const pools = useCall('pools', (signal) =>
    allItems((page) => upstreams.listUpstreams({ page }, { signal })),
  );
  const change = {
    siteId,
    changed: () => {
      found.reload();
      pools.reload();
      of.changed();
    },
  };
  return (
    <State of={pools}>
      {(items) => (
        <State of={found}>
          {(answer) => (
            <>
              <Routes held={heldOf(answer)} pools={items} change={change} />
              <Rest first={heldOf(answer)} change={change} />
            </>
          )}
        </State>
      )}
    </State>
  );
}

function Routes({
  held,
  pools,
  change,
}: {
  readonly held: Held;
  readonly pools: readonly Upstream[];
  readonly change: Change;
}): JSX.Element {
  const poolName = (id: string): string => pools.find((one) => one.id === id)?.name ?? id;
  const { routes } = held.routing;
  const [opened, open] = useOpened(routes);
  return (
    <Card title={w('title')} note={w('note')}>
      <Table
        label={w('title')}
        items={routes}
        empty={w('empty')}
        columns={[
          { title: w('path'), of: ({ pathPrefix }) => pathPrefix },
          { title: w('pool'), of: ({ upstreamId }) => poolName(upstreamId) },
          { title: w('canary'), of: ({ canary }) => shareText(canary, poolName) },
          {
            title: w('rewrite'),
            of: ({ rewriteMode }) =>
              w(rewriteTexts.find(([mode]) => mode === rewriteMode)?.[1] ?? 'preserve'),
          },
          {
            title: '',
            of: ({ id }) => (
              <span class="actions">
                <button type="button" onClick={() => open(id === opened?.id ? '' : id)}>
                  {w(id === opened?.id ? 'close' : 'edit')}
                </button>
                <Act
                  label={w('remove')}
                  ask={w('removeAsk')}
                  codes={['site:write']}
                  run={() => changeRoutes(change, (all) => all.filter((one) => one.id !== id))}
                  done={() => {
                    if (id === opened?.id) open('');
                    change.changed();
                  }}
                />
              </span>
            ),
          },
        ]}
      />
      {opened !== undefined && (
        <EditRoute key={opened.id} first={opened} pools={pools} change={change} />
      )}
      <FoldedEdit
        inside
        label={w('add')}
        codes={['site:write', 'upstream:write']}
        submit={w('add')}
        fields={routeFields(pools)}
        save={async (values) => {
          const made = await routeOf(values, create(SiteRouteSchema));
          await changeRoutes(change, (all) => [...all, made]);
        }}
        saved={change.changed}
      />
    </Card>
  );
}

/** The second pool of a route with its part of the clients; '' for none. */
function shareText(canary: CanaryPool | undefined, nameOf: (id: string) => string): string {
  if (canary === undefined) return '';
  return w('share', { pool: nameOf(canary.upstreamId), weight: canary.weight });
}

/** Changes the newest routing: what others changed elsewhere in it stays. Gives what is kept. */
async function changeRouting(
  { siteId }: Change,
  next: (routing: SiteRouting) => SiteRouting,
): Promise<SiteRouting> {
  const { routing, revision } = heldOf(await sites.getSiteRouting({ siteId }));
  const wanted = next(routing);
  const answer = await sites.updateSiteRouting({ siteId, revision, routing: wanted });
  return answer.routing ?? wanted;
}

const changeRoutes = (
  change: Change,
  next: (routes: SiteRoute[]) => SiteRoute[],
): Promise<SiteRouting> =>
  changeRouting(change, (routing) => ({ ...routing, routes: next(routing.routes) }));

/** The form of one route; a conflict is that somebody else changed this very route. */
function EditRoute({
  first,
  pools,
  change,
}: {
  readonly first: SiteRoute;
  readonly pools: readonly Upstream[];
  readonly change: Change;
}): JSX.Element {
  const { id } = first;
  // One that was deleted meanwhile is an empty one: saving it makes it anew.
  const routeIn = (routes: readonly SiteRoute[]): SiteRoute =>
    routes.find((one) => one.id === id) ?? create(SiteRouteSchema, { id });
  const base = useBase(first);
  const save = async (values: Values): Promise<void> => {
    const made = await routeOf(values, base.current);
    const { routes } = await changeRoutes(change, (all) => {
      requireSame(equals(SiteRouteSchema, base.current, routeIn(all)));
      const isThere = all.some((one) => one.id === id);
      return isThere ? all.map((one) => (one.id === id ? made : one)) : [...all, made];
    });
    base.current = routeIn(routes);
  };
  return (
    <Edit
      label={w('edit')}
      codes={['site:write', 'upstream:write']}
      submit={w('save')}
      base={base}
      fields={routeFields(pools, first)}
      save={save}
      saved={change.changed}
      latest={async () => {
        const { routing } = heldOf(await sites.getSiteRouting({ siteId: change.siteId }));
        base.current = routeIn(routing.routes);
        return heldBy(routeFields(pools, base.current));
      }}
    />
  );
}

/** Errors: ConnectError aborted, as the service gives it for a revision that has passed. */
function requireSame(same: boolean): void {
  if (!same) throw new ConnectError(w('changed'), Code.Aborted);
}

function routeFields(
  pools: readonly Upstream[],
  route: Pick<SiteRoute, 'pathPrefix' | 'upstreamId' | 'rewriteMode' | 'canary'> = create(
    SiteRouteSchema,
  ),
): Field[] {
  const { upstreamId = '', weight = 0, headerName = '', cookieName = '' } = route.canary ?? {};
  const named = pools.map(({ id, name }) => [id, name] as const);
  return [
    { name: 'path', label: w('path'), value: route.pathPrefix || '/', required: true },
    {
      name: 'pool',
      label: w('pool'),
      value: route.upstreamId,
      choices: [['', w('newPool')], ...named],
    },
    { name: 'origin', label: w('origin'), hint: w('originHint') },
    {
      name: 'rewrite',
      label: w('rewrite'),
      value: String(route.rewriteMode || PathRewriteMode.PRESERVE),
      choices: rewriteTexts.map(([mode, text]) => [String(mode), w(text)] as const),
    },
    {
      name: 'canary',
      label: w('canary'),
      value: upstreamId,
      hint: w('canaryHint'),
      choices: [['', w('noCanary')], ...named],
    },
    {
      ...{ name: 'weight', label: w('weight'), kind: 'number', value: String(weight) },
      hint: w('weightHint'),
    },
    {
      ...{ name: 'header', api: ['headerName'], label: w('header'), value: headerName },
      hint: w('decides'),
    },
    {
      ...{ name: 'cookie', api: ['cookieName'], label: w('cookie'), value: cookieName },
      hint: w('decides'),
    },
  ];
}

/** The route that was entered; its pool is made first where an address was given in its place. */
async function routeOf(values: Values, before: SiteRoute): Promise<SiteRoute> {
  const { path = '', pool = '', origin = '', rewrite } = values;
  const rewriteMode = Number(rewrite) as PathRewriteMode;
  const canary = canaryOf(values);
  const upstreamId = pool === '' ? await newPool(origin) : pool;
  const { canary: _, ...kept } = before;
  const made = { ...kept, pathPrefix: path, upstreamId, rewriteMode };
  return canary === undefined ? made : { ...made, canary };
}

/** The second pool that was entered; undefined for none. Errors: what is for it has no pool. */
function canaryOf({
  canary = '',
  weight = '',
  header = '',
  cookie = '',
}: Values): CanaryPool | undefined {
  const share = Number(weight);
  if (canary === '') {
    if (share !== 0 || header !== '' || cookie !== '') throw new Error(w('lost'));
    return undefined;
  }
  const names = { headerName: header, cookieName: cookie };
  return create(CanaryPoolSchema, { upstreamId: canary, weight: share, ...names });
}

/** The pool of one address, which is named by it: one that is there already, or a new one. */
async function newPool(url: string): Promise<string> {
  const found = await allItems((page) => upstreams.listUpstreams({ page, query: url }));
  const same = found.find(({ name }) => name === url);
  if (same !== undefined) return same.id;
  const upstream = { name: url, endpoints: [{ url, weight: 1 }], status: ResourceStatus.ACTIVE };
  const made = await upstreams.createUpstream({ upstream });
  return made.upstream?.id ?? '';
}

function Rest({ first, change }: { readonly first: Held; readonly change: Change }): JSX.Element {
  const base = useBase(first.routing.unmatchedAction);
  const stored = async (): Promise<UnmatchedPathAction> =>
    heldOf(await sites.getSiteRouting({ siteId: change.siteId })).routing.unmatchedAction;
  const save = async ({ rest }: Values): Promise<void> => {
    const unmatchedAction = Number(rest) as UnmatchedPathAction;
    await changeRouting(change, (routing) => {
      requireSame(base.current === routing.unmatchedAction);
      return { ...routing, unmatchedAction };
    });
    base.current = unmatchedAction;
  };
  return (
    <Card title={w('rest')}>
      <Edit
        label={w('rest')}
        codes={['site:write']}
        submit={w('save')}
        base={base}
        fields={restFields(first.routing.unmatchedAction)}
        save={save}
        saved={change.changed}
        latest={async () => {
          base.current = await stored();
          return heldBy(restFields(base.current));
        }}
      />
    </Card>
  );
}

const restFields = (held: UnmatchedPathAction): Field[] => [
  {
    name: 'rest',
    label: w('restLabel'),
    value: String(held || UnmatchedPathAction.DEFAULT_UPSTREAM),
    choices: [
      [String(UnmatchedPathAction.DEFAULT_UPSTREAM), w('toOrigins')],
      [String(UnmatchedPathAction.RETURN_404), w('refused')],
    ],
  },
];
