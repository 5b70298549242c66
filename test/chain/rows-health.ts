/** Rows on pools that are probed, that fail, and that are tried again. */

import type { ChainExpected, ChainGroup, ChainRequest, ChainRow, SetupCall } from './chain-row.ts';
import { formType, siteCall } from './chain-row.ts';

/** A port of the loopback network that nobody listens on: connections are refused. */
const nobody = 'http://127.0.0.1:9';
const well: ChainExpected = { status: 200, origin: 'a' };
const ill: ChainExpected = { status: 200, origin: 'ill' };

/**
 * What is probed, and who answers then. Origin `ill` answers requests as any other, but says under
 * `/health` that it is not well; both know the paths of the other rows. The address that is not
 * well comes first, with nearly all of the weight.
 */
const probes: readonly (readonly [says: string, check: object, expected: ChainExpected])[] = [
  ['no path probes nobody', { path: '' }, ill],
  ['the path is asked for', { path: '/health' }, well],
  ['another path is not', { path: '/' }, ill],
  ['a query is asked for as well', { path: '/echo?status=200' }, ill],
  ['the method, which is refused', { path: '/health/head-only', method: 'GET' }, well],
  ['the method, which is taken', { path: '/health/head-only', method: 'HEAD' }, ill],
  ['the status, as it is', { path: '/health', expectedStatus: 503 }, ill],
  ['the status, one that both have', { path: '/echo?status=204', expectedStatus: 204 }, ill],
  ['a text that one has not', { path: '/', expectedBody: 'from the origin a' }, well],
  ['a text that both have', { path: '/', expectedBody: 'from the origin' }, ill],
  ['the host, for which it is well', { path: '/health', host: 'well.test' }, ill],
  ['the host, for which it is not', { path: '/health', host: 'other.test' }, well],
  ['a redirect is no answer', { path: '/health/moved' }, well],
  ['a redirect is followed', { path: '/health/moved', followRedirects: true }, ill],
  ['an answer that does not come in time', { path: '/health/late', timeoutSeconds: 5 }, well],
  [
    'one answer in two is not healthy after a failed first one, for a threshold of two',
    { path: '/health/turns?of=2', intervalSeconds: 3, timeoutSeconds: 3, healthyThreshold: 2 },
    well,
  ],
  [
    'one failure in two is not unhealthy after a good first one, for a threshold of two',
    { path: '/health/slips?of=2', intervalSeconds: 3, timeoutSeconds: 3, unhealthyThreshold: 2 },
    ill,
  ],
];

/** Every request of these goes to the one address, however many there were. */
const many: readonly (readonly [says: string, request: ChainRequest, before: readonly number[]])[] =
  [
    ['a GET', {}, []],
    ['the next GETs', {}, [200, 200, 200]],
    ['a POST', { method: 'POST', headers: formType, body: 'a=1' }, []],
  ];

const probed = probes.flatMap(([says, , expected], at) =>
  many.map(([sent, request, before]): ChainRow => ({
    ...{ says: `Health checks, ${says}: ${sent}`, site: `health-${at}`, request, expected },
    ...(before.length > 0 && { before }),
  })),
);

const others: readonly ChainRow[] = [
  {
    says: 'Health checks: where all are unhealthy, they are asked anyway',
    ...{ site: 'health-none', request: {}, expected: ill },
  },
  {
    says: 'Health checks: the path of an address is probed where the pool names none',
    ...{ site: 'health-own', request: {}, expected: well },
  },
  {
    says: 'Health checks: the path of the pool wins over that of an address',
    ...{ site: 'health-both', request: {}, expected: ill },
  },
];

/** Origin `cuts` takes a request and closes without an answer. */
const failed: ChainExpected = { status: 502, outcome: 'origin_error' };
const ejected: readonly ChainRow[] = (['GET', 'POST', 'DELETE'] as const).flatMap((method) => {
  const request = method === 'POST' ? { method, headers: formType, body: 'a=1' } : { method };
  return [
    {
      says: `Resilience: a ${method} whose origin broke off is not sent twice`,
      ...{ site: `cuts-${method}`, request, ways: ['h1'], before: [], expected: failed },
    },
    {
      says: `Resilience: after passiveMaxFails failures an address gets no ${method}`,
      ...{ site: `cuts-${method}`, request, ways: ['h1'], before: [200, 200, 200], expected: well },
    },
    {
      says: `Resilience: the address that failed stays aside, ${method}`,
      ...{ site: `cuts-${method}`, request, ways: ['h1s', 'h2', 'h2s'], before: [200, 200] },
      expected: well,
    },
    {
      says: `Resilience: without passive health an address that fails keeps its share, ${method}`,
      ...{ site: `keeps-${method}`, request, ways: ['h1'], before: [502, 200, 502, 200] },
      expected: failed,
    },
  ];
});

const retried: readonly ChainRow[] = [
  {
    says: 'Resilience: an address that refuses is not waited for with retryEnabled false',
    ...{ site: 'retry-off', request: {}, expected: failed },
  },
  {
    says: 'Resilience: another address is tried with retryEnabled false as well',
    ...{ site: 'retry-other', request: {}, before: [200, 200, 200], expected: well },
  },
  {
    says: 'Resilience: what has a body is tried at another address, for it reached none',
    ...{ site: 'retry-other', before: [200, 200, 200], expected: { ...well } },
    request: { method: 'POST', headers: formType, body: 'a=1' },
  },
];

const endpoint = (url: string, weight: number, healthCheckPath = ''): object => ({
  ...{ url, weight, healthCheckPath },
});
const poolCall = (key: string, endpoints: readonly object[], more: object): SetupCall => ({
  rpc: 'UpstreamService/CreateUpstream',
  body: { upstream: { name: key, endpoints, ...more } },
  as: `pool:${key}`,
});
const at = (pool: string) => ({ upstreams: [{ upstreamId: `$pool:${pool}` }] });
const both = [endpoint('$origin:ill', 99), endpoint('$origin:a', 1)];
const usual = {
  ...{ method: 'GET', expectedStatus: 200, intervalSeconds: 3_600, timeoutSeconds: 60 },
  ...{ unhealthyThreshold: 3, healthyThreshold: 2 },
};
/** An address that broke off stays aside for the whole run. */
const strict = {
  ...{ passiveHealthEnabled: true, passiveMaxFails: 1, passiveFailDurationSeconds: 3_600 },
  retryEnabled: false,
};
const methods = ['GET', 'POST', 'DELETE'];

/** The group. */
export const healthGroup: ChainGroup = {
  setup: [
    ...probes.flatMap(([, check], index) => [
      poolCall(`health-${index}`, both, { healthCheck: { ...usual, ...check } }),
      siteCall(`health-${index}`, at(`health-${index}`)),
    ]),
    poolCall('health-none', [endpoint('$origin:ill', 1)], {
      healthCheck: { ...usual, path: '/health' },
    }),
    siteCall('health-none', at('health-none')),
    ...(['own', 'both'] as const).flatMap((key) => [
      poolCall(
        `health-${key}`,
        [endpoint('$origin:ill', 99, '/health'), endpoint('$origin:a', 1)],
        {
          healthCheck: { ...usual, path: key === 'own' ? '' : '/' },
        },
      ),
      siteCall(`health-${key}`, at(`health-${key}`)),
    ]),
    ...methods.flatMap((method) => [
      poolCall(`cuts-${method}`, [endpoint('$origin:cuts', 9), endpoint('$origin:a', 1)], {
        resilience: strict,
      }),
      siteCall(`cuts-${method}`, at(`cuts-${method}`)),
      poolCall(`keeps-${method}`, [endpoint('$origin:cuts', 1), endpoint('$origin:a', 1)], {
        resilience: { ...strict, passiveHealthEnabled: false },
      }),
      siteCall(`keeps-${method}`, at(`keeps-${method}`)),
    ]),
    poolCall('retry-off', [endpoint(nobody, 1)], { resilience: { retryEnabled: false } }),
    siteCall('retry-off', at('retry-off')),
    poolCall('retry-other', [endpoint(nobody, 9), endpoint('$origin:a', 1)], {
      resilience: { retryEnabled: false, passiveHealthEnabled: false },
    }),
    siteCall('retry-other', at('retry-other')),
  ],
  rows: [...probed, ...others, ...ejected, ...retried],
};
