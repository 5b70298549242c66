/** Rows on the compression of answers: when, in which coding, and what the head says. */

import type { ChainExpected, ChainGroup, ChainRow } from './chain-row.ts';
import { firstHttp, inspectedBy, policyChange, policyCalls, siteCall } from './chain-row.ts';

const policyOf = 'compressed';
const brotli = { 'accept-encoding': 'gzip, deflate, br, zstd' };
const gzip = { 'accept-encoding': 'gzip' };
type Fields = Readonly<Record<string, string>>;
type Case = readonly [
  says: string,
  path: string,
  headers: Fields,
  fields: ChainExpected['fields'],
  more?: object,
];

/** The content is compressed, and whole. */
const coded = (coding: string): ChainExpected['fields'] => ({
  ...{ 'content-encoding': coding, 'content-length': null, 'accept-ranges': null },
  ...{ vary: 'Accept-Encoding', 'x-origin': 'a' },
});
/** The content stays as it is, and nothing says that it could be otherwise. */
const plain: ChainExpected['fields'] = { 'content-encoding': null, vary: null, 'x-origin': 'a' };
const varied: ChainExpected['fields'] = { ...plain, vary: 'Accept-Encoding' };
const page = '/page?bytes=3000';
const whole = { body: 'from the origin, again and from' };
const accepts = (value: string): Fields => ({ 'accept-encoding': value });

const rowsOf = (site: string, cases: readonly Case[]): ChainRow[] =>
  cases.map(([says, path, headers, fields, more = {}]) => {
    const { method, ways, ...expected } = more as { method?: string } & Partial<ChainRow>;
    return {
      says: `Compression: ${says}`,
      site,
      request: { path, headers, ...(method === undefined ? {} : { method }) },
      expected: { status: 200, outcome: 'served', ...(fields && { fields }), ...expected },
      ...(ways && { ways }),
    };
  });

const rules = rowsOf('compressed', [
  ['br where a client accepts it', page, brotli, coded('br'), whole],
  ['gzip where a client accepts that alone', page, gzip, coded('gzip'), whole],
  ['x-gzip is gzip', page, accepts('x-gzip'), coded('gzip'), whole],
  ['names in capitals', page, accepts('GZIP'), coded('gzip'), whole],
  ['the higher weight decides', page, accepts('br;q=0.5, gzip;q=0.8'), coded('gzip'), whole],
  ['of equal weights br', page, accepts('gzip;q=0.5, br;q=0.5'), coded('br'), whole],
  ['a weight of 0 excludes', page, accepts('br;q=0, gzip'), coded('gzip'), whole],
  ['a star means every other', page, accepts('*'), coded('br'), whole],
  ['a star without br', page, accepts('br;q=0, *;q=0.1'), coded('gzip'), whole],
  ['a star of 0 excludes', page, accepts('*;q=0'), varied, whole],
  ['an unreadable weight is no consent', page, accepts('gzip;q=2'), varied, whole],
  ['identity that weighs more wins', page, accepts('gzip;q=0.2, identity'), varied, whole],
  ['a client that says nothing', page, {}, varied, whole],
  ['a client that accepts other codings', page, accepts('zstd, deflate'), varied, whole],
  ['from the least length', '/page?bytes=1024', gzip, coded('gzip'), whole],
  ['below the least length', '/page?bytes=1023', gzip, plain, whole],
  ['no content', '/page?bytes=0', gzip, plain],
  ['no length', '/page?bytes=3000&open', gzip, coded('gzip'), whole],
  ['no length, and short', '/page?bytes=30&open', gzip, coded('gzip'), { body: 'from' }],
  ['no length, to a client without', '/page?bytes=3000&open', {}, varied, whole],
  ['JSON', `${page}&content-type=application/json`, gzip, coded('gzip'), whole],
  [
    'a type with parameters',
    `${page}&content-type=Text/HTML;%20charset=utf-8`,
    ...([gzip, coded('gzip'), whole] as const),
  ],
  ['events', `${page}&open&content-type=text/event-stream`, gzip, coded('gzip'), whole],
  ['a picture stays', `${page}&content-type=image/png`, gzip, plain, whole],
  ['gRPC stays', `${page}&content-type=application/grpc`, gzip, plain, whole],
  ['a type of nothing stays', `${page}&content-type=text`, gzip, plain, whole],
  [
    'an answer of the origin in a coding stays',
    `${page}&content-encoding=zstd`,
    ...([gzip, { ...plain, 'content-encoding': 'zstd' }] as const),
  ],
  ['identity is no coding', `${page}&content-encoding=identity`, gzip, coded('gzip'), whole],
  ['no-transform', `${page}&cache-control=private,%20no-transform`, gzip, plain, whole],
  ['no-transform of the client', page, { ...gzip, 'cache-control': 'no-transform' }, varied, whole],
  ['a digest of the content', `${page}&content-digest=sha-256=:YQ==:`, gzip, plain, whole],
  ['a former digest', `${page}&digest=sha-256=YQ==`, gzip, plain, whole],
  ['an error of the origin', `${page}&status=404`, gzip, coded('gzip'), { ...whole, status: 404 }],
  ['a part stays', `${page}&status=206`, gzip, plain, { ...whole, status: 206 }],
  ['no content by status', '/page?bytes=0&status=204', gzip, plain, { status: 204 }],
  [
    'a tag is weak',
    `${page}&etag="a"`,
    ...([gzip, { ...coded('gzip'), etag: 'W/"a"' }, whole] as const),
  ],
  [
    'a weak tag stays',
    `${page}&etag=W/"a"`,
    ...([gzip, { ...coded('gzip'), etag: 'W/"a"' }, whole] as const),
  ],
  ['a tag of plain content stays', `${page}&etag="a"`, {}, { ...varied, etag: '"a"' }, whole],
  [
    'a tag that is still current is as weak',
    '/page?bytes=0&open&status=304&etag="a"',
    ...([gzip, { etag: 'W/"a"', vary: 'Accept-Encoding' }, { status: 304 }] as const),
  ],
  ['ranges are not offered', `${page}&accept-ranges=bytes`, gzip, coded('gzip'), whole],
  [
    'ranges of plain content are',
    `${page}&accept-ranges=bytes`,
    ...([{}, { ...varied, 'accept-ranges': 'bytes' }, whole] as const),
  ],
  [
    'Vary of the origin is said once',
    `${page}&vary=accept-encoding`,
    gzip,
    {
      'content-encoding': 'gzip',
      vary: 'accept-encoding',
    },
  ],
  [
    'Vary of the origin stays',
    `${page}&vary=Cookie`,
    gzip,
    {
      'content-encoding': 'gzip',
      vary: 'Cookie, Accept-Encoding',
    },
  ],
  ['HEAD says what GET would', page, gzip, coded('gzip'), { method: 'HEAD' }],
  [
    'HEAD of what stays',
    '/page?bytes=30',
    gzip,
    { ...plain, 'content-length': '30' },
    {
      method: 'HEAD',
    },
  ],
  ['a path that is left out', '/page/off/x?bytes=3000', gzip, plain, whole],
  ['case of the path does not count', '/page/OFF?bytes=3000', gzip, plain, whole],
  ['an encoded path that is left out', '/page/%6Fff?bytes=3000', gzip, plain, whole],
  ['a path that begins so', '/page/offer?bytes=3000', gzip, coded('gzip'), whole],
  ['a path has types of its own', '/page/x?bytes=3000', gzip, plain, whole],
  [
    'a path has a least length of its own',
    '/page/x?bytes=30&content-type=text/css',
    ...([gzip, coded('gzip'), { body: 'from' }] as const),
  ],
  [
    'a blocked request gets the page of the product',
    `${page}&id=1%27%20OR%20%271%27=%271`,
    gzip,
    {
      'content-encoding': null,
      'x-origin': null,
    },
    { status: 403, outcome: 'blocked' },
  ],
]);

const inspected = rowsOf('compressed-inspected', [
  ['inspected content is compressed after', page, gzip, coded('gzip'), whole],
  ['inspected content without a length', '/page?bytes=3000&open', brotli, coded('br'), whole],
  ['inspected content to a client without', page, {}, varied, whole],
  ['HEAD where content is inspected', page, gzip, coded('gzip'), { method: 'HEAD' }],
]);

const beside = rowsOf('compressed-beside', [
  [
    'beside fields and CORS',
    page,
    { ...gzip, origin: 'https://app.example' },
    {
      ...{ 'content-encoding': 'gzip', vary: 'Origin, Accept-Encoding', 'x-set': 'by the site' },
      'access-control-allow-origin': 'https://app.example',
    },
    whole,
  ],
  [
    'beside a Vary of the origin',
    `${page}&vary=accept-encoding`,
    gzip,
    {
      vary: 'accept-encoding, Origin',
    },
    whole,
  ],
]);

const off = rowsOf('compressed-off', [
  ['off without a rule', page, brotli, plain, whole],
  ['a tag stays without a rule', `${page}&etag="a"`, gzip, { ...plain, etag: '"a"' }, whole],
]);

const old: ChainRow = {
  says: 'Compression: a client of HTTP/1.0 reads until the connection ends',
  site: 'compressed',
  request: {
    raw:
      `GET ${page} HTTP/1.0\r\nHost: compressed.chain.test\r\nAccept-Encoding: gzip\r\n` +
      'User-Agent: chain\r\nAccept: */*\r\nX-Request-Id: $id\r\n\r\n',
  },
  expected: {
    ...{ status: 200, fields: { 'content-encoding': 'gzip', 'transfer-encoding': null } },
    ...whole,
  },
  ways: firstHttp,
};

/** The group. */
export const compressionGroup: ChainGroup = {
  setup: [
    ...policyCalls(policyOf, 'standard'),
    ...policyCalls(
      `${policyOf}-answers`,
      'standard',
      policyChange({ crsCore: { responseBodyAccess: true } }, 'crsCore.responseBodyAccess'),
    ),
    siteCall('compressed', {
      ...inspectedBy(policyOf),
      delivery: {
        compression: [
          { pathPrefix: '/' },
          { pathPrefix: '/page/off', off: true },
          { pathPrefix: '/page/x', types: ['text/css'], minBytes: 1 },
        ],
      },
    }),
    siteCall('compressed-inspected', {
      ...inspectedBy(`${policyOf}-answers`),
      delivery: { compression: [{ pathPrefix: '/' }] },
    }),
    siteCall('compressed-beside', {
      ...inspectedBy(policyOf),
      delivery: {
        compression: [{ pathPrefix: '/', minBytes: 100 }],
        cors: [{ pathPrefix: '/', allowedOrigins: ['https://app.example'] }],
        responseFields: [{ name: 'X-Set', value: 'by the site' }],
      },
    }),
    siteCall('compressed-off', inspectedBy(policyOf)),
  ],
  rows: [...rules, ...inspected, ...beside, ...off, old],
};
