/**
 * Runs the product: an uploaded certificate serves a site over TLS, plain HTTP is redirected, the
 * rules see what was encrypted, and a changed certificate serves at once. No key leaves the store
 * but for the engine's own files.
 */

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { missingBuild, startProduct, type Product } from '../support/product.ts';
import { makeTestCertificate, type TestCertificate } from '../support/test-certificates.ts';

let product: Product;
let securePort = 0;
let origin: http.Server;
let first: TestCertificate;

if (missingBuild !== null) console.log(missingBuild);

function must(...words: string[]): string {
  const { code, stdout, stderr } = product.waf(...words);
  if (code !== 0) throw new Error(`waf ${words.join(' ')}: ${stderr}`);
  return stdout + stderr;
}

/** Asks over TLS; trusts the given certificate only. */
function ask(ca: string, path: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port: securePort, servername: 'shop.test', ca, path };
    const headers = { host: 'shop.test' };
    const asked = https.request({ ...options, headers, agent: false }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
    });
    asked.on('error', reject).end();
  });
}

function upload(name: string, { cert, key }: TestCertificate): string {
  const files = [join(product.data, `${name}.crt`), join(product.data, `${name}.key`)] as const;
  writeFileSync(files[0], cert);
  writeFileSync(files[1], key, { mode: 0o600 });
  return must('cert', 'import', '--name', name, '--cert', files[0], '--key', files[1]);
}

beforeAll(async () => {
  if (missingBuild !== null) return;
  securePort = await freePort();
  origin = http.createServer((request, response) => {
    response.end(`proto=${String(request.headers['x-forwarded-proto'])}`);
  });
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const { port } = origin.address() as { port: number };
  product = await startProduct('--no-demo', '--https', `127.0.0.1:${securePort}`);
  first = await makeTestCertificate({ names: ['shop.test'] });
  upload('first', first);
  must(
    'site',
    'create',
    '--name',
    'shop',
    '--host',
    'shop.test',
    '--upstream',
    `http://127.0.0.1:${port}`,
  );
});

afterAll(async () => {
  if (missingBuild !== null) return;
  await product.stop();
  origin.close();
});

test.skipIf(missingBuild !== null)('a site with a certificate is served over TLS', async () => {
  const said = must('site', 'tls', 'shop', '--cert', 'first', '--http', 'redirect', '--hsts', '60');
  const at = `shop.test:${securePort}`;
  expect(said).toContain(`Try: curl -i --resolve ${at}:127.0.0.1 https://${at}/ shows`);
  await eventually(async () => {
    const { status, body } = await ask(first.cert, '/').catch(() => ({ status: 0, body: '' }));
    return status === 200 && body === 'proto=https';
  });
  const attack = await ask(first.cert, '/?id=1%27%20OR%20%271%27=%271');
  expect(attack.status).toBe(403);
  const plain = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const headers = { host: 'shop.test' };
    const options = { port: product.proxyPort, path: '/a?b', headers, agent: false };
    http.get(options, resolve).on('error', reject);
  });
  plain.resume();
  expect(plain.statusCode).toBe(308);
  expect(plain.headers['location']).toBe(`https://shop.test:${securePort}/a?b`);
});

test.skipIf(missingBuild !== null)('a changed certificate fails no handshake', async () => {
  const second = await makeTestCertificate({ names: ['shop.test'] });
  upload('second', second);
  let failed = 0;
  let asked = 0;
  let seen = new Set<string>();
  let going = true;
  const clients = Array.from({ length: 4 }, async () => {
    while (going) {
      asked++;
      await new Promise<void>((resolve) => {
        const options = {
          host: '127.0.0.1',
          port: securePort,
          servername: 'shop.test',
          rejectUnauthorized: false,
        };
        const socket = tls.connect(options, () => {
          seen = seen.add(socket.getPeerCertificate().fingerprint256);
          socket.destroy();
        });
        socket.on('error', () => void failed++);
        socket.on('close', () => resolve());
      });
    }
  });
  // Beside the clients: `must` would keep them waiting.
  await product.wafBeside('site', 'tls', 'shop', '--cert', 'second');
  await eventually(async () => {
    const { status } = await ask(second.cert, '/').catch(() => ({ status: 0 }));
    return status === 200;
  });
  await eventually(() => seen.size > 1 && asked > 8);
  going = false;
  await Promise.all(clients);
  expect(seen.size).toBe(2);
  expect(failed).toBe(0);
});

test.skipIf(missingBuild !== null)(
  'keys are in files for their owner only, and in no output',
  () => {
    const secret = first.key.split('\n')[1] ?? '';
    expect(secret).toHaveLength(64);
    expect(product.output()).not.toContain(secret);
    for (const words of [
      ['cert', 'list'],
      ['cert', 'get', 'first'],
      ['export'],
      ['audit', 'list'],
    ]) {
      expect(must(...words, '--output', 'json')).not.toContain(secret);
    }
    const parts = join(product.data, 'engine', 'parts');
    for (const name of readdirSync(parts)) {
      const found = statSync(join(parts, name), { throwIfNoEntry: false });
      if (found !== undefined) expect(found.mode & 0o077).toBe(0);
    }
    const open = execFileSync('find', [product.data, '-type', 'f', '-perm', '/077'], {
      encoding: 'utf8',
    });
    for (const path of open.split('\n').filter((one) => one !== '' && !one.endsWith('.crt'))) {
      expect(readFileSync(path).includes(secret), path).toBe(false);
    }
  },
);
