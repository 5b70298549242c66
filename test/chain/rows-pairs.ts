/** Rows on two settings of a site's delivery that meet in one request. */

import { frame } from '../../engine/front/fixtures/websocket-frames-fixture.ts';
import { hashPathPassword } from '../../base/path-password.ts';
import type { ChainExpected, ChainGroup, ChainRequest, ChainRow, Way } from './chain-row.ts';
import { firstHttp, formType, inspectedBy, policyCalls, siteCall } from './chain-row.ts';

const policyOf = 'pairs';
const passwordHash = hashPathPassword('correct horse', Buffer.alloc(16, 1));
const as = (who: string): Record<string, string> => ({ cookie: `who=${who}` });
const closed: ChainExpected = {
  ...{ status: 503, outcome: 'refused', refusal: 'maintenance', uninspected: true },
};
const served: ChainExpected = { status: 200, origin: 'a' };
const tooLate: ChainExpected = { status: 504, outcome: 'origin_error' };
const page = '/page?bytes=3000';
const gzip = { 'accept-encoding': 'gzip' };

type Case = readonly [
  says: string,
  request: ChainRequest,
  expected: ChainExpected,
  ways?: readonly Way[],
];
/** Rows of one site. */
export const pairRows = (site: string, cases: readonly Case[]): ChainRow[] =>
  cases.map(([says, request, expected, ways]) => ({
    ...{ says: `Pairs: ${says}`, site, request, expected },
    ...(ways && { ways }),
  }));

const open = pairRows('pairs', [
  [
    'forward authentication and a WebSocket: nobody said who opens it',
    { path: '/chat', message: 'hello' },
    { status: 401, guards: ['auth deny'], uninspected: true },
  ],
  [
    'forward authentication and a WebSocket: its service lets it open',
    { path: '/chat', message: 'hello', headers: as('ann') },
    {
      ...{ status: 101, outcome: 'served' },
      body: `the origin took ${frame({ payload: 'hello' }).length} bytes`,
    },
    firstHttp,
  ],
  [
    'compression and a field: Vary of the site stays beside ours',
    { path: page, headers: gzip },
    { ...served, fields: { 'content-encoding': 'gzip', vary: 'Cookie, Accept-Encoding' } },
  ],
  [
    'compression and cookies: those of the origin are hardened',
    { path: `${page}&set-cookie=a=1`, headers: gzip },
    { ...served, fields: { 'content-encoding': 'gzip', 'set-cookie': 'a=1; HttpOnly' } },
  ],
  [
    'a rewrite and a body limit: the path that was sent decides',
    { method: 'POST', path: '/long', headers: formType, body: 'a=12345' },
    { ...served, target: '/short' },
  ],
  [
    'a rewrite and a time: the path that was sent decides',
    { path: '/quick' },
    { ...tooLate, refusal: 'origin_first_byte_timeout' },
  ],
  [
    'a body limit and a time: a length over the limit waits for nothing',
    { method: 'POST', path: '/short', body: 'a=12345' },
    { status: 413, outcome: 'refused', refusal: 'body_too_large' },
  ],
]);

const maintained = pairRows('pairs-closed', [
  ['maintenance and a WebSocket', { path: '/chat', message: 'hello' }, closed],
  [
    'maintenance and a redirect: under an open path it answers',
    { path: '/health/old' },
    { status: 308, outcome: 'served', uninspected: true, fields: { location: '/health/new' } },
  ],
  ['maintenance and a redirect: elsewhere the site is closed', { path: '/old' }, closed],
  [
    'maintenance and users: an open path asks for the password',
    { path: '/health/staff' },
    { status: 401, guards: ['auth deny'], uninspected: true },
  ],
  [
    'maintenance and compression: an open path is compressed',
    { path: '/page/health?bytes=3000', headers: gzip },
    { ...served, fields: { 'content-encoding': 'gzip' } },
  ],
]);

const loopback = { url: '$origin:auth/verify', allowedNetworks: ['127.0.0.0/8'] };

/** The group. */
export const pairGroup: ChainGroup = {
  setup: [
    ...policyCalls(policyOf, 'standard'),
    siteCall('pairs', {
      ...inspectedBy(policyOf),
      delivery: {
        forwardAuth: [{ pathPrefix: '/chat', ...loopback }],
        timeouts: [{ pathPrefix: '/quick', originAnswerMs: 300 }],
        compression: [{ pathPrefix: '/' }],
        responseFields: [{ name: 'Vary', value: 'Cookie' }],
        cookies: [{ httpOnly: true }],
        rewrites: [
          { path: '/long', target: '/short' },
          { path: '/quick', target: '/silent' },
        ],
        bodyLimits: [{ pathPrefix: '/short', maxBytes: '2' }],
      },
    }),
    siteCall('pairs-closed', {
      ...inspectedBy(policyOf),
      delivery: {
        maintenance: { enabled: true, allowedPaths: ['/health', '/page/health'] },
        redirects: [
          { path: '/health/old', target: '/health/new' },
          { path: '/old', target: '/new' },
        ],
        basicAuth: [{ pathPrefix: '/health/staff', users: [{ name: 'ann', passwordHash }] }],
        compression: [{ pathPrefix: '/' }],
      },
    }),
  ],
  rows: [...open, ...maintained],
};
