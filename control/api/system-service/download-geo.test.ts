/**
 * The proof of fetched geo databases against a real server on loopback: what is kept, what is
 * refused, and that a failure leaves what was there.
 */

import { createHash } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { makeTestMmdb } from '../../../test/support/test-mmdb.ts';

/** Allowed by the setting; 127.0.0.1 is not, although the same machine answers there. */
const allowedHost = '127.0.0.2';
let waf: TestControl;
let server: Server;
let port = 0;
let answer: RequestListener;
const asked: string[] = [];

const send = (content: string | Buffer): RequestListener => {
  return (_request, response) => void response.end(content);
};
const download = (body: object) => waf.call('SystemService/DownloadGeoDatabase', body);
const set = async (values: object): Promise<void> => {
  const { status, text } = await waf.call('SystemService/UpdateSystemSettings', { values });
  expect({ status, text }).toMatchObject({ status: 200 });
};
const countryOfProduct = async (): Promise<unknown> => {
  const { body } = await waf.call('SystemService/ListGeoDatabases', {});
  return (body['items'] as { kind: string }[]).find(({ kind }) => kind === 'country');
};
const refusal = async (body: object): Promise<string> => {
  const { status, body: found } = await download(body);
  expect(status).not.toBe(200);
  return `${String(found['code'])} ${String(found['message'])}`;
};

beforeAll(async () => {
  waf = await startTestControl({
    fetchLimits: { bytesMax: 100_000, timeoutMs: 60_000, idleTimeoutMs: 1_500 },
  });
  server = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  port = (server.address() as AddressInfo).port;
  await set({
    'outgoing.allowed_networks': [`${allowedHost}/32`],
    'geo.download_url': `http://${allowedHost}:${port}/{kind}/{month}.mmdb.gz`,
  });
});
beforeEach(() => void asked.splice(0));
afterAll(async () => {
  await waf.control.close();
  server.closeAllConnections();
  server.close();
});

test('a month is fetched, kept as its kind, and audited', async () => {
  answer = send(gzipSync(makeTestMmdb('CH')));
  const { status, body } = await download({ kind: 'country', month: '2026-09' });
  expect(status).toBe(200);
  expect(body['database']).toMatchObject({
    kind: 'country',
    version: '2026-09',
    source: 'online',
    nodeCount: '1',
    sha256: createHash('sha256').update(makeTestMmdb('CH')).digest('hex'),
    activationStatus: 'pending',
  });
  expect(asked).toEqual(['/country/2026-09.mmdb.gz']);
  expect(await countryOfProduct()).toMatchObject({ source: 'online', version: '2026-09' });
  const { text } = await waf.call('AuditService/QueryAudit', {});
  expect(text).toContain('"action":"download"');
});

test('without a month the latest there is', async () => {
  const last = new Date();
  last.setUTCDate(0);
  const month = last.toISOString().slice(0, 7);
  answer = (request, response) => {
    response.statusCode = request.url?.includes(month) === true ? 200 : 404;
    response.end(makeTestMmdb('ZZ', 'Test-ASN'));
  };
  const { body } = await download({ kind: 'asn' });
  expect(body['database']).toMatchObject({ version: month, activationStatus: 'not_applicable' });
  expect(asked).toHaveLength(2);
  answer = (_request, response) => void response.writeHead(404).end();
  expect(await refusal({ kind: 'city', month: '2020-01' })).toBe(
    'not_found month: the source has no city database of 2020-01',
  );
});

test('what is no such database, too large, slow or not allowed changes nothing', async () => {
  const before = await countryOfProduct();
  const month = '2026-10';
  const cases: readonly (readonly [string, RequestListener])[] = [
    ['sent no country database', send('hello')],
    ['sent no country database', send(makeTestMmdb('ZZ', 'Test-ASN'))],
    ['is damaged', send(gzipSync(makeTestMmdb('ZZ')).subarray(0, 60))],
    ['larger than', send(gzipSync(Buffer.alloc(200_000)))],
    ['more than 100000 bytes', send(Buffer.alloc(200_000))],
    ['silent', (_request, response) => void response.write('x')],
    ['status 500', (_request, response) => void response.writeHead(500).end()],
    [
      'not allowed; see the setting outgoing.allowed_networks',
      (_request, response) => {
        response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end();
      },
    ],
  ];
  for (const [reason, listener] of cases) {
    answer = listener;
    const text = await refusal({ kind: 'country', month });
    expect(text).toContain(reason);
    expect(text).toMatch(/^(unavailable|failed_precondition) kind: /);
  }
  expect(await countryOfProduct()).toEqual(before);
});

test('a published digest must be that of the file', async () => {
  await set({ 'geo.digest_url': `http://${allowedHost}:${port}/{kind}/{month}.sha256` });
  const file = gzipSync(makeTestMmdb('FR'));
  let digest = 'nothing';
  answer = (request, response) =>
    void response.end(request.url?.endsWith('.sha256') === true ? digest : file);
  const body = { kind: 'country', month: '2026-11' };
  expect(await refusal(body)).toContain('is no SHA-256 digest');
  digest = `${'0'.repeat(64)}  x.mmdb.gz\n`;
  expect(await refusal(body)).toContain('does not have the published digest');
  digest = `${createHash('sha256').update(file).digest('hex')}  x.mmdb.gz\n`;
  expect((await download(body)).body['database']).toMatchObject({ version: '2026-11' });
});

test('requests and settings are checked, and fetches come one at a time', async () => {
  expect(await refusal({ kind: 'planet' })).toMatch(/^invalid_argument kind:/);
  expect(await refusal({ kind: 'asn', month: '2026-13' })).toMatch(/^invalid_argument month:/);
  const values = { 'geo.download_url': 'http://x.test/fixed.mmdb' };
  const { body } = await waf.call('SystemService/UpdateSystemSettings', { values });
  expect(body['message']).toMatch(/^values\.geo\.download_url: must be an http\(s\) URL with/);
  const waiting: (() => void)[] = [];
  answer = (_request, response) => void waiting.push(() => response.end());
  const first = download({ kind: 'asn', month: '2026-09' });
  await eventually(() => waiting.length > 0);
  expect(await refusal({ kind: 'asn' })).toMatch(/^aborted another geo database/);
  waiting[0]?.();
  expect((await first).status).not.toBe(200);
});
