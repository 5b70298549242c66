/** Rows on what operators of other proxies expect of delivery: what a site answers by itself. */

import { hashPathPassword } from '../../base/path-password.ts';
import type { ChainExpected, ChainGroup, ChainRequest, ChainRow } from './chain-row.ts';
import { domain, formType, inspectedBy, listCall, policyCalls, siteCall } from './chain-row.ts';

const salt = Buffer.alloc(16, 7);
const passwordHash = hashPathPassword('correct horse', salt);
const otherHash = hashPathPassword('battery staple', salt);
const basic = (name: string, password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`,
});
const attack = '/?id=1%27%20OR%20%271%27=%271';
const policyOf = 'edge';

type Case = readonly [says: string, request: ChainRequest, expected: ChainExpected];

const rowsOf = (site: string, topic: string, cases: readonly Case[]): ChainRow[] =>
  cases.map(([says, request, expected]) => ({
    says: `${topic}: ${says}`,
    ...{ site, request, expected },
  }));

const passed: ChainExpected = { status: 200, origin: 'a' };
const closed: ChainExpected = {
  ...{ status: 503, outcome: 'refused', refusal: 'maintenance', uninspected: true },
  fields: { 'retry-after': '600', 'x-origin': null, 'cache-control': 'no-store' },
};

const maintenance = rowsOf('edge-closed', 'Maintenance', [
  ['a page gets 503 and when to come again', {}, closed],
  ['a POST gets the same', { method: 'POST', headers: formType, body: 'a=1' }, closed],
  ['a HEAD gets the same', { method: 'HEAD' }, closed],
  ['an attack gets the same', { path: attack }, closed],
  [
    'a browser reads the wording of the site',
    { headers: { accept: 'text/html' } },
    { ...closed, body: '<h1>Back at noon</h1>' },
  ],
  ['a program reads it as JSON', {}, { ...closed, body: '"title":"Back at noon"' }],
  ['a path that stays open is served', { path: '/health' }, passed],
  ['what lies under an open path is served', { path: '/health/live' }, passed],
  ['an open path is bounded by segments', { path: '/healthy' }, closed],
  ['no dots lead out of an open path', { path: '/health/../shop' }, closed],
  ['an encoded path is not open by one reading', { path: '/health/%2e%2e/shop' }, closed],
  ['an allowed address is served', { from: 77 }, passed],
  ['an allowed network is served', { from: 130 }, passed],
  ['an attack of an allowed address is blocked', { from: 77, path: attack }, { status: 403 }],
]);

const moved = (status: number, location: string): ChainExpected => ({
  ...{ status, outcome: 'served', uninspected: true },
  fields: { location, 'x-origin': null },
});

const redirects = rowsOf('edge-moved', 'Redirects', [
  ['a path', { path: '/old' }, moved(301, '/new')],
  ['its query goes along', { path: '/old?a=b&c' }, moved(301, '/new?a=b&c')],
  ['a target with a query keeps its own', { path: '/find?a=b' }, moved(302, '/search?q=all')],
  ['a path is not what lies under it', { path: '/old/x' }, passed],
  ['a path is not one that begins so', { path: '/older' }, passed],
  ['case of a path counts', { path: '/OLD' }, passed],
  ['what lies under a path', { path: '/docs/a/b?x=1' }, moved(308, '/help/a/b?x=1')],
  ['the path itself, with nothing under it', { path: '/docs' }, moved(308, '/help/')],
  ['to another host', { path: '/shop/cart' }, moved(307, 'https://shop.example/from/cart')],
  [
    'a POST keeps its method by 307',
    { method: 'POST', path: '/shop/pay', body: '' },
    moved(307, 'https://shop.example/from/pay'),
  ],
  ['303 after a form', { method: 'POST', path: '/form', body: '' }, moved(303, '/thanks')],
  [
    'no second slash names another host',
    { path: '/all//evil.example' },
    moved(308, '/evil.example'),
  ],
  ['no backslash names another host', { path: '/all/%5cevil' }, moved(308, '/%5cevil')],
  ['no line ends in Location', { path: '/docs/%0d%0ax' }, moved(308, '/help/%0d%0ax')],
  ['the first that fits decides', { path: '/docs/first' }, moved(302, '/first')],
  ['other paths are served', { path: '/' }, passed],
  ['an attack elsewhere is blocked', { path: attack }, { status: 403 }],
  [
    'by host',
    { host: `www.edge.${domain}`, path: '/a?b=c' },
    moved(308, `https://edge-moved.${domain}/a?b=c`),
  ],
]);

const challenge = 'Basic realm="Staff", charset="UTF-8"';
const asked: ChainExpected = {
  ...{ status: 401, guards: ['auth deny'], uninspected: true },
  fields: { 'www-authenticate': challenge, 'x-origin': null },
};
const users = rowsOf('edge-users', 'Basic authentication', [
  ['without a name 401', { path: '/staff' }, asked],
  ['under the path, too', { path: '/staff/x?y' }, asked],
  ['the right password', { path: '/staff', headers: basic('ann', 'correct horse') }, passed],
  ['again, from memory', { path: '/staff/2', headers: basic('ann', 'correct horse') }, passed],
  ['another user', { path: '/staff', headers: basic('bob', 'battery staple') }, passed],
  ['a wrong password', { path: '/staff', headers: basic('ann', 'battery staple') }, asked],
  ['an unknown user', { path: '/staff', headers: basic('eve', 'correct horse') }, asked],
  ['an empty password', { path: '/staff', headers: basic('ann', '') }, asked],
  ['no colon', { path: '/staff', headers: { authorization: 'Basic YW5u' } }, asked],
  ['no base64', { path: '/staff', headers: { authorization: 'Basic ann:x' } }, asked],
  ['another scheme', { path: '/staff', headers: { authorization: 'Bearer x' } }, asked],
  [
    'the scheme in capitals',
    {
      path: '/staff',
      headers: {
        authorization: basic('ann', 'correct horse')['authorization']!.replace('Basic', 'BASIC'),
      },
    },
    passed,
  ],
  ['case of the path does not count', { path: '/STAFF' }, asked],
  ['an encoded path', { path: '/%73taff' }, asked],
  ['dots that lead into the path', { path: '/open/../staff' }, asked],
  ['a path that is open again', { path: '/staff/open' }, passed],
  ['no dots lead out of the open path', { path: '/staff/open/../x' }, asked],
  ['other paths ask nobody', { path: '/' }, passed],
  ['a path that begins so asks nobody', { path: '/staffing' }, passed],
  [
    'who is in is inspected',
    { path: `/staff${attack}`, headers: basic('ann', 'correct horse') },
    { status: 403 },
  ],
  [
    'a body waits for the answer',
    {
      method: 'POST',
      path: '/staff',
      body: 'a=1',
      headers: { ...formType, ...basic('ann', 'correct horse') },
    },
    { ...passed, fields: { 'x-bytes': '3' } },
  ],
  [
    'a body of a stranger is not taken',
    { method: 'POST', path: '/staff', body: 'a=1', headers: formType },
    asked,
  ],
  [
    'no allowed address opens it',
    { path: '/staff', from: 78 },
    { ...asked, guards: ['ip bypass', 'auth deny'] },
  ],
]);

const tooLong: ChainExpected = {
  ...{ status: 413, outcome: 'refused', refusal: 'body_too_large' },
  fields: { 'x-origin': null },
};
const post = (path: string, bytes: number, chunked = false): ChainRequest => ({
  ...{ method: 'POST', path, body: `a=${'x'.repeat(197)}&`.repeat(16).slice(0, bytes), chunked },
  headers: formType,
});
const limits = rowsOf('edge-limits', 'Body limits', [
  ['at the bound', post('/', 100), { ...passed, fields: { 'x-bytes': '100' } }],
  ['one more', post('/', 101), tooLong],
  ['without a length, at the bound', post('/', 100, true), passed],
  ['without a length, one more', post('/', 101, true), tooLong],
  ['a longer prefix allows more', post('/upload', 2_000), passed],
  ['a longer prefix has a bound, too', post('/upload/x', 3_001), tooLong],
  ['a longer prefix may allow less', post('/tiny', 11), tooLong],
  ['a longer prefix may allow less, at its bound', post('/tiny', 10), passed],
  ['a path that means two bounds has the lower', post('/upload/../x', 101), tooLong],
  ['an encoded path has the bound of what it means', post('/%74iny', 11), tooLong],
  ['no body is no matter', {}, passed],
  ['a bound of 0 takes no body', post('/none', 1), tooLong],
  ['a bound of 0 takes none without a length', post('/none', 1, true), tooLong],
]);

const text = `Contact: mailto:security@${domain}\nExpires: 2099-01-01T00:00:00Z\n`;
const securityText: ChainExpected = {
  ...{ status: 200, outcome: 'served', uninspected: true, body: 'Contact: mailto:security@' },
  fields: { 'content-type': 'text/plain; charset=utf-8', 'x-origin': null },
};
const security = rowsOf('edge-fields', 'security.txt', [
  ['at its place', { path: '/.well-known/security.txt' }, securityText],
  ['at its former place', { path: '/security.txt' }, securityText],
  ['with a query', { path: '/.well-known/security.txt?x' }, securityText],
  ['a HEAD', { method: 'HEAD', path: '/.well-known/security.txt' }, { ...securityText, body: '' }],
  [
    "a POST is the origin's",
    { method: 'POST', path: '/.well-known/security.txt', body: '' },
    passed,
  ],
  ["another file is the origin's", { path: '/.well-known/other.txt' }, passed],
]);

const fields = rowsOf('edge-fields', 'Fields', [
  ['a field of answers is set', {}, { ...passed, fields: { 'x-frame-options': 'DENY' } }],
  [
    "a field of answers takes the place of the origin's",
    {},
    { ...passed, fields: { 'x-proto': 'hidden' } },
  ],
  ['a field of answers is taken away', {}, { ...passed, fields: { 'x-for': null } }],
  [
    'answers of every status have them',
    { path: '/echo?status=404' },
    { status: 404, outcome: 'served', origin: 'a', fields: { 'x-frame-options': 'DENY' } },
  ],
  [
    'our own answers do not',
    { path: attack },
    { status: 403, fields: { 'x-frame-options': null } },
  ],
  ['a field of requests is set', {}, { ...passed, fields: { 'x-added': 'by the site' } }],
  [
    "a field of requests takes the place of the client's",
    { headers: { 'x-added': 'mine' } },
    { ...passed, fields: { 'x-added': 'by the site' } },
  ],
  ['the site comes before its pool', {}, { ...passed, fields: { 'x-added': 'by the site' } }],
]);

const app = 'https://app.example';
const preflight = (origin: string, method: string, path = '/api/x'): ChainRequest => ({
  ...{ method: 'OPTIONS', path },
  headers: { origin, 'access-control-request-method': method },
});
const granted: ChainExpected = {
  ...{ status: 200, outcome: 'served', uninspected: true },
  fields: {
    ...{ 'access-control-allow-origin': app, vary: 'Origin', 'x-origin': null },
    'access-control-allow-methods': 'GET, PUT',
    'access-control-allow-headers': 'x-token',
    'access-control-allow-credentials': 'true',
    'access-control-max-age': '600',
  },
};
const refused = (refusal: string): ChainExpected => ({
  ...{ status: 403, outcome: 'refused', refusal, uninspected: true },
  fields: { 'access-control-allow-origin': null, 'x-origin': null },
});
const read = (origin: string | null): ChainExpected => ({
  ...passed,
  fields: { 'access-control-allow-origin': origin },
});
const cors = rowsOf('edge-cors', 'CORS', [
  ['a preflight is answered', preflight(app, 'PUT'), granted],
  [
    'case of an origin does not count',
    preflight('https://APP.example', 'PUT'),
    {
      ...granted,
      fields: { ...granted.fields, 'access-control-allow-origin': 'https://APP.example' },
    },
  ],
  ['another origin is refused', preflight('https://evil.example', 'PUT'), refused('cors_origin')],
  [
    'an origin that begins so is refused',
    preflight(`${app}.evil.example`, 'PUT'),
    refused('cors_origin'),
  ],
  ['no origin is no wildcard', preflight('null', 'PUT'), refused('cors_origin')],
  ['another method is refused', preflight(app, 'DELETE'), refused('cors_method')],
  [
    'an answer may be read',
    { path: '/api/x', headers: { origin: app } },
    {
      ...passed,
      fields: {
        'access-control-allow-origin': app,
        'access-control-expose-headers': 'x-origin',
        'access-control-allow-credentials': 'true',
        vary: 'Origin',
      },
    },
  ],
  [
    'another page may not read it',
    { path: '/api/x', headers: { origin: 'https://evil.example' } },
    read(null),
  ],
  ['a request without an origin is served', { path: '/api/x' }, read(null)],
  [
    "an OPTIONS that asks nothing is the origin's",
    { method: 'OPTIONS', path: '/api/x', headers: { origin: app } },
    passed,
  ],
  [
    'a public path may be read by all',
    { path: '/public', headers: { origin: 'https://x.example' } },
    read('*'),
  ],
  [
    'a public preflight allows simple methods',
    preflight('https://x.example', 'POST', '/public'),
    {
      status: 200,
      outcome: 'served',
      fields: {
        'access-control-allow-origin': '*',
        'access-control-allow-methods': 'GET, HEAD, POST',
      },
    },
  ],
  ["a path without a rule is the origin's", { path: '/', headers: { origin: app } }, read(null)],
  [
    'who may read is inspected',
    { path: `/api${attack}`, headers: { origin: app } },
    { status: 403, fields: { 'access-control-allow-origin': null } },
  ],
]);

const cors2 = [
  {
    ...{ pathPrefix: '/api', allowedOrigins: [app], allowedMethods: ['GET', 'PUT'] },
    ...{ allowedHeaders: ['x-token'], exposedHeaders: ['x-origin'], allowCredentials: true },
    maxAgeSeconds: 600,
  },
  { pathPrefix: '/public', allowedOrigins: ['*'] },
];

/** A site with a delivery, inspected. */
const deliveredBy = (key: string, delivery: object, more: object = {}) =>
  siteCall(key, { ...inspectedBy(policyOf), delivery, ...more });

/** The group. */
export const edgeGroup: ChainGroup = {
  setup: [
    ...policyCalls(policyOf, 'standard'),
    deliveredBy('edge-closed', {
      maintenance: {
        ...{ enabled: true, retryAfterSeconds: 600, title: 'Back at noon' },
        allowedNetworks: ['127.0.1.77', '127.0.1.128/25'],
        allowedPaths: ['/health'],
      },
    }),
    deliveredBy(
      'edge-moved',
      {
        redirects: [
          { path: '/old', target: '/new', status: 301 },
          { path: '/find', target: '/search?q=all', status: 302 },
          { path: '/docs/first', target: '/first', status: 302 },
          { path: '/docs/*', target: '/help/*' },
          { path: '/shop/*', target: 'https://shop.example/from/*', status: 307 },
          { path: '/form', target: '/thanks', status: 303 },
          { path: '/all/*', target: '/*' },
          {
            ...{ host: `www.edge.${domain}`, path: '/*' },
            target: `https://edge-moved.${domain}/*`,
          },
        ],
      },
      { aliases: [`www.edge.${domain}`] },
    ),
    deliveredBy('edge-users', {
      basicAuth: [
        {
          ...{ pathPrefix: '/staff', realm: 'Staff' },
          users: [
            { name: 'ann', passwordHash },
            { name: 'bob', passwordHash: otherHash },
          ],
        },
        { pathPrefix: '/staff/open', open: true },
      ],
    }),
    listCall('edge', ['127.0.1.78']),
    {
      rpc: 'IpListService/UpsertIpListBinding',
      body: {
        binding: {
          ...{ siteId: '$site:edge-users', ipListId: '$list:edge', kind: 'allow', sortOrder: 1 },
          ...{ addressSource: 'client_ip', matchMode: 'in_list', bypassMode: 'all_waf' },
        },
      },
    },
    deliveredBy('edge-limits', {
      bodyLimits: [
        { pathPrefix: '/', maxBytes: '100' },
        { pathPrefix: '/upload', maxBytes: '3000' },
        { pathPrefix: '/tiny', maxBytes: '10' },
        { pathPrefix: '/none', maxBytes: '0' },
      ],
    }),
    deliveredBy('edge-fields', {
      securityTxt: text,
      requestFields: [{ name: 'X-Added', value: 'by the site' }],
      responseFields: [
        { name: 'X-Frame-Options', value: 'DENY' },
        { name: 'X-Proto', value: 'hidden' },
        { name: 'X-For', remove: true },
      ],
    }),
    deliveredBy('edge-cors', { cors: cors2 }),
  ],
  rows: [...maintenance, ...redirects, ...users, ...limits, ...security, ...fields, ...cors],
};
