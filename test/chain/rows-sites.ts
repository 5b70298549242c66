/** Rows on hosts, path routing and delivery: the site rules of the specification. */

import type { ChainExpected, ChainGroup, ChainRow } from './chain-row.ts';
import { domain, plainWays, secureWays, siteCall } from './chain-row.ts';

const nobody: ChainExpected = { status: 404, outcome: 'unrouted', site: '' };

/** Host as sent, and the site that must serve it; '' for none. */
const hosts: readonly (readonly [says: string, host: string, site: string])[] = [
  ['the primary host', `hosts.${domain}`, 'hosts'],
  ['case of a host does not count', `HOSTS.Chain.Test`, 'hosts'],
  ['the port of a host does not count', `hosts.${domain}:8443`, 'hosts'],
  ['an alias', `alias.${domain}`, 'hosts'],
  ['case of an alias does not count', `Alias.${domain}`, 'hosts'],
  ['a wildcard replaces one label', `www.wild.${domain}`, 'hosts'],
  ['a wildcard replaces one label, whatever it holds', `x-1.wild.${domain}`, 'hosts'],
  ['case of a wildcard does not count', `WWW.Wild.${domain}`, 'hosts'],
  ['a wildcard with a port', `www.wild.${domain}:80`, 'hosts'],
  ['a wildcard is not the bare domain', `wild.${domain}`, ''],
  ['a wildcard is no deeper name', `a.c.wild.${domain}`, ''],
  ['a wildcard replaces whole labels', `wwwwild.${domain}`, ''],
  ['a deeper wildcard is a site of its own', `a.b.wild.${domain}`, 'deep'],
  ['a deeper wildcard is no name above it', `b.b.b.wild.${domain}`, ''],
  ['a concrete host comes before a wildcard', `one.wild.${domain}`, 'concrete'],
  ['a concrete host is no wildcard', `a.one.wild.${domain}`, ''],
  ['a host is not its subdomains', `www.hosts.${domain}`, ''],
  ['a host is not its parent', domain, ''],
  ['a host is not a prefix', `hosts.${domain}.example`, ''],
  ['a host is not a suffix', `xhosts.${domain}`, ''],
  ['an unknown host', `unknown.${domain}`, ''],
  ['an address is no host of a site', '127.0.0.1', ''],
];

const hostRows = hosts.map(([says, host, site]): ChainRow => {
  const expected = site === '' ? nobody : { status: 200, site, origin: 'a' };
  return { says: `Site rule 1: ${says}`, site: 'hosts', request: { host }, expected };
});

/** Path as sent, origin that gets it, target as it gets it. */
const routes: readonly (readonly [says: string, path: string, origin: string, target: string])[] = [
  ['no route', '/', 'a', '/'],
  ['no route, with a query', '/?x=/api', 'a', '/?x=/api'],
  ['a prefix', '/api', 'b', '/api'],
  ['a prefix with a slash', '/api/', 'b', '/api/'],
  ['a path below a prefix is preserved', '/api/users?id=1', 'b', '/api/users?id=1'],
  ['a prefix is bounded by segments', '/apix', 'a', '/apix'],
  ['a prefix is bounded by segments, below', '/apix/api', 'a', '/apix/api'],
  ['a prefix begins the path', '/x/api', 'a', '/x/api'],
  ['case of a prefix does not count', '/API/users', 'b', '/API/users'],
  ['the longest prefix', '/api/v2/users', 'c', '/users'],
  ['the longest prefix, and its query', '/api/v2/users?a=/api', 'c', '/users?a=/api'],
  ['the longest prefix by itself', '/api/v2', 'c', '/'],
  ['the longest prefix with a slash', '/api/v2/', 'c', '/'],
  ['the longest prefix alone with a query', '/api/v2?x', 'c', '/?x'],
  ['the longest prefix is bounded by segments', '/api/v2x', 'b', '/api/v2x'],
  ['a shorter prefix where the longer does not fit', '/api/v1/v2', 'b', '/api/v1/v2'],
  ['a prefix of two segments needs both', '/deep', 'a', '/deep'],
  ['a prefix of two segments', '/deep/down', 'b', '/deep/down'],
  ['a prefix of two segments, below', '/deep/down/x', 'b', '/deep/down/x'],
  ['a prefix of two segments, bounded', '/deep/downx', 'a', '/deep/downx'],
  ['a stripped prefix', '/cut/x', 'c', '/x'],
  ['a stripped prefix stands once', '/cut/cut/x', 'c', '/cut/x'],
  ['a stripped prefix keeps escapes', '/cut/a%20b', 'c', '/a%20b'],
  ['an escape in a preserved path', '/api/a%20b', 'b', '/api/a%20b'],
];

const routeRows = routes.map(([says, path, origin, target]): ChainRow => {
  const expected = { status: 200, origin, target };
  return { says: `Site rule 4: ${says}`, site: 'routes', request: { path }, expected };
});

/** Paths that two readers route differently are refused. */
const ambiguous = ['/%61pi/x', '/api/%2e%2e/cut/x', '/cut%2fx', '/./api', '/x/../api'].map(
  (path): ChainRow => ({
    says: `Site rule 4: a path that means two routes (${path})`,
    site: 'routes',
    request: { path },
    expected: { status: 400, outcome: 'refused', refusal: 'path_ambiguous' },
  }),
);

const strictRows = (
  [
    ['a route', '/only', 'b'],
    ['a path below a route', '/only/x', 'b'],
    ['no route is 404', '/', ''],
    ['a prefix is bounded by segments', '/onlyx', ''],
    ['a path beside the route is 404', '/other', ''],
  ] as const
).map(([says, path, origin]): ChainRow => {
  const found: ChainExpected = { status: 200, origin, target: path };
  const expected: ChainExpected =
    origin === '' ? { status: 404, outcome: 'unrouted', fields: { 'x-origin': null } } : found;
  return {
    says: `Site rule 4: unmatched 404, ${says}`,
    site: 'strict',
    request: { path },
    expected,
  };
});

/** What plain HTTP gets where a site has TLS. */
const redirectRows: readonly ChainRow[] = [
  ...['/', '/a?b=c', '/deep/path/'].map((path): ChainRow => ({
    says: `Site rule 6: plain HTTP is redirected (${path})`,
    site: 'redirect',
    request: { path },
    ways: plainWays,
    expected: { status: 308, outcome: 'served', fields: { 'x-origin': null } },
  })),
  {
    says: 'Site rule 6: over TLS nothing is redirected, and the promise is made',
    site: 'redirect',
    request: {},
    ways: secureWays,
    expected: { status: 200, origin: 'a', fields: { 'strict-transport-security': 'max-age=60' } },
  },
  {
    says: 'Site rule 6: a site without HSTS promises nothing',
    site: 'hosts',
    request: {},
    ways: secureWays,
    expected: { status: 200, origin: 'a', fields: { 'strict-transport-security': null } },
  },
];

const forwarded: readonly ChainRow[] = [
  {
    says: 'Delivery: the origin learns that the client spoke plain HTTP',
    site: 'hosts',
    request: { from: 21 },
    ways: plainWays,
    expected: { status: 200, fields: { 'x-proto': 'http', 'x-for': '127.0.1.21' } },
  },
  {
    says: 'Delivery: the origin learns that the client spoke TLS',
    site: 'hosts',
    request: {},
    ways: secureWays,
    expected: { status: 200, fields: { 'x-proto': 'https' } },
  },
  {
    says: 'Delivery: what a client claims of itself is replaced',
    site: 'hosts',
    request: {
      from: 20,
      headers: { 'x-forwarded-for': '198.51.100.1', 'x-forwarded-proto': 'gopher' },
    },
    expected: { status: 200, fields: { 'x-for': '127.0.1.20' } },
  },
];

const route = (pathPrefix: string, pool: string, mode = 'PRESERVE') => ({
  ...{ name: pathPrefix, pathPrefix, upstreamId: `$pool:${pool}` },
  rewriteMode: `PATH_REWRITE_MODE_${mode}`,
});

/** The group. */
export const siteGroup: ChainGroup = {
  setup: [
    siteCall('hosts', { aliases: [`alias.${domain}`, `*.wild.${domain}`] }),
    siteCall('deep', { primaryHost: `*.b.wild.${domain}` }),
    siteCall('concrete', { primaryHost: `one.wild.${domain}` }),
    siteCall('routes'),
    siteCall('strict'),
    siteCall('redirect', {
      tls: {
        mode: 'TLS_MODE_UPLOADED',
        certId: '$cert:chain',
        httpBehavior: 'TLS_HTTP_BEHAVIOR_REDIRECT_TO_HTTPS',
        hstsMaxAgeSeconds: 60,
      },
    }),
    {
      rpc: 'SiteService/UpdateSiteRouting',
      body: {
        siteId: '$site:routes',
        routing: {
          routes: [
            route('/api', 'b'),
            route('/api/v2', 'c', 'STRIP_PREFIX'),
            route('/deep/down', 'b'),
            route('/cut', 'c', 'STRIP_PREFIX'),
          ],
          unmatchedAction: 'UNMATCHED_PATH_ACTION_DEFAULT_UPSTREAM',
        },
      },
    },
    {
      rpc: 'SiteService/UpdateSiteRouting',
      body: {
        siteId: '$site:strict',
        routing: {
          routes: [route('/only', 'b')],
          unmatchedAction: 'UNMATCHED_PATH_ACTION_RETURN_404',
        },
      },
    },
  ],
  rows: [...hostRows, ...routeRows, ...ambiguous, ...strictRows, ...redirectRows, ...forwarded],
};
