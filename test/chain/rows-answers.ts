/** Rows on what clients read when the product itself answers, and on what leaks with it. */

import type { ChainExpected, ChainGroup, ChainRequest, ChainRow, SetupCall } from './chain-row.ts';
import { inspectedBy, listCall, policyCalls, siteCall } from './chain-row.ts';

const attack = '/?id=1%27%20OR%20%271%27=%271';

/** Scenario, the request that meets it, and what becomes of it. */
interface Scenario {
  readonly kind: string;
  readonly site: string;
  readonly path: string;
  readonly expected: ChainExpected;
}

const scenarios: readonly Scenario[] = [
  {
    ...{ kind: 'waf_block', site: 'answers-waf', path: attack },
    expected: { status: 403, with: [942_100] },
  },
  {
    ...{ kind: 'ip_deny', site: 'answers', path: '/listed' },
    expected: { status: 403, guards: ['ip deny'], uninspected: true },
  },
  {
    ...{ kind: 'rate_limit', site: 'answers', path: '/often' },
    expected: { status: 429, guards: ['rate_limit deny'], uninspected: true },
  },
  {
    ...{ kind: 'country_deny', site: 'answers-country', path: '/' },
    expected: { status: 403, guards: ['country deny'], uninspected: true },
  },
];

/** How clients ask, and a part of what they read. */
const readers: readonly (readonly [
  says: string,
  request: ChainRequest,
  read: (kind: string) => ChainExpected['body'],
  type: string,
])[] = [
  [
    'a browser reads a page',
    { headers: { accept: 'text/html,*/*;q=0.8' } },
    () => '<html',
    'text/html; charset=utf-8',
  ],
  [
    'a program reads JSON',
    { headers: { accept: 'application/json' } },
    (kind) => `"kind":"${kind}"`,
    'application/json',
  ],
  ['who takes anything reads JSON', {}, (kind) => `"kind":"${kind}"`, 'application/json'],
  ['a HEAD gets the status alone', { method: 'HEAD' }, () => undefined, 'application/json'],
];

/** Nothing of these leaves with an answer of our own. */
const silent = { server: null, 'x-powered-by': null, 'x-origin': null, via: null };

const rows = scenarios.flatMap(({ kind, site, path, expected }) =>
  readers.map(([says, request, read, type], at): ChainRow => {
    const body = read(kind);
    const fields = { ...silent, 'content-type': type, 'cache-control': 'no-store' };
    const part = body === undefined ? {} : { body };
    const rate = kind === 'rate_limit';
    return {
      says: `Responses, ${kind}: ${says}`,
      site,
      request: {
        ...request,
        path: rate ? `${path}/${at}/x` : path,
      },
      ...(rate && { before: [200] }),
      expected: { ...expected, ...part, fields },
    };
  }),
);

/** No operator worded what a host without a site gets: one plain line, whoever asks. */
const unrouted = readers.map(([says, request]): ChainRow => ({
  says: `Responses, no site, in plain text where otherwise ${says}`,
  site: 'answers',
  request: { ...request, host: 'nobody.chain.test' },
  expected: {
    ...{ status: 404, outcome: 'unrouted', site: '' },
    fields: { ...silent, 'content-type': 'text/plain; charset=utf-8' },
  },
}));

const limit = (pathPattern: string): SetupCall => {
  const endpoint = {
    ...{ siteId: '$site:answers', pathPattern, action: 'block', enforcementMode: 'enforce' },
    ...{ windowSeconds: 3_600, requestCount: 1 },
  };
  return { rpc: 'RateLimitService/UpsertRateLimitEndpoint', body: { endpoint } };
};

/** The group. */
export const answerGroup: ChainGroup = {
  setup: [
    ...policyCalls('answers', 'standard'),
    listCall('answers', ['127.0.0.0/8']),
    siteCall('answers'),
    siteCall('answers-waf', inspectedBy('answers')),
    siteCall('answers-country'),
    {
      rpc: 'IpListService/UpsertIpListBinding',
      body: {
        binding: {
          ...{ siteId: '$site:answers', ipListId: '$list:answers', kind: 'deny', sortOrder: 1 },
          ...{ addressSource: 'client_ip', matchMode: 'in_list', pathPrefix: '/listed' },
        },
      },
    },
    {
      rpc: 'CountryAccessService/UpsertCountryAccessRule',
      body: {
        rule: {
          ...{ name: 'answers', enabled: true, kind: 'deny', countryCodes: ['NL'] },
          ...{ addressSource: 'client_ip', matchMode: 'not_in_list', sortOrder: 1 },
          targets: [{ scope: 'site', siteId: '$site:answers-country' }],
        },
      },
    },
    ...readers.map((_, at) => limit(`/often/${at}/*`)),
  ],
  rows: [...rows, ...unrouted],
};
