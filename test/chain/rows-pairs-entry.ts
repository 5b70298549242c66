/** Rows on two settings that meet where a request comes in, and where it is asked who sends it. */

import { frame } from '../../engine/front/fixtures/websocket-frames-fixture.ts';
import { hashPathPassword } from '../../base/path-password.ts';
import type { ChainExpected, ChainGroup, ChainRow, SetupCall } from './chain-row.ts';
import { domain, plainWays, secondHttp, secureWays, siteCall, ways } from './chain-row.ts';
import { pairRows } from './rows-pairs.ts';
import { proxyLine } from './rows-proxied.ts';

const passwordHash = hashPathPassword('correct horse', Buffer.alloc(16, 1));
const password = { authorization: `Basic ${btoa('ann:correct horse')}` };
const users = [{ name: 'ann', passwordHash }];
const served: ChainExpected = { status: 200, origin: 'a' };
const token = '/.well-known/acme-challenge/unknown-token';

const toHttps = (path: string): ChainExpected => ({
  ...{ status: 308, outcome: 'served', uninspected: true, fields: { 'www-authenticate': null } },
  forms: { location: new RegExp(`^https://pairs-moved\\.chain\\.test:\\d+${path}$`) },
});
const asked: ChainExpected = {
  ...{ status: 401, guards: ['auth deny'], uninspected: true },
  fields: { 'access-control-allow-origin': null, 'x-origin': null },
};

const moved = pairRows('pairs-moved', [
  [
    'HTTPS and a redirect of the site: without TLS the way to HTTPS comes first',
    { path: '/old' },
    toHttps('/old'),
    plainWays,
  ],
  [
    'HTTPS and a redirect of the site: with TLS the site redirects, before it asks',
    { path: '/old' },
    { status: 308, outcome: 'served', uninspected: true, fields: { location: '/new' } },
    secureWays,
  ],
  [
    'HTTPS and users: nobody sends a password without TLS',
    { path: '/', headers: password },
    toHttps('/'),
    plainWays,
  ],
  ['HTTPS and users: with TLS the site asks', { path: '/' }, asked, secureWays],
  [
    'HTTPS and HTTP-01: a token that nobody asked for goes the way to HTTPS',
    { path: token },
    toHttps(token.replaceAll('.', '\\.')),
    plainWays,
  ],
  [
    'HTTPS and HTTP-01: with TLS such a token is a path of the site',
    { path: token },
    asked,
    secureWays,
  ],
]);

const misdirected: ChainExpected = {
  ...{ status: 421, outcome: 'refused', refusal: 'misdirected', uninspected: true },
  fields: { 'x-origin': null },
};
const hostOf = (site: string): string => `${site}.${domain}`;
const overSecondTls = ['h2s'] as const;

const shown = [
  ...pairRows('pairs-shown', [
    [
      'client certificates and a connection of HTTP/2 that another site shares',
      { after: 'pairs-open', serverName: hostOf('pairs-open'), certificate: 'ours' },
      misdirected,
      overSecondTls,
    ],
    [
      'client certificates and the connection of their own site',
      { after: 'pairs-shown', certificate: 'ours' },
      { ...served, fields: { 'x-subject': 'CN=ann,O=Ours' } },
      overSecondTls,
    ],
    [
      'client certificates and CORS: a preflight without one is refused as any request',
      {
        ...{ method: 'OPTIONS', path: '/api' },
        headers: { origin: 'https://app.example', 'access-control-request-method': 'GET' },
      },
      { status: 403, outcome: 'refused', refusal: 'client_certificate_missing' },
    ],
  ]),
  ...pairRows('pairs-open', [
    [
      'client certificates and a site without them: it gets no subject over their connection',
      { after: 'pairs-shown', serverName: hostOf('pairs-shown'), certificate: 'ours' },
      { ...served, fields: { 'x-subject': '' } },
      overSecondTls,
    ],
    [
      'client certificates and a site without them: nor on a connection that begins with it',
      { serverName: hostOf('pairs-shown'), certificate: 'ours' },
      { ...served, fields: { 'x-subject': '' } },
      secureWays,
    ],
  ]),
];

const limited: ChainExpected = {
  ...{ status: 429, guards: ['rate_limit deny'], uninspected: true },
};
/** In each way other clients of one balancer: they share the site's count. */
const rated = ways.flatMap((way, at): ChainRow[] => {
  const from = (part: number): string => proxyLine(`198.51.100.${10 * at + part}`);
  const row = (
    says: string,
    proxy: string,
    expected: ChainExpected,
    before: readonly number[] = [],
    headers = {},
  ): ChainRow => ({
    ...{ says: `Pairs: a PROXY header and a rate limit over ${way}: ${says}`, before, expected },
    ...{ site: 'pairs-rated', request: { path: '/often', proxy, headers }, ways: [way] },
  });
  return [
    row('the client that it names is counted', from(1), limited, [200]),
    row('another client of the same balancer has a count of its own', from(2), served),
    row('what a client claims gives it no other count', from(1), limited, [], {
      'x-forwarded-for': '198.51.100.250',
    }),
  ];
});

const app = 'https://app.example';
const preflight = (path: string, origin = app) => ({
  ...{ method: 'OPTIONS', path },
  headers: { origin, 'access-control-request-method': 'PUT' },
});
const granted: ChainExpected = {
  ...{ status: 200, outcome: 'served', uninspected: true },
  fields: { 'access-control-allow-origin': app, 'www-authenticate': null, 'x-origin': null },
};
const cors = pairRows('pairs-cors', [
  ['CORS and users: a preflight, which has no password, is answered', preflight('/api'), granted],
  [
    'CORS and users: a preflight of another origin is refused',
    preflight('/api', 'https://evil.example'),
    { status: 403, outcome: 'refused', refusal: 'cors_origin', uninspected: true },
  ],
  ['CORS and users: without a rule a preflight is asked, too', preflight('/other'), asked],
  [
    'CORS and users: a request without a password is asked',
    { path: '/api', headers: { origin: app } },
    asked,
  ],
  [
    'CORS and users: who has the password is served, for the page that may read it',
    { path: '/api', headers: { origin: app, ...password } },
    { ...served, fields: { 'access-control-allow-origin': app } },
  ],
  [
    'CORS and a service that says who may enter: it is not asked for a preflight',
    preflight('/in'),
    granted,
  ],
  [
    'CORS and a service that says who may enter: it is asked for the request',
    { path: '/in', headers: { origin: app } },
    asked,
  ],
]);

const sockets = pairRows('pairs', [
  [
    'forward authentication and a WebSocket: its service lets it open over HTTP/2',
    { path: '/chat', message: 'hello', headers: { cookie: 'who=ann' } },
    {
      ...{ status: 200, outcome: 'served', logged: 101 },
      body: `the origin took ${frame({ payload: 'hello' }).length} bytes`,
    },
    secondHttp,
  ],
  [
    'forward authentication and a WebSocket: its service is ill, and nothing opens',
    { path: '/chat', message: 'hello', headers: { cookie: 'who=ill' } },
    { status: 503, outcome: 'blocked', guards: ['auth deny'], uninspected: true },
  ],
]);

const limit: SetupCall = {
  rpc: 'RateLimitService/UpsertRateLimitEndpoint',
  body: {
    endpoint: {
      ...{ siteId: '$site:pairs-rated', pathPattern: '/often', action: 'block' },
      ...{ enforcementMode: 'enforce', windowSeconds: 3_600, requestCount: 1 },
    },
  },
};
const corsOf = (pathPrefix: string) => ({
  ...{ pathPrefix, allowedOrigins: [app], allowedMethods: ['GET', 'PUT'] },
  allowCredentials: true,
});

/** The group. */
export const pairEntryGroup: ChainGroup = {
  setup: [
    siteCall('pairs-moved', {
      tls: {
        ...{ mode: 'TLS_MODE_UPLOADED', certId: '$cert:chain' },
        httpBehavior: 'TLS_HTTP_BEHAVIOR_REDIRECT_TO_HTTPS',
      },
      delivery: {
        redirects: [{ path: '/old', target: '/new' }],
        basicAuth: [{ pathPrefix: '/', users }],
      },
    }),
    siteCall('pairs-shown', {
      delivery: {
        clientCertificates: { caPem: '$authority:ours' },
        cors: [corsOf('/api')],
      },
    }),
    siteCall('pairs-open'),
    siteCall('pairs-rated'),
    limit,
    siteCall('pairs-cors', {
      delivery: {
        cors: [corsOf('/api'), corsOf('/in')],
        basicAuth: [
          { pathPrefix: '/', users },
          { pathPrefix: '/in', open: true },
        ],
        forwardAuth: [
          {
            ...{ pathPrefix: '/in', url: '$origin:auth/verify' },
            allowedNetworks: ['127.0.0.0/8'],
          },
        ],
      },
    }),
  ],
  rows: [...moved, ...shown, ...rated, ...cors, ...sockets],
};
