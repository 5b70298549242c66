/** Rows on pools: addresses that fail, the fields of an operator, and what the origin learns. */

import type { ChainExpected, ChainGroup, ChainRequest, ChainRow, SetupCall } from './chain-row.ts';
import { domain, formType, siteCall } from './chain-row.ts';

/** A port of the loopback network that nobody listens on: connections are refused. */
const nobody = 'http://127.0.0.1:9';
const failed: ChainExpected = { status: 502, outcome: 'origin_error' };
const served: ChainExpected = { status: 200, origin: 'a' };

const requests: readonly (readonly [says: string, request: ChainRequest])[] = [
  ['a GET', {}],
  ['a HEAD', { method: 'HEAD' }],
  ['a DELETE', { method: 'DELETE' }],
  ['a POST', { method: 'POST', headers: formType, body: 'a=1' }],
  ['a POST without a length', { method: 'POST', headers: formType, body: 'a=1', chunked: true }],
];

const failing = requests.flatMap(([says, request]): ChainRow[] => [
  {
    ...{ says: `Pools: ${says} to an address that refuses`, site: 'pools-dead', request },
    expected: { ...failed, fields: { 'x-origin': null, server: null } },
  },
  {
    says: `Pools: ${says} goes to an address that answers, beside one that refuses`,
    ...{ site: 'pools-half', request, expected: served },
  },
  {
    says: `Pools: ${says} to a route whose address refuses`,
    site: 'pools-route',
    request: { ...request, path: '/dead/x' },
    expected: failed,
  },
  {
    says: `Pools: ${says} beside a route whose address refuses`,
    site: 'pools-route',
    request: { ...request, path: '/deadly' },
    expected: served,
  },
]);

const told = (
  [
    ['Host is preserved', 'pools-half', {}, { 'x-host': `pools-half.${domain}` }],
    ['Host is rewritten where the pool names one', 'pools-fields', {}, { 'x-host': 'inner.test' }],
    ['a field of the pool is added', 'pools-fields', {}, { 'x-added': 'by the pool' }],
    [
      'a field of the pool replaces that of the client',
      'pools-fields',
      { headers: { 'x-added': 'by the client' } },
      { 'x-added': 'by the pool' },
    ],
    [
      'a field of the client arrives where no pool has it',
      'pools-half',
      { headers: { 'x-added': 'by the client' } },
      { 'x-added': 'by the client' },
    ],
  ] as const
).map(([says, site, request, fields]): ChainRow => ({
  ...{ says: `Pools: ${says}`, site, request, expected: { ...served, fields } },
}));

const poolCall = (key: string, urls: readonly string[], more: object = {}): SetupCall => ({
  rpc: 'UpstreamService/CreateUpstream',
  body: {
    upstream: { name: key, endpoints: urls.map((url) => ({ url, weight: 1 })), ...more },
  },
  as: `pool:${key}`,
});
const at = (pool: string) => ({ upstreams: [{ upstreamId: `$pool:${pool}` }] });

/** The group. */
export const poolGroup: ChainGroup = {
  setup: [
    poolCall('dead', [nobody]),
    poolCall('half', [nobody, '$origin:a']),
    poolCall('fields', ['$origin:a'], {
      requestHeaders: { Host: 'inner.test', 'X-Added': 'by the pool' },
    }),
    siteCall('pools-dead', at('dead')),
    siteCall('pools-half', at('half')),
    siteCall('pools-fields', at('fields')),
    siteCall('pools-route'),
    {
      rpc: 'SiteService/UpdateSiteRouting',
      body: {
        siteId: '$site:pools-route',
        routing: {
          routes: [
            {
              ...{ name: 'dead', pathPrefix: '/dead', upstreamId: '$pool:dead' },
              rewriteMode: 'PATH_REWRITE_MODE_PRESERVE',
            },
          ],
          unmatchedAction: 'UNMATCHED_PATH_ACTION_DEFAULT_UPSTREAM',
        },
      },
    },
  ],
  rows: [...failing, ...told],
};
