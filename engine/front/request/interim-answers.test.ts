/** Proves that a 103 carries no field that the final answer replaces or removes. */

import http2 from 'node:http2';
import { afterEach, expect, test } from 'vitest';
import { noDelivery } from '../../contract/delivery.ts';
import type { RateLimitConfig } from '../../contract/rate-limit.ts';
import type { SiteConfig } from '../../contract/site.ts';
import { noGuardServices } from '../../guard/guard.ts';
import { RateTable, shareRates } from '../../guard/rate-table.ts';
import { Closing, rawOrigin, startFront } from '../fixtures/fixture.ts';
import { askSecure, getText, secureSite } from '../fixtures/secure-fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

const host = 'shop.example';
const hidden = { name: 'X-Powered-By', value: '', remove: true };
const replaced = { name: 'X-Frame-Options', value: 'DENY', remove: false };
const budget = { requests: 100, windowSeconds: 60 };
const limit: RateLimitConfig = {
  id: 'all',
  pathPattern: '/*',
  methods: [],
  action: 'block',
  observe: false,
  key: { kind: 'ip' },
  budget,
  verifiedBudget: budget,
  mitigationSeconds: 0,
  banGlobally: false,
};

const link = '</a.css>; rel=preload';
const ofOrigin = `Link: ${link}
X-Powered-By: PHP/5.1
X_Powered_By: PHP/5.1
X-Frame-Options: ALLOWALL
Strict-Transport-Security: max-age=0
RateLimit: "theirs";r=1
RateLimit-Policy: "theirs";q=1
Keep-Alive: timeout=5
X-Request-Id: theirs
`.replaceAll('\n', '\r\n');
const answer = `HTTP/1.1 103 Early Hints\r\n${ofOrigin}\r\nHTTP/1.1 200 OK\r\n${ofOrigin}`;

/** The TLS port of a front whose origin sends a 103 and then an answer with the same fields. */
async function start(change: Partial<SiteConfig>, tls = {}): Promise<number> {
  const origin = await rawOrigin(closing, (socket) => {
    socket.once('data', () => socket.end(`${answer}Content-Length: 1\r\n\r\n!`));
  });
  const site = { ...secureSite(origin, host, tls), ...change };
  const rates = new RateTable(shareRates([1, 2], 16));
  const guardServices = { ...noGuardServices, rates };
  const { front } = await startFront(closing, [site], null, {}, 'strict', { guardServices });
  return front.listen({ host: '127.0.0.1', port: 0, secure: true });
}

async function interimOverHttp1(port: number): Promise<string> {
  const { text } = await askSecure(port, getText(host), { servername: host });
  const [interim = '', final = ''] = text.split('\r\n\r\n');
  expect(final).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  return interim.replace(/^HTTP\/1\.1 103 Early Hints/, '');
}

async function interimOverHttp2(port: number): Promise<string> {
  const trusting = { servername: host, rejectUnauthorized: false };
  const client = http2.connect(`https://127.0.0.1:${port}`, trusting);
  closing.add(() => client.destroy());
  const stream = client.request({ ':authority': host });
  const interim: http2.IncomingHttpHeaders[] = [];
  stream.on('headers', (fields) => interim.push(fields));
  stream.resume();
  await new Promise((resolve, reject) => stream.on('close', resolve).on('error', reject));
  expect(interim.map((fields) => fields[':status'])).toEqual([103]);
  const { ':status': _status, ...fields } = interim[0]!;
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${String(value)}`)
    .join('\r\n');
}

const ways = [
  ['HTTP/1.1', interimOverHttp1],
  ['HTTP/2', interimOverHttp2],
] as const;

/** The lines that are kept, in lower-case letters and in order. */
const linesOf = (text: string): string[] =>
  text
    .split('\r\n')
    .filter((line) => line !== '')
    .map((line) => line.toLowerCase())
    .toSorted();

/** What the origin says, without lines of these names. */
const without = (...names: readonly string[]): string[] =>
  linesOf(ofOrigin).filter(
    (line) => ![...names, 'keep-alive', 'x-request-id'].includes(line.split(':')[0]!),
  );

const delivery = { ...noDelivery, responseFields: [hidden, replaced] };
const strict = { strictTransportSecurity: 'max-age=600' };
const rows: Readonly<Record<string, readonly [Partial<SiteConfig>, object, readonly string[]]>> = {
  'no setting: what is for one connection only': [{}, {}, []],
  'header rules': [{ delivery }, {}, ['x-powered-by', 'x_powered_by', 'x-frame-options']],
  'Strict-Transport-Security of the site': [{}, strict, ['strict-transport-security']],
  'fields on rate limits': [
    { rates: { limits: [limit], globalBans: [] }, rateLimitFields: true },
    {},
    ['ratelimit', 'ratelimit-policy'],
  ],
};

test.each(
  Object.entries(rows).flatMap(([name, row]) => ways.map((way) => [name, ...way, ...row] as const)),
)('%s: left out of a 103 over %s', async (_, __, interimOver, change, tls, names) => {
  const lines = linesOf(await interimOver(await start(change, tls)));
  expect(lines).toEqual(without(...names));
  expect(lines).toContain(`link: ${link}`);
});
