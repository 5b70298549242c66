/** Rows on two settings that meet in an answer: who gives it, and what its head says. */

import type { ChainExpected, ChainGroup, SetupCall } from './chain-row.ts';
import { domain, inspectedBy, policyCalls, siteCall } from './chain-row.ts';
import { pairRows } from './rows-pairs.ts';

const policyOf = 'pair-answers';
const attack = '/?id=1%27%20OR%20%271%27=%271';
const page = '/page?bytes=3000';
const gzip = { 'accept-encoding': 'gzip' };
const served: ChainExpected = { status: 200 };
const firstCookie = /^waf-origin=[0-9a-f]{32}; /;
const secondCookie = /^waf-origin-[0-9a-f]{8}=[0-9a-f]{32}; /;

const canary = [
  ...pairRows('pairs-canary', [
    [
      'canary and sticky sessions: a visitor of the second pool stays with its address',
      { returns: '/' },
      { ...served, fields: { 'set-cookie': null, 'x-cookie': '' } },
    ],
    [
      'canary and sticky sessions: who leaves the second pool gets the cookie of the first',
      { returns: '/', headers: { 'x-canary': 'never' } },
      {
        ...{ ...served, origin: 'c', fields: { 'x-cookie': '' } },
        forms: { 'set-cookie': firstCookie },
      },
    ],
    [
      'canary and sticky sessions: a first visit gets the cookie of the second pool',
      {},
      { ...served, forms: { 'set-cookie': secondCookie } },
    ],
  ]),
];

const compressed = pairRows('pairs-compressed', [
  [
    'compression and a field: a site that takes Vary away keeps that of the coding',
    { path: `${page}&vary=Cookie`, headers: gzip },
    { ...served, fields: { 'content-encoding': 'gzip', vary: 'Accept-Encoding' } },
  ],
  [
    'compression and a field: a tag of the site takes the place of the one that is made weak',
    { path: `${page}&etag="origin"`, headers: gzip },
    { ...served, fields: { 'content-encoding': 'gzip', etag: '"site"' } },
  ],
  [
    'compression and a field: a tag of the site stays with plain content',
    { path: page },
    { ...served, fields: { 'content-encoding': null, etag: '"site"' } },
  ],
  [
    'compression and a field: the origin is not asked for a coding, the client gets one',
    { path: page, headers: gzip },
    { ...served, fields: { 'content-encoding': 'gzip' }, body: 'from the origin, again' },
  ],
  [
    'compression and a field: content in a coding of the origin stays as it is',
    { path: `${page}&content-encoding=zstd`, headers: gzip },
    { ...served, fields: { 'content-encoding': 'zstd' } },
  ],
]);

const maintained = pairRows('pairs-health', [
  [
    'maintenance and a dead origin: a closed path says that the site is closed',
    { path: '/dead' },
    { status: 503, outcome: 'refused', refusal: 'maintenance', uninspected: true },
  ],
  [
    'maintenance and a dead origin: an open path says that the origin is dead',
    { path: '/health/dead' },
    { status: 502, outcome: 'origin_error' },
  ],
  [
    'maintenance and a health path: its origin answers, with its status',
    { path: '/health/echo?status=500' },
    { status: 500, outcome: 'served', origin: 'a', target: '/echo?status=500' },
  ],
  [
    'maintenance and a health path: HEAD as well',
    { method: 'HEAD', path: '/health' },
    { ...served, origin: 'a' },
  ],
]);

const own = (kind: string, status: number): string => `<p>shop ${kind} ${status}</p>`;
const html = { 'content-type': 'text/html' };
const pages = [
  ...pairRows('pairs-pages', [
    [
      'pages of a site and a block: the site words it',
      { path: attack },
      { status: 410, with: [942_100], body: own('waf_block', 410), fields: html },
    ],
    [
      'pages of a site and an origin that hangs up: the site words it, the status stays',
      { path: '/cut' },
      {
        ...{ status: 502, outcome: 'origin_error', fields: html },
        body: own('bad_gateway', 502),
      },
    ],
    [
      'pages of a site and an error of the origin: its own page passes',
      { path: '/echo?status=500' },
      { status: 500, outcome: 'served', origin: 'a', body: 'from the origin a' },
    ],
    [
      'pages of a site and an answer of the origin: it passes',
      { path: '/' },
      { ...served, origin: 'a' },
    ],
  ]),
  ...pairRows('pairs-unworded', [
    [
      'pages of a site: another site has those of the deployment',
      { path: attack },
      { status: 403, with: [942_100], body: '"kind":"waf_block"' },
    ],
  ]),
];

const poolCall = (key: string, ...urls: readonly string[]): SetupCall => ({
  rpc: 'UpstreamService/CreateUpstream',
  body: { upstream: { name: key, endpoints: urls.map((url) => ({ url, weight: 1 })) } },
  as: `pool:${key}`,
});
const routed = (site: string, ...routes: readonly object[]): SetupCall => ({
  rpc: 'SiteService/UpdateSiteRouting',
  body: {
    siteId: `$site:${site}`,
    routing: { routes, unmatchedAction: 'UNMATCHED_PATH_ACTION_DEFAULT_UPSTREAM' },
  },
});
const route = (pathPrefix: string, pool: string, more: object = {}) => ({
  ...{ name: pathPrefix, pathPrefix, upstreamId: `$pool:${pool}` },
  ...{ rewriteMode: 'PATH_REWRITE_MODE_PRESERVE', ...more },
});

/** The group. */
export const pairAnswerGroup: ChainGroup = {
  setup: [
    ...policyCalls(policyOf, 'standard'),
    poolCall('pairs-next', '$origin:a', '$origin:b'),
    siteCall('pairs-canary', {
      upstreams: [{ upstreamId: '$pool:c' }],
      delivery: { stickySessions: { enabled: true } },
    }),
    routed(
      'pairs-canary',
      route('/', 'c', {
        canary: { upstreamId: '$pool:pairs-next', headerName: 'X-Canary', weight: 100 },
      }),
    ),
    siteCall('pairs-compressed', {
      delivery: {
        compression: [{ pathPrefix: '/' }],
        requestFields: [{ name: 'Accept-Encoding', remove: true }],
        responseFields: [
          { name: 'Vary', remove: true },
          { name: 'ETag', value: '"site"' },
        ],
      },
    }),
    siteCall('pairs-health', {
      delivery: {
        maintenance: { enabled: true, allowedPaths: ['/health'] },
        rewrites: [{ path: '/health/echo', target: '/echo' }],
      },
    }),
    routed('pairs-health', route('/health/dead', 'cuts')),
    siteCall('pairs-pages', inspectedBy(policyOf)),
    routed('pairs-pages', route('/cut', 'cuts')),
    siteCall('pairs-unworded', inspectedBy(policyOf)),
  ],
  later: [
    {
      rpc: 'SystemService/UpdateSystemSettings',
      body: {
        values: {
          'security.responses.config': {
            sites: {
              [`pairs-pages.${domain}`]: {
                templates: {
                  active: 'html',
                  html: {
                    body: '<p>shop {{response.kind}} {{response.status_code}}</p>',
                    contentType: 'text/html',
                  },
                },
                scenarios: {
                  waf_block: { statusCode: 410, title: 'Shop', message: 'No.' },
                },
              },
            },
          },
        },
      },
    },
  ],
  rows: [...canary, ...compressed, ...maintained, ...pages],
};
