/** Rows on rate limits and on the bot gate: who is counted, what is past a limit, who is asked. */

import type { ChainExpected, ChainGroup, ChainRequest, ChainRow, SetupCall } from './chain-row.ts';
import { listCall, siteCall, ways } from './chain-row.ts';

const limited: ChainExpected = { status: 429, guards: ['rate_limit deny'], uninspected: true };
const served: ChainExpected = { status: 200, origin: 'a' };
const ok = (count: number): number[] => Array.from({ length: count }, () => 200);

function limitCall(pathPattern: string, more: Readonly<Record<string, unknown>>): SetupCall {
  const endpoint = {
    ...{ siteId: '$site:rate', pathPattern, action: 'block', enforcementMode: 'enforce' },
    ...{ windowSeconds: 3_600, ...more },
  };
  return { rpc: 'RateLimitService/UpsertRateLimitEndpoint', body: { endpoint } };
}

/**
 * Path, requests before, and what the next one gets. Each way has an address of its own, so each
 * counts by itself.
 */
const counted: readonly (readonly [string, ChainRequest, readonly number[], ChainExpected])[] = [
  ['request 1 of 1', { path: '/one/a' }, [], served],
  ['the same path again is past it', { path: '/one/b' }, [], limited],
  ['request 3 of 3', { path: '/three/a' }, ok(2), served],
  ['request 4 of 3', { path: '/three/b' }, [], limited],
  ['another path is not counted', { path: '/free' }, ok(5), served],
  ['another method is not counted', { path: '/posts/a' }, ok(3), served],
  ['the method that is counted', { path: '/posts/a', method: 'POST', body: 'a' }, ok(2), limited],
  [
    'observed: past it the request passes, recorded',
    { path: '/watched/a' },
    ok(2),
    { ...served, guards: ['rate_limit monitor'] },
  ],
  ['another client has its own count', { path: '/one/a', from: 51 }, [], served],
  ['another client is past its own', { path: '/one/a', from: 51 }, [], limited],
  ['an escape does not count', { path: '/%6fne/a', from: 51 }, [], limited],
  ['case of a path, by another client', { path: '/three/a', from: 52 }, ok(3), limited],
];

function key(value: string): Readonly<Record<string, string>> {
  return { 'x-api-key': value };
}

/** The field counts over all ways, so that each way has values of its own. */
const keyRows = ways.flatMap((way) =>
  (
    [
      ['a value has its own count', 'v1', ok(1), served],
      ['past it', 'v1', [], limited],
      ['another value', 'v2', ok(1), served],
      ['past it with another value', 'v2', [], limited],
    ] as const
  ).map(([says, value, before, expected]): ChainRow => ({
    ...{ says: `Rate limits: by a field, ${way}: ${says}`, site: 'rate', ways: [way] },
    ...{ request: { path: '/key/a', headers: key(`${value}-${way}`) }, before, expected },
  })),
);

/** A client of its own for each way and row, where the rows name one. */
const countedRows = counted.map(([says, request, before, expected]): ChainRow => {
  const row = { says: `Rate limits: ${says}`, site: 'rate', request, before, expected };
  return request.from === undefined ? row : { ...row, ways: ['h1'] };
});

const banned: readonly ChainRow[] = [
  { ...visit('/trap', [200], limited), says: 'Rate limits: a ban begins past its limit' },
  { ...visit('/elsewhere', [], limited), says: 'Rate limits: a ban holds for all of the site' },
  {
    ...{ says: 'Rate limits: a ban of one client is none of another', site: 'ban', before: [] },
    ...{ request: { path: '/elsewhere', from: 53 }, expected: served },
  },
];

function visit(
  path: string,
  before: readonly number[],
  expected: ChainExpected,
): Omit<ChainRow, 'says'> {
  return { site: 'ban', request: { path }, before, expected };
}

const asked: ChainExpected = { status: 403, outcome: 'challenged', guards: ['bot challenge'] };
const refused: ChainExpected = { status: 403, guards: ['bot deny'], uninspected: true };
const html = { accept: 'text/html' };

const gate: readonly (readonly [string, ChainRequest, ChainExpected])[] = [
  ['a browser is asked, on a page', { headers: html }, { ...asked, body: '<html' }],
  ['a browser is asked at any path', { path: '/shop?a=b', headers: html }, asked],
  ['a program is refused, in JSON', {}, { ...refused, body: '"kind":"bot_block"' }],
  ['a program that takes JSON', { headers: { accept: 'application/json' } }, refused],
  ['what a browser posts without a pass is refused', post(html), refused],
  ['what a program posts is refused', post({}), refused],
  ['a false pass is no pass', { headers: { cookie: 'waf_clearance_000000000000=x' } }, refused],
  ['an exempt path', { path: '/health' }, served],
  ['below an exempt path', { path: '/health/live' }, served],
  ['an exempt path is bounded by segments', { path: '/healthy' }, refused],
  ['dots lead out of an exempt path', { path: '/health/../x' }, refused],
  ['what some origins take for a host is not exempt', { path: '//health' }, refused],
  ['robots.txt is for machines', { path: '/robots.txt' }, served],
  ['nothing lies below it', { path: '/robots.txt/x' }, refused],
  ['an exempt method', { method: 'OPTIONS' }, served],
  ['another method', { method: 'DELETE' }, refused],
  ['a trusted address', { from: 61 }, served],
  ['another address', { from: 62 }, refused],
  ['a user agent alone proves nothing', { headers: { 'user-agent': 'curl/8' } }, refused],
];

function post(headers: Readonly<Record<string, string>>): ChainRequest {
  return { method: 'POST', headers, body: 'a=1' };
}

const gateRows = gate.map(([says, request, expected]): ChainRow => {
  return { says: `Bot gate: ${says}`, site: 'bot', request, expected };
});

const offRows: readonly ChainRow[] = [
  ['a browser', { headers: html }] as const,
  ['a program', {}] as const,
].map(([says, request]) => ({
  ...{ says: `Bot gate: off by itself, ${says}`, site: 'rate', request },
  expected: served,
}));

/** The group. */
export const visitorGroup: ChainGroup = {
  setup: [
    siteCall('rate'),
    limitCall('/one/*', { requestCount: 1 }),
    limitCall('/three/*', { requestCount: 3 }),
    limitCall('/posts/*', { requestCount: 2, methodMode: 'include', methods: ['POST'] }),
    limitCall('/key/*', { requestCount: 2, countingKey: 'header:x-api-key' }),
    limitCall('/watched/*', { requestCount: 2, enforcementMode: 'observe' }),
    siteCall('ban'),
    limitCall('/trap', {
      ...{ siteId: '$site:ban', requestCount: 1, action: 'ban', banScope: 'site' },
      mitigationSeconds: 3_600,
    }),
    listCall('trusted', ['127.0.1.61']),
    siteCall('bot', {
      botProtection: {
        mode: 'BOT_PROTECTION_MODE_BROWSER_CHECK',
        proofDifficulty: 12,
        exemptPaths: ['/health'],
        exemptMethods: ['OPTIONS'],
        trustedIpListIds: ['$list:trusted'],
      },
    }),
  ],
  rows: [...countedRows, ...keyRows, ...banned, ...gateRows, ...offRows],
};
