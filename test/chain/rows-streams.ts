/** Rows on what begins as a request and goes beyond it: WebSockets and gRPC calls. */

import { gzipSync } from 'node:zlib';
import type { ChainExpected, ChainGroup, ChainRequest, ChainRow, SetupCall } from './chain-row.ts';
import {
  firstHttp,
  inspectedBy,
  layerCall,
  listCall,
  policyCalls,
  policyChange,
  secondHttp,
  siteCall,
} from './chain-row.ts';

const sqli = "1' OR '1'='1";
const encoded = encodeURIComponent(sqli);
const blocked: ChainExpected = { status: 403, with: [942_100] };

const opening = {
  connection: 'Upgrade, close',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};
const opens = (path: string, headers: Readonly<Record<string, string>> = {}): ChainRequest => ({
  ...{ path, headers: { ...opening, ...headers } },
});

/** What opens a WebSocket is a request as any other until the origin takes it. */
const openings: readonly (readonly [string, ChainRequest, ChainExpected, number[]?])[] = [
  ['an opening that the origin does not take', opens('/'), { status: 200, origin: 'a' }],
  ['an attack in its query', opens(`/?id=${encoded}`), blocked],
  ['an attack in a cookie', opens('/', { cookie: `id=${sqli}` }), blocked],
  [
    'an address that is denied',
    opens('/listed'),
    { status: 403, guards: ['ip deny'], uninspected: true },
  ],
  [
    'past a rate limit',
    opens('/often'),
    { status: 429, guards: ['rate_limit deny'], uninspected: true },
    [200],
  ],
];

const openingRows = openings.map(([says, request, expected, before]): ChainRow => ({
  ...{ says: `WebSockets: ${says}`, site: 'streams', ways: firstHttp, request, expected },
  ...(before !== undefined && { before }),
}));

/** One message with one field of text: its own length, then tag and length of the field. */
function message(text: string): string {
  const field = `\x0a${String.fromCharCode(text.length)}${text}`;
  return `\0\0\0\0${String.fromCharCode(field.length)}${field}`;
}

const call = (
  body: string,
  path = '/shop.Orders/Get',
  headers: Readonly<Record<string, string>> = {},
): ChainRequest => ({
  ...{ path, method: 'POST', body, chunked: true },
  headers: { 'content-type': 'application/grpc', te: 'trailers', ...headers },
});
const taken = (bytes: number): ChainExpected => ({
  ...{ status: 200, origin: 'calls', fields: { 'x-bytes': String(bytes) } },
});
const patched: ChainExpected = { status: 403, guards: ['virtual_patch deny'] };

const calls: readonly (readonly [string, ChainRequest, ChainExpected])[] = [
  ['a message goes to the origin', call(message('hello')), taken(12)],
  ['several messages do', call(message('a') + message('b')), taken(16)],
  ['a short text is not inspected by itself', call(message(sqli)), taken(19)],
  ['no message at all', call(''), taken(0)],
  ['an attack in its metadata', call(message('a'), undefined, { cookie: `id=${sqli}` }), blocked],
  ['an attack in its path', call(message('a'), `/shop.Orders/Get?id=${encoded}`), blocked],
  ['a text that a patch forbids', call(message('x #markup y')), patched],
  [
    'a text that a patch forbids, in the second message',
    call(message('a') + message('#markup')),
    patched,
  ],
  [
    'a suffix of the type is a call as well',
    call(message('#markup'), undefined, { 'content-type': 'application/grpc+proto' }),
    patched,
  ],
  [
    'messages past the limit of inspection',
    call(message('a'.repeat(100)).repeat(4)),
    { status: 413, outcome: 'refused', refusal: 'body_over_inspection_limit' },
  ],
];

const callRows = calls.map(([says, request, expected]): ChainRow => ({
  ...{ says: `gRPC: ${says}`, site: 'calls', ways: secondHttp, request, expected },
}));

const nested = (text: string): string =>
  message(
    `\x1a${String.fromCharCode(text.length + 2)}\x0a${String.fromCharCode(text.length)}${text}`,
  );
const gzipped = (framed: string): string => {
  const packed = gzipSync(Buffer.from(framed.slice(5), 'latin1')).toString('latin1');
  return `\x01\0\0\0${String.fromCharCode(packed.length)}${packed}`;
};
const web = 'application/grpc-web-text';

/** Where text fields of messages are inspected. */
const fieldCalls: readonly (readonly [string, ChainRequest, ChainExpected])[] = [
  ['a message goes to the origin', call(message('hello')), taken(12)],
  ['an attack in a text', call(message(sqli)), blocked],
  ['an attack in the text of a message in it', call(nested(sqli)), blocked],
  ['an attack in the second message', call(message('a') + message(sqli)), blocked],
  [
    'an attack in a compressed message',
    call(gzipped(message(sqli)), undefined, { 'grpc-encoding': 'gzip' }),
    blocked,
  ],
  [
    'an attack in base64',
    call(Buffer.from(message(sqli)).toString('base64'), undefined, { 'content-type': web }),
    blocked,
  ],
  [
    'a suffix that is not known',
    call(message(sqli), undefined, { 'content-type': 'application/grpc+proto' }),
    blocked,
  ],
  ['a text that a patch forbids', call(message('x #markup y')), patched],
  ['what is no message', call('\0\0\0\0\x03abc'), { status: 400, with: [200_002] }],
  ['half a message', call(message('hello').slice(0, 9)), { status: 400, with: [200_002] }],
];

const fieldRows = fieldCalls.map(([says, request, expected]): ChainRow => ({
  ...{ says: `gRPC fields: ${says}`, site: 'fields', ways: secondHttp, request, expected },
}));

const late = (refusal: string): ChainExpected => ({
  ...{ status: 504, outcome: 'origin_error', refusal, fields: { 'x-origin': null } },
});

/** Where paths have times; the origin never answers under `/silent`. */
const timedCalls: readonly (readonly [string, ChainRequest, ChainExpected])[] = [
  ['one in time goes to the origin', call(message('hello')), taken(12)],
  [
    'one that its origin does not answer',
    call(message('a'), '/silent.Orders/Get'),
    late('origin_first_byte_timeout'),
  ],
  [
    'a method has a time of its own, for the whole',
    call(message('a'), '/silent.Orders/List'),
    late('total_timeout'),
  ],
  [
    'a deadline of the client does not lengthen the time',
    call(message('a'), '/silent.Orders/Get', { 'grpc-timeout': '1H' }),
    late('origin_first_byte_timeout'),
  ],
  [
    'a deadline of the client goes to the origin as it came',
    call(message('a'), undefined, { 'grpc-timeout': '250m' }),
    { ...taken(8), fields: { 'x-bytes': '8', 'x-deadline': '250m' } },
  ],
  ['an attack waits for nobody', call(message('a'), `/silent.Orders/Get?id=${encoded}`), blocked],
];

const timedRows = timedCalls.map(([says, request, expected]): ChainRow => ({
  ...{ says: `gRPC times: ${says}`, site: 'timed', ways: secondHttp, request, expected },
}));

const types = ['application/grpc', 'application/grpc+proto'];
const patch = {
  id: 'CHAIN-grpc',
  conditions: [{ in: 'body', contains: '#markup' }],
  requests: [
    {
      ...{ url: '/', method: 'POST', body: 'a=%23markup', expect: 'match' },
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    },
    { url: '/', expect: 'pass' },
  ],
};
const binding: SetupCall = {
  rpc: 'IpListService/UpsertIpListBinding',
  body: {
    binding: {
      ...{ siteId: '$site:streams', ipListId: '$list:streams', kind: 'deny', sortOrder: 1 },
      ...{ addressSource: 'client_ip', matchMode: 'in_list', pathPrefix: '/listed' },
    },
  },
};
const limit: SetupCall = {
  rpc: 'RateLimitService/UpsertRateLimitEndpoint',
  body: {
    endpoint: {
      ...{ siteId: '$site:streams', pathPattern: '/often', action: 'block' },
      ...{ enforcementMode: 'enforce', windowSeconds: 3_600, requestCount: 1 },
    },
  },
};

const callSite = (key: string, delivery: object = {}): SetupCall =>
  siteCall(key, {
    ...{ ...inspectedBy('calls'), delivery },
    upstreams: [{ upstreamId: '$pool:calls' }],
  });

/** The group. */
export const streamGroup: ChainGroup = {
  setup: [
    ...policyCalls('streams', 'standard'),
    listCall('streams', ['127.0.0.0/8']),
    siteCall('streams', inspectedBy('streams')),
    binding,
    limit,
    ...policyCalls(
      'calls',
      'standard',
      layerCall('HTTP_POLICY', {
        allowedRequestContentTypes: [...types, web, 'application/x-www-form-urlencoded'],
        bodyProcessorOverrides: types.map((contentTypePrefix) => ({
          ...{ contentTypePrefix, processor: 'BODY_PROCESSOR_RAW' },
        })),
      }),
      policyChange({ crsCore: { requestBodyLimit: '256' } }, 'crsCore.requestBodyLimit'),
      {
        rpc: 'CustomRuleService/CreateCustomRule',
        body: {
          rule: { policyId: '$own', name: 'grpc', enabled: true, visualSpec: { patch } },
        },
      },
    ),
    ...['calls', 'fields'].map((key) => callSite(key)),
    callSite('timed', {
      timeouts: [
        { pathPrefix: '/silent.Orders', originAnswerMs: 300 },
        { pathPrefix: '/silent.Orders/List', originAnswerMs: 60_000, totalMs: 300 },
      ],
    }),
  ],
  later: [
    {
      rpc: 'SystemService/UpdateSystemSettings',
      body: { values: { 'grpc.fields': { '$site:fields': 'on' } } },
    },
  ],
  rows: [...openingRows, ...callRows, ...fieldRows, ...timedRows],
};
