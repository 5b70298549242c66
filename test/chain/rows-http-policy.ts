/** Rows on methods, types, charsets, versions, extensions, fields and body processors. */

import type { ChainExpected, ChainGroup, ChainRequest, ChainRow } from './chain-row.ts';
import {
  domain,
  firstHttp,
  inspectedBy,
  jsonType,
  layerCall,
  policyCalls,
  secondHttp,
  siteCall,
} from './chain-row.ts';

const blocks = (rule: number): ChainExpected => ({ status: 403, with: [rule] });
const passes = (rule: number): ChainExpected => ({ status: 200, without: [rule] });
const judged = (allowed: boolean, rule: number): ChainExpected =>
  allowed ? passes(rule) : blocks(rule);
const sqli = "1' OR '1'='1";

/** Sites whose policy has the standard lists, and lists of its own. */
const methodTables: readonly (readonly [site: string, allowed: readonly string[]])[] = [
  ['http-standard', ['GET', 'HEAD', 'POST', 'OPTIONS']],
  ['http-own', ['GET', 'POST', 'PUT', 'PROPFIND']],
];
const methods = ['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'PROPFIND', 'PURGE'];

const methodRows = methodTables.flatMap(([site, allowed]) =>
  methods.map((method): ChainRow => {
    const sends = ['POST', 'PUT', 'PATCH'].includes(method);
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const request: ChainRequest = sends ? { method, headers, body: 'a=1' } : { method };
    const expected = judged(allowed.includes(method), 911_100);
    return { says: `allowedMethods, ${site}: ${method}`, site, request, expected };
  }),
);

const post = (type: string, body: string): ChainRequest => ({
  ...{ method: 'POST', headers: { 'content-type': type }, body },
});

const standardTypes: readonly (readonly [type: string, body: string, allowed: boolean])[] = [
  ['application/x-www-form-urlencoded', 'a=1', true],
  ['application/json', '{"a":1}', true],
  ['text/xml', '<a>1</a>', true],
  ['application/xml', '<a>1</a>', true],
  ['application/soap+xml', '<a>1</a>', true],
  ['Application/JSON', '{"a":1}', true],
  ['application/json;charset=utf-8', '{"a":1}', true],
  ['text/plain', 'a', false],
  ['application/octet-stream', 'a', false],
  ['application/x-own', 'a', false],
  ['application/jsonx', '{}', false],
  ['application', 'a', false],
  ['image/png', 'a', false],
];

const ownList = ['application/x-own', 'application/x-www-form-urlencoded'];

const typeRows = standardTypes.flatMap(([type, body, allowed]): ChainRow[] => [
  {
    says: `allowedRequestContentTypes, standard: ${type}`,
    site: 'http-standard',
    request: post(type, body),
    expected: allowed ? passes(920_420) : { status: 403 },
  },
  {
    says: `allowedRequestContentTypes, a list of its own: ${type}`,
    site: 'http-own',
    request: post(type, body),
    expected: ownList.includes(type) ? passes(920_420) : { status: 403 },
  },
  {
    says: `disallowedContentTypeAction OBSERVE: ${type}`,
    site: 'http-observe',
    request: post(type, body),
    expected: passes(920_420),
  },
]);

const hiding = new Set(['utf-7', 'utf-16', 'x-own']);

const charsets = (
  [
    ['utf-8', true],
    ['UTF-8', true],
    ['iso-8859-1', true],
    ['windows-1252', true],
    ['iso-8859-2', false],
    ['utf-7', false],
    ['utf-16', false],
    ['x-own', false],
  ] as const
).flatMap(([charset, allowed]): ChainRow[] => {
  const request = post(`application/x-www-form-urlencoded; charset=${charset}`, 'a=1');
  const own = charset.toLowerCase() === 'utf-8';
  // No list allows what hides ASCII, or may: a rule of every policy refuses it.
  const hides: ChainExpected | null = hiding.has(charset) ? { status: 400, with: [920_480] } : null;
  return [
    {
      ...{ says: `allowedRequestContentCharsets, standard: ${charset}`, request },
      ...{ site: 'http-standard', expected: hides ?? judged(allowed, 920_480) },
    },
    {
      ...{ says: `allowedRequestContentCharsets, a list of its own: ${charset}`, request },
      ...{ site: 'http-charset', expected: hides ?? judged(own, 920_480) },
    },
  ];
});

const extensions = (
  [
    ...['/a.php', '/a.html', '/a.txt', '/a', '/conf', '/a.bakx', '/bak', '/a.own'].map(
      (path) => [path, true] as const,
    ),
    ...['/a.bak', '/a.BAK', '/x/a.sql', '/a.b.ini', '/a.config', '/a.log', '/a.mdb', '/a.key'].map(
      (path) => [path, false] as const,
    ),
    ['/a.bak?x=1', false],
    ['/a?x=.bak', true],
  ] as const
).flatMap(([path, allowed]): ChainRow[] => [
  {
    says: `restrictedExtensions, standard: ${path}`,
    site: 'http-standard',
    request: { path },
    expected: judged(allowed, 920_440),
  },
  {
    says: `restrictedExtensions, a list of its own: ${path}`,
    site: 'http-own',
    request: { path },
    expected: judged(path !== '/a.own', 920_440),
  },
]);

const fields = (
  [
    ['proxy', 'http://x', false],
    ['lock-token', 'x', false],
    ['content-range', 'bytes 0-1/2', false],
    ['if', 'x', false],
    ['accept-charset', 'utf-8', false],
    ['x-own-field', '1', true],
    ['x-requested-with', 'XMLHttpRequest', true],
    ['if-none-match', '"x"', true],
  ] as const
).flatMap(([name, value, allowed]): ChainRow[] => {
  const request: ChainRequest = { headers: { [name]: value } };
  return [
    {
      ...{ says: `restrictedHeaders, standard: ${name}`, site: 'http-standard', request },
      expected: judged(allowed, 920_450),
    },
    {
      ...{ says: `restrictedHeadersBasic, a list of its own: ${name}`, site: 'http-own', request },
      expected: judged(name !== 'x-own-field', 920_450),
    },
  ];
});

const raw = (version: string, site: string, more = ''): string =>
  `GET / ${version}\r\nHost: ${site}.${domain}\r\nUser-Agent: x\r\nAccept: */*\r\n` +
  `X-Request-Id: $id\r\n${more}\r\n`;

const versions: readonly ChainRow[] = [
  {
    says: 'allowedHttpVersions, standard: HTTP/1.0',
    site: 'http-standard',
    ways: firstHttp,
    request: { raw: raw('HTTP/1.0', 'http-standard') },
    expected: passes(920_430),
  },
  {
    says: 'allowedHttpVersions without HTTP/1.0: HTTP/1.0',
    site: 'http-own',
    ways: firstHttp,
    request: { raw: raw('HTTP/1.0', 'http-own') },
    expected: blocks(920_430),
  },
  {
    says: 'allowedHttpVersions without HTTP/1.0: HTTP/1.1 and HTTP/2',
    site: 'http-own',
    request: {},
    expected: passes(920_430),
  },
  {
    says: 'allowedHttpVersions without HTTP/2: HTTP/2',
    site: 'http-versions',
    ways: secondHttp,
    request: {},
    expected: blocks(920_430),
  },
  {
    says: 'allowedHttpVersions without HTTP/2: HTTP/1.1',
    site: 'http-versions',
    ways: firstHttp,
    request: {},
    expected: passes(920_430),
  },
];

/** Type, body, and what becomes of it where the type is read by a processor of its own. */
const processors: readonly (readonly [says: string, type: string, body: string, ChainExpected])[] =
  [
    ['as JSON', 'text/own-json', '{"a":1}', { status: 200 }],
    ['as JSON, that is none', 'text/own-json', '{"a":', { status: 400, with: [200_002] }],
    ['as JSON, an attack', 'text/own-json', JSON.stringify({ a: sqli }), blocks(942_100)],
    ['as XML', 'text/own-xml', '<a>1</a>', { status: 200 }],
    ['as XML, that is none', 'text/own-xml', '<a><b></a>', { status: 400, with: [200_002] }],
    ['as XML, an attack', 'text/own-xml', `<a>${sqli}</a>`, blocks(942_100)],
    ['as a form', 'text/own-form', 'a=1', { status: 200 }],
    ['as a form, an attack', 'text/own-form', `a=${encodeURIComponent(sqli)}`, blocks(942_100)],
    ['with parameters', 'text/own-json; a=b', '{"a":', { status: 400, with: [200_002] }],
    ['and not a longer name', 'text/own-jsonx', '{"a":', { status: 403 }],
  ];

const processorRows = processors.map(([says, type, body, expected]): ChainRow => {
  return {
    says: `bodyProcessorOverrides: ${says}`,
    site: 'http-bodies',
    request: post(type, body),
    expected,
  };
});

const parseRows = (
  [
    ['BLOCK', 'http-standard', { status: 400, with: [200_002] }],
    ['OBSERVE', 'http-observe', { status: 200, with: [200_002] }],
  ] as const
).flatMap(([action, site, expected]) =>
  (
    [
      ['JSON', 'application/json', '{"a":'],
      ['JSON with text after it', 'application/json', '{"a":1} x'],
      ['XML', 'text/xml', '<a><b></a>'],
    ] as const
  ).map(([says, type, body]): ChainRow => ({
    ...{ says: `requestBodyParseFailureAction ${action}: ${says}`, site },
    ...{ request: post(type, body), expected },
  })),
);

const multipartRows = ['http-standard', 'http-observe'].map((site): ChainRow => ({
  says: `Multipart that is malformed fails hard: ${site}`,
  site,
  request: post('multipart/form-data; boundary=b', '--b\r\nContent-Disposition: form-data\r\n'),
  expected: { status: 400 },
}));

const large: ChainRow = {
  says: 'HttpPolicy: a body that is JSON, in order',
  site: 'http-standard',
  request: { method: 'POST', headers: jsonType, body: JSON.stringify({ a: ['b', { c: 'd' }] }) },
  expected: { status: 200, origin: 'a' },
};

const http = (config: object) => layerCall('HTTP_POLICY', config);
const ownTypes = ['text/own-json', 'text/own-xml', 'text/own-form'];

/** The group. */
export const httpPolicyGroup: ChainGroup = {
  setup: [
    ...policyCalls('http-standard', 'standard'),
    ...policyCalls(
      'http-own',
      'standard',
      http({
        allowedMethods: ['GET', 'POST', 'PUT', 'PROPFIND'],
        allowedRequestContentTypes: ownList,
        allowedHttpVersions: ['HTTP/1.1', 'HTTP/2'],
        restrictedExtensions: ['.own'],
        restrictedHeadersBasic: ['x-own-field'],
      }),
    ),
    ...policyCalls('http-charset', 'standard', http({ allowedRequestContentCharsets: ['utf-8'] })),
    ...policyCalls(
      'http-versions',
      'standard',
      http({ allowedHttpVersions: ['HTTP/1.0', 'HTTP/1.1'] }),
    ),
    ...policyCalls(
      'http-observe',
      'standard',
      http({
        disallowedContentTypeAction: 'HTTP_POLICY_VIOLATION_ACTION_OBSERVE',
        requestBodyParseFailureAction: 'HTTP_POLICY_VIOLATION_ACTION_OBSERVE',
      }),
    ),
    ...policyCalls(
      'http-bodies',
      'standard',
      http({
        allowedRequestContentTypes: ownTypes,
        bodyProcessorOverrides: ['JSON', 'XML', 'URLENCODED'].map((name, at) => ({
          contentTypePrefix: ownTypes[at],
          processor: `BODY_PROCESSOR_${name}`,
        })),
      }),
    ),
    ...['standard', 'own', 'charset', 'versions', 'observe', 'bodies'].map((key) =>
      siteCall(`http-${key}`, inspectedBy(`http-${key}`)),
    ),
  ],
  rows: [
    ...[...methodRows, ...typeRows, ...charsets, ...extensions, ...fields],
    ...[...versions, ...processorRows, ...parseRows, ...multipartRows, large],
  ],
};
