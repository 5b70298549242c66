/** Rows on the second pool of a route: who goes there, by field, cookie and weight. */

import type { ChainExpected, ChainGroup, ChainRequest, ChainRow, SetupCall } from './chain-row.ts';
import { formType, inspectedBy, policyCalls, siteCall } from './chain-row.ts';

const policyOf = 'canary';

type Case = readonly [says: string, request: ChainRequest, expected: Partial<ChainExpected>];

const rowsOf = (site: string, cases: readonly Case[]): ChainRow[] =>
  cases.map(([says, request, more]) => ({
    ...{ says: `Canary: ${says}`, site, request },
    expected: { status: 200, outcome: 'served', ...more },
  }));

const main: Partial<ChainExpected> = { origin: 'a' };
const next: Partial<ChainExpected> = { origin: 'b' };
const field = (value: string, more: ChainRequest['headers'] = {}): ChainRequest => ({
  headers: { 'x-canary': value, ...more },
});
const cookie = (value: string): ChainRequest => ({ headers: { cookie: value } });

const asked = rowsOf('canary', [
  ['at weight 0 nobody goes there by himself', {}, main],
  ['a field that says always', field('always'), next],
  ['in capitals', field('ALWAYS'), next],
  ['a field that says never', field('never'), main],
  ['another value decides nothing', field('1'), main],
  ['an empty value decides nothing', field(''), main],
  ['a cookie that says always', cookie('canary=always'), next],
  ['a cookie among others', cookie('a=1; canary=always; b=2'), next],
  ['a cookie of a similar name', cookie('canary2=always; Canary=always'), main],
  ['a cookie with another value', cookie('canary=yes'), main],
  ['the field decides before the cookie', field('never', { cookie: 'canary=always' }), main],
  [
    'a field without a meaning leaves it to the cookie',
    field('x', { cookie: 'canary=always' }),
    next,
  ],
  [
    'the origin gets the cookie',
    cookie('canary=always'),
    { ...next, fields: { 'x-cookie': 'canary=always' } },
  ],
  ['with a form', { ...field('always', formType), method: 'POST', body: 'a=1' }, next],
  ['with HEAD', { ...field('always'), method: 'HEAD' }, next],
  ['with a query that rules read', { ...field('always'), path: '/?id=1' }, next],
  [
    'what rules block reaches neither',
    { ...field('always'), path: '/?id=1%27%20OR%20%271%27=%271' },
    { status: 403, outcome: 'blocked', fields: { 'x-origin': null } },
  ],
]);

const shares = rowsOf('canary-all', [
  ['at weight 100 everybody goes there', {}, next],
  ['but for a field that says never', field('never'), main],
  ['and a cookie that says never', cookie('canary=never'), main],
  ['always there, too', field('always'), next],
]);

const around = [
  ...rowsOf('canary-paths', [
    [
      'a prefix that is taken off',
      { ...field('always'), path: '/api/x' },
      { ...next, fields: { 'x-target': '/x' } },
    ],
    [
      'taken off for the first pool, too',
      { path: '/api/x' },
      { ...main, fields: { 'x-target': '/x' } },
    ],
    ['other paths have none', { ...field('always'), path: '/x' }, { origin: 'c' }],
    [
      'a name that the site does not state decides nothing',
      { ...cookie('canary=always'), path: '/api/x' },
      main,
    ],
  ]),
  ...rowsOf('canary-sticky', [
    [
      'beside sticky sessions, the second pool has a cookie of its own',
      field('always'),
      { ...next, forms: { 'set-cookie': /^waf-origin-[0-9a-f]{8}=[0-9a-f]{32}; / } },
    ],
    [
      'the cookie of the first pool reaches no origin',
      { ...field('always'), returns: '/' },
      { ...next, fields: { 'x-cookie': '' } },
    ],
  ]),
];

const poolCall = (key: string, origin: string): SetupCall => ({
  rpc: 'UpstreamService/CreateUpstream',
  body: { upstream: { name: key, endpoints: [{ url: origin, weight: 1 }] } },
  as: `pool:${key}`,
});
const routed = (site: string, route: object, canary: object): SetupCall => ({
  rpc: 'SiteService/UpdateSiteRouting',
  body: {
    siteId: `$site:${site}`,
    routing: {
      routes: [
        {
          ...{ name: 'all', pathPrefix: '/', upstreamId: '$pool:canary-main' },
          ...route,
          canary: { upstreamId: '$pool:canary-next', ...canary },
        },
      ],
    },
  },
});
const names = { headerName: 'X-Canary', cookieName: 'canary' };
const at = (pool: string) => ({ upstreams: [{ upstreamId: `$pool:${pool}` }] });

/** The group. */
export const canaryGroup: ChainGroup = {
  setup: [
    ...policyCalls(policyOf, 'standard'),
    poolCall('canary-main', '$origin:a'),
    poolCall('canary-next', '$origin:b'),
    siteCall('canary', { ...at('canary-main'), ...inspectedBy(policyOf) }),
    routed('canary', {}, names),
    siteCall('canary-all', at('canary-main')),
    routed('canary-all', {}, { ...names, weight: 100 }),
    siteCall('canary-paths', at('c')),
    routed(
      'canary-paths',
      { pathPrefix: '/api', rewriteMode: 'PATH_REWRITE_MODE_STRIP_PREFIX' },
      { headerName: 'X-Canary' },
    ),
    siteCall('canary-sticky', {
      ...at('canary-main'),
      delivery: { stickySessions: { enabled: true } },
    }),
    routed('canary-sticky', {}, names),
  ],
  rows: [...asked, ...shares, ...around],
};
