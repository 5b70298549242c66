/** The proof that live requests get the client that a trust profile finds, on the wire. */

import type { IncomingHttpHeaders } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { clientIpRule } from '../../../test/support/client-ip-rule.ts';
import { systemClock } from '../../../base/clock.ts';
import { parseNetwork } from '../../../base/ip-address.ts';
import type { RequestEvent } from '../../contract/events.ts';
import type { Inspector } from '../../contract/inspection.ts';
import type { RequestSnapshot } from '../../contract/message.ts';
import type { SiteConfig } from '../../contract/site.ts';
import type { TrustConfig } from '../../contract/trust.ts';
import { Closing, httpOrigin, RawClient, ScriptedInspector, siteFor } from '../fixtures/fixture.ts';
import { createFront } from '../threads/front.ts';
import { ClientMemory } from '../facts/client-memory.ts';
import { ClientWatch } from '../facts/client-watch.ts';

const closing = new Closing();
afterEach(() => closing.run());

const trust = (...networks: string[]): TrustConfig => ({
  nodes: [{ id: 'lb', ranges: networks.map((text) => parseNetwork(text) ?? ''), xffMode: '' }],
  edges: [
    { from: 'internet', to: 'lb' },
    { from: 'lb', to: 'waf' },
  ],
  rules: [clientIpRule()],
});

/** Sends one request that claims to be 203.0.113.9; what inspection, origin and event saw. */
async function ask(
  change: Partial<SiteConfig>,
  clientWatch = new ClientWatch(),
  lines = 'X-Forwarded-For: 1.1.1.1, 203.0.113.9\r\n',
) {
  let forwarded: unknown = '';
  let proto: unknown = '';
  let headers: IncomingHttpHeaders = {};
  const origin = await httpOrigin(closing, (request, response) => {
    forwarded = request.headers['x-forwarded-for'];
    proto = request.headers['x-forwarded-proto'];
    ({ headers } = request);
    response.end('ok');
  });
  const opened: RequestSnapshot[] = [];
  const scripted = new ScriptedInspector({});
  const inspector: Inspector = {
    open: (request) => {
      opened.push(request);
      return scripted.open(request);
    },
  };
  const waf = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;
  const events: RequestEvent[] = [];
  const front = createFront({
    routes: { revision: 'r1', sites: [siteFor(origin, { waf, ...change })] },
    inspectorOf: () => inspector,
    onRequestDone: (event) => void events.push(event),
    clientWatch,
  });
  closing.add(() => front.close());
  const port = await front.listen({ host: '127.0.0.1', port: 0 });
  const client = new RawClient(port);
  client.send(`GET / HTTP/1.1\r\nHost: a\r\n${lines}Connection: close\r\n\r\n`);
  expect(await client.all()).toContain('200 OK');
  return { forwarded, proto, headers, connection: opened[0]?.connection, event: events[0] };
}

test('without a profile the peer is the client', async () => {
  const { forwarded, connection, event } = await ask({});
  expect(connection).toMatchObject({ clientIp: '127.0.0.1', peerIp: '127.0.0.1' });
  expect(event?.clientIp).toBe('127.0.0.1');
  expect(forwarded).toBe('127.0.0.1');
});

test.each<[string, TrustConfig | undefined, boolean]>([
  ['a trusted proxy', trust('127.0.0.0/8'), true],
  ['nobody trusted', trust('10.0.0.0/8'), false],
  ['a client without a profile', undefined, false],
])('fields that only proxies set, of %s, reach the origin: %s', async (_, profile, kept) => {
  const change = profile === undefined ? {} : { trust: profile };
  const lines =
    'X-Forwarded-For: 203.0.113.9\r\nCF-Connecting-IP: 203.0.113.9\r\nX-Original-URL: /a\r\n' +
    'Front-End-Https: on\r\nfront_end_https: on\r\nWL-Proxy-SSL: true\r\n' +
    'X-Forwarded-Client-Cert: Hash=1\r\nCloudFront-Forwarded-Proto: https\r\n';
  const { headers } = await ask(change, new ClientWatch(), lines);
  const names = ['cf-connecting-ip', 'x-original-url', 'front-end-https', 'wl-proxy-ssl'];
  const more = ['x-forwarded-client-cert', 'cloudfront-forwarded-proto'];
  const all = [...names, ...more];
  expect(all.filter((name) => name in headers)).toEqual(kept ? all : []);
  expect(headers).not.toHaveProperty('front_end_https');
});

const ofTls = [
  ...['X-Client-Cert', 'X-Client-Cert-Present', 'X-Client-Certificate', 'X-Client-Verify'],
  ...['X-Client-DN', 'Client-Cert', 'Client-Cert-Chain', 'X-Client-SSL-Serial'],
  ...['Ssl-Client-Cert', 'SSL-Client-Verify', 'SSL_CLIENT_S_DN', 'SSL_PROTOCOL', 'ssl-cipher'],
  ...['X-SSL', 'X-Ssl-Client-Verify', 'X-SSL-Client-CN', 'X-SSL-Issuer', 'X-TLS-Version'],
  ...['X-Forwarded-Client-Cert', 'X-Forwarded-Tls-Client-Cert-Info', 'X-Forwarded-Https'],
  ...['X-Forwarded-URI', 'X-ARR-ClientCert', 'X-ARR-SSL', 'X-Amzn-Mtls-Clientcert'],
  ...['X-Amzn-Mtls-Clientcert-Serial-Number', 'X-Amzn-Tls-Version', 'Cf-Client-Cert-Der-Base64'],
  ...['Cf-Cert-Verified', 'CF-Visitor', 'CloudFront-Viewer-TLS', 'WL-Proxy-Client-Keysize'],
  ...['HTTPS', 'X-Https', 'X-Lb-Proto', 'X-LB-SSL', 'X-Proto', 'X-Client-Proto', 'Fastly-SSL'],
  ...['X-Original-Proto', 'X-Original-URI', 'X-mTLS-Subject'],
];

test.each<[string, TrustConfig | undefined, boolean]>([
  ['a trusted proxy', trust('127.0.0.0/8'), true],
  ['nobody trusted', trust('10.0.0.0/8'), false],
  ['a client without a profile', undefined, false],
])('fields on TLS and certificates, of %s, reach the origin: %s', async (_, profile, kept) => {
  const change = profile === undefined ? {} : { trust: profile };
  const lines = ofTls.map((name) => `${name}: 1\r\n`).join('');
  const { headers } = await ask(change, new ClientWatch(), lines);
  const names = ofTls.map((name) => name.toLowerCase());
  expect(names.filter((name) => name in headers)).toEqual(kept ? names : []);
});

test('ordinary fields of applications with names like those reach the origin', async () => {
  const names = [
    ...['x-client-version', 'x-client-id', 'x-client-name', 'client-id', 'x-client-data'],
    ...['x-csrf-token', 'x-request-scheme-id', 'x-protocol-version', 'sslmode', 'x-sslmode'],
    ...['x-original-filename', 'x-forward', 'x-amzn-trace-id', 'x-amz-date', 'cf-ray'],
    ...['upgrade-insecure-requests', 'sec-fetch-site', 'x-tlsa', 'x-lbs', 'x-realm', 'wl-token'],
  ];
  const lines = names.map((name) => `${name}: 1\r\n`).join('');
  const { headers } = await ask({}, new ClientWatch(), lines);
  expect(names.filter((name) => !(name in headers))).toEqual([]);
});

test.each(['ssl.client.verify', 'x-ssl_client.verify', 'x_client_cert', 'X_SSL_CLIENT_DN'])(
  'a field that a CGI origin reads as one of a proxy does not reach it: %s',
  async (name) => {
    for (const change of [{}, { trust: trust('10.0.0.0/8') }]) {
      const { headers } = await ask(change, new ClientWatch(), `${name}: 1\r\n`);
      expect(headers).not.toHaveProperty([name.toLowerCase()]);
    }
  },
);

test('a trusted proxy names the client: to the rules, to the origin, in the event', async () => {
  const { forwarded, connection, event } = await ask({ trust: trust('127.0.0.0/8') });
  expect(connection).toMatchObject({ clientIp: '203.0.113.9', peerIp: '127.0.0.1' });
  expect(event?.clientIp).toBe('203.0.113.9');
  expect(forwarded).toBe('203.0.113.9, 127.0.0.1');
});

const trusted = trust('127.0.0.0/8');
const stranger = trust('10.0.0.0/8');
const client = 'X-Forwarded-For: 203.0.113.9\r\n';
const untrustedRule: TrustConfig = {
  ...stranger,
  rules: stranger.rules.map((rule) => ({ ...rule, allowUntrusted: true })),
};

test.each<[string, TrustConfig | undefined, string, string]>([
  ['of a trusted proxy', trusted, `${client}X-Forwarded-Proto: https\r\n`, 'https'],
  ['in capitals', trusted, `${client}X-Forwarded-Proto: HTTPS\r\n`, 'https'],
  ['without an address beside it', trusted, 'X-Forwarded-Proto: https\r\n', 'https'],
  ['of nobody trusted', stranger, `${client}X-Forwarded-Proto: https\r\n`, 'http'],
  ['without a profile', undefined, `${client}X-Forwarded-Proto: https\r\n`, 'http'],
  [
    'where the client is believed without proof',
    untrustedRule,
    `${client}X-Forwarded-Proto: https\r\n`,
    'http',
  ],
  ['as a list', trusted, `${client}X-Forwarded-Proto: https, http\r\n`, 'http'],
  [
    'sent twice',
    trusted,
    `${client}X-Forwarded-Proto: https\r\nX-Forwarded-Proto: https\r\n`,
    'http',
  ],
  ['of another protocol', trusted, `${client}X-Forwarded-Proto: wss\r\n`, 'http'],
])('X-Forwarded-Proto %s', async (_, profile, lines, told) => {
  const change = profile === undefined ? {} : { trust: profile };
  const { proto, connection } = await ask(change, new ClientWatch(), lines);
  expect([proto, connection?.scheme]).toEqual([told, told]);
});

test('a forged header is ignored and noted once an hour', async () => {
  const clientWatch = new ClientWatch();
  const { forwarded, event } = await ask({ trust: trust('10.0.0.0/8') }, clientWatch);
  expect([event?.clientIp, forwarded]).toEqual(['127.0.0.1', '127.0.0.1']);
  const memory = new ClientMemory();
  const notes = clientWatch.drain();
  if (notes === null) throw new Error('nothing was noted');
  memory.receive(notes);
  memory.receive(notes);
  const nowMs = systemClock.nowMs();
  expect(memory.warnings(nowMs)).toMatchObject([
    { siteId: 'site-1', peer: '127.0.0.1', header: 'x-forwarded-for', count: 2 },
  ]);
  expect(memory.warnings(nowMs + 3_700_000)).toEqual([]);
});

test('samples are taken of a site that is analyzed, and no more than are wanted', async () => {
  const clientWatch = new ClientWatch();
  clientWatch.want('other', 5);
  clientWatch.want('site-1', 1);
  const shown = 'CF-Ray: 8f2\r\nVia: 1.1 varnish\r\n';
  await ask({}, clientWatch, `X-Forwarded-For: 1.1.1.1, 203.0.113.9\r\n${shown}`);
  await ask({}, clientWatch);
  const memory = new ClientMemory();
  memory.begin('site-1', 1);
  memory.receive(clientWatch.drain() ?? { samples: [], spoofs: [] });
  expect(memory.collected('site-1')).toEqual({
    active: false,
    samples: [
      {
        siteId: 'site-1',
        peer: '127.0.0.1',
        headers: { 'x-forwarded-for': '1.1.1.1, 203.0.113.9' },
        products: ['Cloudflare', 'Varnish'],
      },
    ],
  });
  expect(memory.collected('other')).toBeNull();
});
