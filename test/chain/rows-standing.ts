/** Rows on the fields that tell clients how they stand with rate limits. */

import type { ChainExpected, ChainGroup, ChainRow, SetupCall, Way } from './chain-row.ts';
import { inspectedBy, policyCalls, siteCall, ways } from './chain-row.ts';

const form = (name: string, parts: string): RegExp => new RegExp(`^"[\\w-]+";${name}=${parts}$`);
const policy = { 'ratelimit-policy': form('q', '2;w=3600') };
const left = (remaining: number): Pick<ChainExpected, 'forms'> => ({
  forms: { ...policy, ratelimit: form('r', `${remaining};t=3600`) },
});
const none = { fields: { ratelimit: null, 'ratelimit-policy': null } };
const served = { status: 200, origin: 'a' };

const rowsOf = (way: Way): ChainRow[] => {
  const counted = { path: '/counted/a', headers: { 'x-token': `standing ${way}` } };
  const attack = `/?id=${encodeURIComponent("1' OR '1'='1")}`;
  const cases: readonly (readonly [string, ChainRow['request'], ChainExpected])[] = [
    ['the first request leaves one', counted, { ...served, ...left(1) }],
    ['the second leaves none', counted, { ...served, ...left(0) }],
    [
      'past the limit it is said when',
      counted,
      {
        ...{ status: 429, outcome: 'blocked', guards: ['rate_limit deny'] },
        forms: { ...policy, ratelimit: form('r', '0;t=\\d{1,4}'), 'retry-after': /^\d{1,4}$/ },
      },
    ],
    ['where no limit applies nothing is said', { path: '/' }, { ...served, ...none }],
    ['an observed limit is not told', { path: '/seen' }, { ...served, ...none }],
    [
      'what the rules refuse has them, too',
      { path: `/also${attack}`, headers: { 'x-token': `refused ${way}` } },
      { status: 403, with: [942_100], ...left(1) },
    ],
  ];
  const told = cases.map(([says, request, expected]): ChainRow => ({
    ...{ says: `RateLimit fields over ${way}: ${says}`, site: 'told', ways: [way], before: [] },
    ...{ request, expected },
  }));
  const quiet: ChainRow = {
    ...{ says: `RateLimit fields over ${way}: off`, site: 'untold', ways: [way], before: [] },
    ...{ request: counted, expected: { ...served, ...none } },
  };
  return [...told, quiet];
};

const limit = (site: string, pathPattern: string, enforcementMode = 'enforce'): SetupCall => ({
  rpc: 'RateLimitService/UpsertRateLimitEndpoint',
  body: {
    endpoint: {
      ...{ siteId: `$site:${site}`, pathPattern, action: 'block', enforcementMode },
      ...{ windowSeconds: 3_600, requestCount: 2, countingKey: 'header:X-Token' },
    },
  },
});

/** The group. */
export const standingGroup: ChainGroup = {
  setup: [
    ...policyCalls('told', 'standard'),
    siteCall('told', inspectedBy('told')),
    siteCall('untold'),
    limit('told', '/counted/*'),
    limit('told', '/also/*'),
    limit('told', '/seen', 'observe'),
    limit('untold', '/counted/*'),
  ],
  later: [
    {
      rpc: 'SystemService/UpdateSystemSettings',
      body: { values: { 'rate_limit.fields': { '$site:told': 'on' } } },
    },
  ],
  rows: ways.flatMap(rowsOf),
};
