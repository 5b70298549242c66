/** Rows on sticky sessions: who gets the cookie, who answers its owner, what origins see of it. */

import { hashPathPassword } from '../../base/path-password.ts';

import type { ChainExpected, ChainGroup, ChainRequest, ChainRow, SetupCall } from './chain-row.ts';
import { domain, firstHttp, formType, inspectedBy, plainWays } from './chain-row.ts';
import { policyCalls, policyChange, secureWays, siteCall } from './chain-row.ts';

const policyOf = 'sticky';
const passwordHash = hashPathPassword('secret', Buffer.alloc(16, 7));
const nobody = 'http://127.0.0.1:9';
const plainForm = /^waf-origin=[0-9a-f]{32}; Path=\/; HttpOnly; SameSite=Lax$/;
const anyForm = /^waf-origin=[0-9a-f]{32}; Path=\/; HttpOnly; SameSite=Lax(?:; Secure)?$/;
const routeForm = /^waf-origin-[0-9a-f]{8}=[0-9a-f]{32}; Path=\/; HttpOnly; SameSite=Lax/;
const ownForm = /^place=[0-9a-f]{32}; Path=\/; HttpOnly; SameSite=Lax(?:; Secure)?; Max-Age=600$/;
const noCookie = { 'set-cookie': null };
const form = { method: 'POST', headers: formType, body: 'a=1' };
const page = '/page?bytes=3000';

type Case = readonly [says: string, request: ChainRequest, expected?: Partial<ChainExpected>];

const rowsOf = (site: string, cases: readonly Case[], ways?: ChainRow['ways']): ChainRow[] =>
  cases.map(([says, request, more = {}]) => ({
    ...{ says: `Sticky sessions: ${says}`, site, request },
    expected: { status: 200, outcome: 'served', ...more },
    ...(ways && { ways }),
  }));

/** A visitor who comes again: the same address answers, and the cookie is not sent once more. */
const again = (says: string, request: ChainRequest, fields: ChainExpected['fields'] = {}): Case => [
  says,
  { ...request, returns: '/' },
  { fields: { ...noCookie, ...fields } },
];
const cookie = (value: string): ChainRequest => ({ headers: { cookie: value } });
const replaced = (fields: ChainExpected['fields'] = {}): Partial<ChainExpected> => ({
  ...{ forms: { 'set-cookie': anyForm }, fields },
});

const visits = rowsOf('sticky', [
  again('a visitor stays with an address', {}),
  again('with a query that rules read', { path: '/?id=1' }),
  again('with a form', form),
  again('with a form without a length', { ...form, chunked: true }),
  again('with HEAD', { method: 'HEAD' }),
  again('the origin gets no cookie', {}, { 'x-cookie': '' }),
  again('the origin gets the others', cookie('a=1; $cookie; b=2'), { 'x-cookie': 'a=1; b=2' }),
  again('those before it', cookie('a=1; b=2; $cookie'), { 'x-cookie': 'a=1; b=2' }),
  again('those after it', cookie('$cookie; a=1; b=2'), { 'x-cookie': 'a=1; b=2' }),
  again('not even twice', cookie('$cookie; a=1; $cookie'), { 'x-cookie': 'a=1' }),
  again('a forged one before it', cookie('waf-origin=1; $cookie'), { 'x-cookie': '' }),
  again('that of a pool which is gone', cookie('waf-origin-0123abcd=1; $cookie'), {
    'x-cookie': '',
  }),
  again('similar names are of others', cookie('waf-origin2=1; Waf-Origin=2; $cookie'), {
    'x-cookie': 'waf-origin2=1; Waf-Origin=2',
  }),
  again('a value in quotes stays whole', cookie('a="b c"; $cookie'), { 'x-cookie': 'a="b c"' }),
  ['a forged cookie is replaced', cookie(`waf-origin=${'0'.repeat(32)}`), replaced()],
  ['and goes no further', cookie('waf-origin=1; a=1'), replaced({ 'x-cookie': 'a=1' })],
  ['an empty one', cookie('waf-origin=; a=1'), replaced({ 'x-cookie': 'a=1' })],
  ['one without a value', cookie('waf-origin; a=1'), replaced({ 'x-cookie': 'a=1' })],
  ['a long one', cookie(`waf-origin=${'a'.repeat(3_000)}`), replaced({ 'x-cookie': '' })],
  [
    'a blocked request gets no cookie',
    { path: '/?id=1%27%20OR%20%271%27=%271' },
    {
      ...{ status: 403, outcome: 'blocked', fields: { ...noCookie, 'x-origin': null } },
    },
  ],
  [
    'a cookie of the application passes',
    { path: `${page}&set-cookie=a=1`, returns: '/' },
    {
      fields: { 'set-cookie': 'a=1' },
    },
  ],
  [
    'one with our name does not',
    { path: `${page}&set-cookie=waf-origin=x`, returns: '/' },
    {
      fields: noCookie,
    },
  ],
  ['ours takes its place', { path: `${page}&set-cookie=waf-origin=x` }, replaced()],
  [
    'an error of the origin',
    { path: `${page}&status=500` },
    {
      ...{ status: 500, forms: { 'set-cookie': anyForm } },
    },
  ],
  [
    'no content',
    { path: '/page?bytes=0&status=204' },
    {
      ...{ status: 204, forms: { 'set-cookie': anyForm } },
    },
  ],
]);

const first = [
  ...rowsOf(
    'sticky',
    [['the first answer', {}, { forms: { 'set-cookie': plainForm } }]],
    plainWays,
  ),
  ...rowsOf(
    'sticky',
    [['the first answer over TLS', {}, { forms: { 'set-cookie': /SameSite=Lax; Secure$/ } }]],
    secureWays,
  ),
];

const raw = (lines: string): ChainRequest => ({
  raw:
    `GET / HTTP/1.1\r\nHost: sticky.${domain}\r\nConnection: close\r\nUser-Agent: chain\r\n` +
    `Accept: */*\r\nX-Request-Id: $id\r\n${lines}\r\n`,
});
const spelled = rowsOf(
  'sticky',
  [
    again('a field in capitals', raw('COOKIE: a=1; $cookie\r\n'), { 'x-cookie': 'a=1' }),
    again('a field without a space', raw('cookie:$cookie;a=1\r\n'), { 'x-cookie': 'a=1' }),
    again('several fields', raw('Cookie: a=1\r\nCookie: $cookie\r\nCookie: b=2\r\n'), {
      'x-cookie': 'a=1; b=2',
    }),
    again('tabs around it', raw('Cookie: a=1;\t$cookie\t;b=2\r\n'), { 'x-cookie': 'a=1;b=2' }),
    [
      'a client of HTTP/1.0',
      {
        raw:
          `GET / HTTP/1.0\r\nHost: sticky.${domain}\r\nUser-Agent: chain\r\nAccept: */*\r\n` +
          'X-Request-Id: $id\r\n\r\n',
      },
      { forms: { 'set-cookie': anyForm } },
    ],
  ],
  firstHttp,
);

const sockets = rowsOf(
  'sticky',
  [
    [
      'a WebSocket of a visitor',
      { path: '/chat', message: 'hello', returns: '/' },
      { status: 101, body: 'the origin took' },
    ],
  ],
  firstHttp,
);

const beside = [
  ...rowsOf('sticky-beside', [
    [
      'beside compression, CORS and a field',
      {
        path: page,
        headers: { 'accept-encoding': 'gzip', origin: 'https://app.example' },
      },
      {
        forms: { 'set-cookie': anyForm },
        fields: {
          ...{ 'content-encoding': 'gzip', 'x-set': 'by the site' },
          'access-control-allow-origin': 'https://app.example',
        },
        body: 'from the origin, again and from',
      },
    ],
    again(
      'a visitor stays beside them',
      { path: page, headers: { 'accept-encoding': 'gzip' } },
      {
        'content-encoding': 'gzip',
      },
    ),
    [
      'a redirect gives none',
      { path: '/old' },
      {
        ...{ status: 301, outcome: 'served', fields: { ...noCookie, location: '/new' } },
      },
    ],
    [
      'a question for a password gives none',
      { path: '/staff' },
      {
        ...{ status: 401, outcome: 'blocked', guards: ['auth deny'], fields: noCookie },
      },
    ],
    [
      'who has the password gets one',
      { path: '/staff', headers: { authorization: `Basic ${btoa('ann:secret')}` } },
      { forms: { 'set-cookie': anyForm } },
    ],
  ]),
  ...rowsOf('sticky-inspected', [
    ['inspected content', { path: page }, { forms: { 'set-cookie': anyForm } }],
    again('a visitor stays where content is inspected', { path: page }),
  ]),
  ...rowsOf('sticky-fields', [
    again('a site that takes cookies away', cookie('a=1; $cookie'), { 'x-cookie': '' }),
  ]),
  ...rowsOf('sticky-named', [
    ['a name and an age of its own', {}, { forms: { 'set-cookie': ownForm } }],
    again('with DELETE', { method: 'DELETE' }),
    again('a visitor stays by it', cookie('$cookie; waf-origin=1'), { 'x-cookie': 'waf-origin=1' }),
  ]),
  ...rowsOf('sticky-off', [
    ['off: no cookie', {}, { fields: noCookie }],
    [
      'off: a cookie of that name is of the application',
      cookie('waf-origin=1; a=1'),
      {
        fields: { ...noCookie, 'x-cookie': 'waf-origin=1; a=1' },
      },
    ],
  ]),
  ...rowsOf('sticky-checked', [
    [
      'a challenge gives none',
      { headers: { accept: 'text/html' } },
      { status: 403, outcome: 'challenged', guards: ['bot challenge'], fields: noCookie },
    ],
    ['who solved it gets one', { headers: { accept: 'text/html' }, solves: '/' }, replaced()],
  ]),
];

const pools = [
  ...rowsOf('sticky-half', [
    ['beside an address that refuses, the other is named', {}, { ...replaced(), origin: 'a' }],
    again('and is asked again', {}, { 'x-origin': 'a' }),
  ]),
  ...rowsOf('sticky-routes', [
    [
      'the pool of a route has a cookie of its own',
      { path: '/api/x' },
      {
        forms: { 'set-cookie': routeForm },
      },
    ],
    [
      'a visitor of the other pool gets that, too',
      { path: '/api/x', returns: '/' },
      {
        ...{ forms: { 'set-cookie': routeForm }, fields: { 'x-cookie': '' }, origin: 'c' },
      },
    ],
    again('and keeps the first', { path: '/apix' }),
  ]),
];

const poolCall = (key: string, urls: readonly string[]): SetupCall => ({
  rpc: 'UpstreamService/CreateUpstream',
  body: { upstream: { name: key, endpoints: urls.map((url) => ({ url, weight: 1 })) } },
  as: `pool:${key}`,
});
const sticky = (more: object = {}) => ({ stickySessions: { enabled: true, ...more } });
const at = (pool = 'sticky') => ({ upstreams: [{ upstreamId: `$pool:${pool}` }] });

/** The group. */
export const stickyGroup: ChainGroup = {
  setup: [
    ...policyCalls(policyOf, 'standard'),
    ...policyCalls(
      `${policyOf}-answers`,
      'standard',
      policyChange({ crsCore: { responseBodyAccess: true } }, 'crsCore.responseBodyAccess'),
    ),
    poolCall('sticky', ['$origin:a', '$origin:b']),
    poolCall('sticky-half', [nobody, '$origin:a']),
    siteCall('sticky', { ...at(), ...inspectedBy(policyOf), delivery: sticky() }),
    siteCall('sticky-beside', {
      ...{ ...at(), ...inspectedBy(policyOf) },
      delivery: {
        ...sticky(),
        compression: [{ pathPrefix: '/', minBytes: 100 }],
        cors: [{ pathPrefix: '/', allowedOrigins: ['https://app.example'] }],
        responseFields: [{ name: 'X-Set', value: 'by the site' }],
        redirects: [{ path: '/old', target: '/new', status: 301 }],
        basicAuth: [{ pathPrefix: '/staff', users: [{ name: 'ann', passwordHash }] }],
      },
    }),
    siteCall('sticky-inspected', {
      ...{ ...at(), ...inspectedBy(`${policyOf}-answers`), delivery: sticky() },
    }),
    siteCall('sticky-fields', {
      ...at(),
      delivery: { ...sticky(), requestFields: [{ name: 'Cookie', remove: true }] },
    }),
    siteCall('sticky-named', {
      ...{ ...at(), delivery: sticky({ cookieName: 'place', maxAgeSeconds: 600 }) },
    }),
    siteCall('sticky-off', at()),
    siteCall('sticky-checked', {
      ...{ ...at(), delivery: sticky() },
      botProtection: { mode: 'BOT_PROTECTION_MODE_BROWSER_CHECK', proofDifficulty: 12 },
    }),
    siteCall('sticky-half', { ...at('sticky-half'), delivery: sticky() }),
    siteCall('sticky-routes', { ...at(), delivery: sticky() }),
    {
      rpc: 'SiteService/UpdateSiteRouting',
      body: {
        siteId: '$site:sticky-routes',
        routing: {
          routes: [
            {
              ...{ name: 'api', pathPrefix: '/api', upstreamId: '$pool:c' },
              rewriteMode: 'PATH_REWRITE_MODE_PRESERVE',
            },
          ],
          unmatchedAction: 'UNMATCHED_PATH_ACTION_DEFAULT_UPSTREAM',
        },
      },
    },
  ],
  rows: [...visits, ...first, ...spelled, ...sockets, ...beside, ...pools],
};
