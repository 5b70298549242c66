/**
 * Runs the product against pebble, a test authority that refuses good nonces at random: a site gets
 * its certificate by HTTP-01, a wildcard by DNS-01, renewals change what is served while traffic
 * flows, and what the authority refuses is said.
 */

import https from 'node:https';
import tls from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { startRenewalAuthority } from '../support/renewal-authority.ts';
import { missingPebble, startPebble, type Pebble } from '../support/pebble.ts';
import { missingBuild, startProduct, type Product } from '../support/product.ts';
import { makeTestCertificate } from '../support/test-certificates.ts';

let product: Product;
let pebble: Pebble;
let securePort = 0;
let stub: https.Server;
/** Calls that the stub of the DNS provider took. */
const calls: string[] = [];

const missing = missingBuild ?? missingPebble;
if (missing !== null) console.log(missing);

async function must(...words: string[]): Promise<string> {
  return product.wafBeside(...words);
}

interface Shown {
  readonly names: string;
  readonly fingerprint: string;
  readonly serial: bigint;
}

/** The certificate that a name gets; rejects when the handshake fails. */
function shown(servername: string, port = securePort): Promise<Shown> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, servername, rejectUnauthorized: false };
    const socket = tls.connect(options, () => {
      const { subjectaltname = '', fingerprint256, serialNumber } = socket.getPeerCertificate();
      const serial = BigInt(`0x${serialNumber}`);
      resolve({ names: subjectaltname, fingerprint: fingerprint256, serial });
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

/** The console's start at a name. */
function consolePage(port: number, servername: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { host: `${servername}:${port}`, accept: 'text/html' };
    const to = { host: '127.0.0.1', port, servername, headers, rejectUnauthorized: false };
    const asked = https.get(to, (answer) => {
      let text = '';
      answer.setEncoding('utf8').on('data', (part: string) => (text += part));
      answer.on('end', () => resolve(text));
    });
    asked.on('error', reject);
  });
}

/** Waits until a name gets a certificate with these names. */
function names(servername: string, wanted: string): Promise<boolean> {
  return eventually(async () => {
    const found = await shown(servername).catch(() => null);
    return found?.names === wanted;
  });
}

/** Cloudflare's API as far as the driver uses it; records go into pebble's DNS. */
async function startStub(): Promise<number> {
  const leaf = await makeTestCertificate({ names: ['127.0.0.1'], issuer: pebble.authority });
  stub = https.createServer({ key: leaf.key, cert: leaf.cert }, (request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      calls.push(`${method} ${url}`);
      const answer = async (): Promise<unknown> => {
        if (headers.authorization !== 'Bearer secret-token') return null;
        if (method === 'GET') return url.endsWith('?name=wild.test') ? [{ id: 'zone1' }] : [];
        if (method === 'DELETE') return { id: 'record1' };
        const { name, content } = JSON.parse(body) as { name: string; content: string };
        await pebble.setTxt(name, content);
        return { id: 'record1' };
      };
      void answer().then((result) => {
        response.statusCode = result === null ? 403 : 200;
        response.end(JSON.stringify({ success: result !== null, result }));
      });
    });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => stub.listen(port, '127.0.0.1', resolve));
  return port;
}

beforeAll(async () => {
  if (missing !== null) return;
  securePort = await freePort();
  product = await startProduct('--no-demo', '--https', `127.0.0.1:${securePort}`);
  pebble = await startPebble({ httpPort: product.proxyPort });
  const config = { directoryUrl: pebble.directoryUrl, caPem: pebble.authority.cert };
  await must('system', 'settings-set', '--set', `acme.config=${JSON.stringify(config)}`);
  await must('system', 'settings-set', '--set', 'outgoing.allowed_networks=["127.0.0.0/8"]');
});

afterAll(async () => {
  if (missing !== null) return;
  await product.stop();
  pebble.stop();
  stub?.close();
});

const create = (name: string, host: string): Promise<string> =>
  must('site', 'create', '--name', name, '--host', host, '--upstream', 'http://127.0.0.1:9');

test.skipIf(missing !== null)(
  'the console is on a name with a managed certificate; other clients get that of the listener',
  async () => {
    const port = product.managementPort;
    const own = await shown('localhost', port);
    expect(await must('system', 'console')).toContain('No name is set.');
    const said = await must('system', 'console', '--host', 'Console.test');
    expect(said).toContain('the certificate of console.test');
    const managed = await shown('console.test', port);
    expect(managed.names).toBe('DNS:console.test');
    expect(await shown('localhost', port)).toEqual(own);
    const page = await consolePage(port, 'console.test');
    expect(page).toContain('<!doctype html>');
    await must('cert', 'renew', 'console.test', '--force');
    await eventually(
      async () => (await shown('console.test', port)).fingerprint !== managed.fingerprint,
    );
    await must('system', 'console', '--off');
    expect(await shown('console.test', port)).toEqual(own);
  },
);

test.skipIf(missing !== null)(
  'HTTP-01: a site gets its certificate, and a renewed one',
  async () => {
    await create('shop', 'shop.test');
    const issued = await must('cert', 'issue', '--name', 'shop', '--host', 'shop.test');
    expect(issued).toContain('managed');
    await must('site', 'tls', 'shop', '--acme', '--http', 'redirect');
    await names('shop.test', 'DNS:shop.test');
    const before = (await shown('shop.test')).fingerprint;
    let going = true;
    let failed = 0;
    const traffic = (async () => {
      while (going) await shown('shop.test').catch(() => failed++);
    })();
    // Plain HTTP is redirected by now; the authority still gets its answer.
    await must('cert', 'renew', 'shop', '--force');
    await eventually(async () => (await shown('shop.test')).fingerprint !== before);
    going = false;
    await traffic;
    expect(failed).toBe(0);
  },
);

test.skipIf(missing !== null)(
  'a name that cannot be proved is said, and nothing of it stays',
  async () => {
    // Nobody listens there.
    await pebble.setAddress('bad.test', '127.0.0.9');
    const failed = must('cert', 'issue', '--name', 'bad', '--host', 'bad.test');
    await expect(failed).rejects.toThrow(
      /failed_precondition: order-[^:]+: the authority refused it \(connection\)/,
    );
    expect(await must('cert', 'list')).not.toContain('bad.test');
    // What was put in place for the proof is taken back.
    const left = await fetch(`http://127.0.0.1:${product.proxyPort}/.well-known/acme-challenge/x`);
    expect(left.status).toBe(404);
  },
);

test.skipIf(missing !== null)('DNS-01: a wildcard, by the API of a provider', async () => {
  const port = await startStub();
  const wild = ['cert', 'issue', '--name', 'wild', '--host', '*.wild.test', '--host', 'wild.test'];
  await expect(must(...wild)).rejects.toThrow(/dns-01/);
  const credentials = `${product.data}/dns.json`;
  const { writeFileSync } = await import('node:fs');
  writeFileSync(credentials, JSON.stringify({ apiToken: 'secret-token' }));
  const account = ['--name', 'cf', '--provider', 'cloudflare', '--credentials', credentials];
  const endpoint = ['--setting', `endpoint=https://127.0.0.1:${port}`, '--zone', 'wild.test'];
  await must('cert', 'dns-create', ...account, ...endpoint);
  await must(...wild, '--challenge', 'dns-01');
  expect(calls.filter((one) => one.startsWith('POST'))).toHaveLength(2);
  expect(calls.filter((one) => one.startsWith('DELETE'))).toHaveLength(2);
  await create('wild', '*.wild.test');
  await must('site', 'tls', 'wild', '--acme');
  await names('x.wild.test', 'DNS:*.wild.test, DNS:wild.test');
});

test.skipIf(missing !== null)(
  'a site that asks for a managed certificate gets one by itself',
  async () => {
    await create('auto', 'auto.test');
    await must('site', 'tls', 'auto', '--acme');
    expect(await names('auto.test', 'DNS:auto.test')).toBe(true);
  },
);

test.skipIf(missing !== null)(
  'a certificate is renewed in the window of its authority, and names what it replaces',
  async () => {
    const authority = await startRenewalAuthority(pebble);
    const { directoryUrl } = authority;
    const config = { directoryUrl, caPem: pebble.authority.cert };
    await must('system', 'settings-set', '--set', `acme.config=${JSON.stringify(config)}`);
    await create('ari', 'ari.test');
    await must('cert', 'issue', '--name', 'ari', '--host', 'ari.test');
    await must('site', 'tls', 'ari', '--acme');
    // Two thirds of its life are far away: only the authority's window makes it due.
    await eventually(() => authority.asked.length === 2);
    expect(authority.replaced).toEqual([null, authority.asked[0]]);
    const [, number = ''] = authority.asked[1]!.split('.');
    const serial = BigInt(`0x${Buffer.from(number, 'base64url').toString('hex')}`);
    await eventually(async () => (await shown('ari.test')).serial === serial);
    authority.stop();
  },
);
