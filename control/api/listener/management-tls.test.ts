/** The proof of the management listener's TLS: certificate, protocols, headers, refusals. */

import { X509Certificate } from 'node:crypto';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect as connectHttp2 } from 'node:http2';
import { request as plainRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { createClient } from '@connectrpc/connect';
import { createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { silentLogger } from '../../../base/log.ts';
import { SiteService } from '../../../proto/gen/waf/v1/site_pb.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { openTlsIdentity } from './management-tls.ts';
import { makeAuthority, makeServerCertificate } from './own-certificate.ts';

let waf: TestControl;
let ca = '';
let port = 0;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null, managementTls: 'own' });
  ca = readFileSync(join(waf.folder, 'tls', 'ca.pem'), 'utf8');
  port = waf.control.managementPort;
});
afterAll(async () => {
  await waf.control.close();
  rmSync(waf.folder, { recursive: true, force: true });
});

interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

function send(options: RequestOptions, body: string, plain = false): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const make = plain ? plainRequest : httpsRequest;
    const all = { host: '127.0.0.1', port, agent: false, ca, ...options };
    const request = make(all, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

const login = (headers: Record<string, string> = {}, plain = false): Promise<Reply> =>
  send(
    {
      method: 'POST',
      path: '/waf.v1.AuthService/Login',
      headers: { 'content-type': 'application/json', ...headers },
    },
    JSON.stringify({ username: 'admin', password: waf.password }),
    plain,
  );

test('the certificate of our own is made once, keys are private, names fit', () => {
  const tls = join(waf.folder, 'tls');
  for (const key of ['ca.key', 'server.key']) {
    expect(statSync(join(tls, key)).mode & 0o777).toBe(0o600);
  }
  const server = new X509Certificate(readFileSync(join(tls, 'server.pem')));
  expect(server.verify(new X509Certificate(ca).publicKey)).toBe(true);
  expect(server.ca).toBe(false);
  expect(server.checkHost('localhost')).toBe('localhost');
  for (const address of ['127.0.0.1', '::1']) expect(server.checkIP(address)).toBe(address);
});

test('a sign-in over TLS: Secure cookie, and the headers that browsers obey', async () => {
  const { status, headers } = await login();
  expect(status).toBe(200);
  expect(headers['set-cookie']).toEqual([expect.stringMatching(/HttpOnly; SameSite=Strict; Sec/)]);
  expect(headers).toMatchObject({
    'strict-transport-security': 'max-age=63072000',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  });
  const health = await send({ path: '/healthz' }, '');
  expect(health).toMatchObject({ status: 200, text: '{"status":"ok"}' });
  expect(health.headers['strict-transport-security']).toBeDefined();
});

test('without trust in the authority nobody connects; without TLS nobody is served', async () => {
  await expect(send({ path: '/healthz', ca: [] }, '')).rejects.toThrow(/certificate/);
  const plain = await login({}, true);
  expect(plain.status).toBe(400);
  expect(plain.text).toContain('https://');
  expect(plain.headers['set-cookie']).toBeUndefined();
});

test('HTTP/2 by ALPN, so that gRPC works; gRPC-Web over HTTP/1.1', async () => {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ca });
  await new Promise((resolve) => session.once('connect', resolve));
  expect(session.alpnProtocol).toBe('h2');
  session.close();
  const answer = await login();
  const { accessToken } = JSON.parse(answer.text) as { accessToken: string };
  const headers = { authorization: `Bearer ${accessToken}` };
  const baseUrl = `https://localhost:${port}`;
  for (const transport of [
    createGrpcTransport({ baseUrl, nodeOptions: { ca } }),
    createGrpcWebTransport({ baseUrl, httpVersion: '1.1', nodeOptions: { ca } }),
  ]) {
    const client = createClient(SiteService, transport);
    expect((await client.listSites({}, { headers })).page?.total).toBe(0n);
    await expect(client.listSites({})).rejects.toThrow(/\[unauthenticated\] sign in/);
  }
});

test('old versions of TLS are refused', async () => {
  const socket = connect({
    host: '127.0.0.1',
    port,
    ca,
    maxVersion: 'TLSv1.1',
    minVersion: 'TLSv1',
  });
  const refused = await new Promise((resolve) => {
    socket.on('error', () => resolve(true));
    socket.on('secureConnect', () => resolve(false));
  });
  expect(refused).toBe(true);
});

test('pages of other sites may not call; our own origin and programs may', async () => {
  const own = `https://127.0.0.1:${port}`;
  expect((await login({ origin: own, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: own, 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ];
  for (const headers of foreign) {
    const { status, text } = await login(headers);
    expect([status, JSON.parse(text)]).toMatchObject([403, { code: 'permission_denied' }]);
  }
});

test('a form cannot call: its content types are no RPC', async () => {
  const forms = ['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data'];
  for (const type of forms) {
    const { status, headers } = await login({ 'content-type': type });
    expect(status).toBe(415);
    expect(headers['set-cookie']).toBeUndefined();
  }
});

const dayMs = 24 * 3600 * 1000;

test('our own certificate is kept, and renewed before it ends', async () => {
  const folder = join(waf.folder, 'renewal');
  let nowMs = Date.now();
  const clock = { nowMs: () => nowMs, monotonicUs: () => 0 };
  const open = async (host = '127.0.0.1'): Promise<string> => {
    const identity = await openTlsIdentity('own', { folder, host, clock, logger: silentLogger });
    identity.close();
    return identity.fingerprint();
  };
  const first = await open();
  expect(await open()).toBe(first);
  nowMs += 370 * dayMs;
  const authority = readFileSync(join(folder, 'ca.pem'), 'utf8');
  const second = await open();
  expect(second).not.toBe(first);
  // Clients that trust the authority need not be told.
  expect(readFileSync(join(folder, 'ca.pem'), 'utf8')).toBe(authority);
  expect(await open('waf.example')).not.toBe(second);
});

test('files of the operator take its place; what cannot work is refused by flag', async () => {
  const authority = await makeAuthority(Date.now());
  const [one, other] = await Promise.all([
    makeServerCertificate(authority, ['waf.test'], Date.now()),
    makeServerCertificate(authority, ['waf.test'], Date.now()),
  ]);
  const file = (name: string, text: string): string => {
    writeFileSync(join(waf.folder, name), text);
    return join(waf.folder, name);
  };
  const certificateFile = file('one.pem', one.certificate);
  const folder = join(waf.folder, 'unused');
  const open = (keyFile: string) =>
    openTlsIdentity(
      { certificateFile, keyFile },
      {
        folder,
        host: '127.0.0.1',
        clock: { nowMs: Date.now, monotonicUs: () => 0 },
        logger: silentLogger,
      },
    );
  const identity = await open(file('one.key', one.key));
  expect(identity.fingerprint()).toBe(new X509Certificate(one.certificate).fingerprint256);
  identity.close();
  await expect(open(file('other.key', other.key))).rejects.toThrow('does not belong to the key');
  await expect(open(file('bad.key', 'no key'))).rejects.toThrow('not PEM');
  await expect(open(join(waf.folder, 'absent.key'))).rejects.toThrow('--management-key');
});
