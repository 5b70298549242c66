/** Rows on rate limits: who is counted, what a solved challenge is worth, and bans of all sites. */

import type { ChainExpected, ChainGroup, ChainRequest, ChainRow, SetupCall } from './chain-row.ts';
import { siteCall, ways } from './chain-row.ts';

const limited: ChainExpected = { status: 429, guards: ['rate_limit deny'], uninspected: true };
const served: ChainExpected = { status: 200, origin: 'a' };
const html = { accept: 'text/html' };

type Told = readonly [
  says: string,
  request: ChainRequest,
  before: readonly number[],
  expected: ChainExpected,
];

const cookie = (text: string): ChainRequest => ({
  ...{ path: '/session/a', headers: { cookie: text } },
});
const bearer = (text: string): ChainRequest => ({
  ...{ path: '/session/a', headers: { authorization: text } },
});
const token = (value?: string): ChainRequest => ({
  path: '/token/a',
  headers: value === undefined ? {} : { 'x-token': value },
});

/** Two requests for each value. All ways count together, so that each has values of its own. */
const countedBy = (way: string): readonly Told[] => [
  ['the second of a session', cookie(`PHPSESSID=1${way}`), [200], served],
  ['the third of a session is past it', cookie(`PHPSESSID=1${way}`), [], limited],
  ['another session of the client', cookie(`PHPSESSID=2${way}`), [200], served],
  ['past it in the other session', cookie(`PHPSESSID=2${way}`), [], limited],
  ['a session among other cookies', cookie(`a=b; PHPSESSID=1${way}; c=d`), [], limited],
  ['a session under a common name', cookie(`connect.sid=3${way}`), [200], served],
  ['the same session in another case', cookie(`Connect.Sid=3${way}`), [], limited],
  ['a prefixed name is the same session', cookie(`__Host-connect.sid=3${way}`), [], limited],
  ['credentials are a session', bearer(`Bearer ${way}`), [200], served],
  ['past it with the same credentials', bearer(`Bearer ${way}`), [], limited],
  ['other credentials', bearer(`Bearer other ${way}`), [], served],
  ['without a session the address counts', { path: '/session/a' }, [200], served],
  ['without a session, past it', { path: '/session/a' }, [], limited],
  ['a cookie that is no session counts by address', cookie(`theme=${way}`), [], limited],
  ['the second with a token', token(`1${way}`), [200], served],
  ['the third with it is past it', token(`1${way}`), [], limited],
  ['case of a value counts', token(`1${way.toUpperCase()}`), [200], served],
  ['without the field the address counts', token(), [200], served],
  ['without the field, past it', token(), [], limited],
  ['an empty field is none', token(''), [], limited],
];

const page: ChainRequest = { path: '/asked/a', headers: html };
const solved: ChainRequest = { ...page, solves: '/asked/a' };
const challenged: ChainExpected = {
  ...{ status: 403, outcome: 'challenged', guards: ['rate_limit challenge'], body: '<html' },
};

/** One request unverified, three verified. */
const askedRows: readonly Told[] = [
  ['within its limit nobody is asked', page, [], served],
  ['past it a browser is asked', page, [], challenged],
  ['who does not solve is asked again', page, [], challenged],
  ['a program is refused past it, in JSON', { path: '/asked/a' }, [], { ...limited }],
  ['a path that is not counted asks nobody', { path: '/free', headers: html }, [], served],
  ['who solves it is served', solved, [], served],
  ['within the limit of the verified', solved, [200], served],
  ['past the limit of the verified', solved, [], limited],
  [
    'a false pass is none',
    { ...page, headers: { ...html, cookie: 'waf_clearance_000000000000=x' } },
    [],
    challenged,
  ],
  ['a POST past it', { ...page, method: 'POST', body: 'a=1' }, [], limited],
];

const observedRows: readonly Told[] = [
  ['within its limit', { path: '/watched/a', headers: html }, [], served],
  [
    'past it the request passes, recorded',
    { path: '/watched/a', headers: html },
    [],
    { ...served, guards: ['rate_limit monitor'] },
  ],
];

const banned = limited;
/** The address of the client is its own here: the ban holds at every site. */
const banRows = (from: number): readonly (readonly [site: string, Told])[] => [
  ['rates-other', ['another site before a ban', { path: '/', from }, [], served]],
  ['rates', ['a ban of all sites begins past its limit', { path: '/trap', from }, [200], banned]],
  ['rates', ['it holds at its own site', { path: '/', from }, [], banned]],
  ['rates-other', ['it holds at another site', { path: '/', from }, [], banned]],
  [
    'rates-other',
    ['it holds whatever the path', { path: '/x?y', method: 'POST', body: '', from }, [], banned],
  ],
  ['rates-other', ['another client is not banned', { path: '/', from: from + 1 }, [], served]],
];

const row = (site: string, way: (typeof ways)[number], told: Told): ChainRow => {
  const [says, request, before, expected] = told;
  const name = `Rate limits over ${way}: ${says}`;
  return { ...{ says: name, site, ways: [way] }, request, before, expected };
};

const rows = ways.flatMap((way, at) => [
  ...countedBy(way).map((told) => row('rates', way, told)),
  ...askedRows.map(([says, ...rest]) => row('rates', way, [`challenge, ${says}`, ...rest])),
  ...observedRows.map(([says, ...rest]) => row('rates', way, [`observed, ${says}`, ...rest])),
  ...banRows(71 + 2 * at).map(([site, told]) => row(site, way, told)),
]);

const limitCall = (pathPattern: string, more: object): SetupCall => ({
  rpc: 'RateLimitService/UpsertRateLimitEndpoint',
  body: {
    endpoint: {
      ...{ siteId: '$site:rates', pathPattern, action: 'block', enforcementMode: 'enforce' },
      ...{ windowSeconds: 3_600, ...more },
    },
  },
});
const asks = {
  ...{ action: 'challenge', challengeProfile: 'custom', proofDifficulty: 12 },
  ...{ requestCount: 1, verifiedRequestCount: 3, verifiedWindowSeconds: 3_600 },
};

/** The group. */
export const rateGroup: ChainGroup = {
  setup: [
    siteCall('rates'),
    siteCall('rates-other'),
    limitCall('/session/*', { requestCount: 2, countingKey: 'session' }),
    limitCall('/token/*', { requestCount: 2, countingKey: 'header:X-Token' }),
    limitCall('/asked/*', asks),
    limitCall('/watched/*', { ...asks, enforcementMode: 'observe' }),
    limitCall('/trap', {
      ...{ requestCount: 1, action: 'ban', banScope: 'global', mitigationSeconds: 3_600 },
    }),
  ],
  rows,
};
