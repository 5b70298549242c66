/**
 * Runs the product: an origin that is dead, or whose certificate nobody trusts, shows in the log,
 * in health, in doctor, and names its cause; one that comes back is healthy again.
 */

import { request as httpRequest } from 'node:http';
import { createServer, type Server } from 'node:https';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { missingBuild, type Product } from '../support/product.ts';
import { borrowProduct } from '../support/shared-product.ts';
import { makeTestCertificate, type TestCertificate } from '../support/test-certificates.ts';

let product: Product;
let origin: Server;
let authority: TestCertificate;
let port = 0;
let pool = '';
let created = '';

if (missingBuild !== null) console.log(missingBuild);

/** One request to the site; its status. */
function ask(host = 'shop.test'): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { host };
    const asked = httpRequest({ port: product.proxyPort, headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    asked.on('error', reject);
    asked.end();
  });
}

/** Runs a command that has to succeed; all that it printed. */
function must(...words: string[]): string {
  const { code, stdout, stderr } = product.waf(...words);
  if (code !== 0) throw new Error(`waf ${words.join(' ')}: ${stderr}`);
  return stdout + stderr;
}

/** Tables cut long cells; what is wrong stands below in full. */
const health = (): string => {
  const { stdout, stderr } = product.waf('system', 'health');
  return stdout + stderr;
};

beforeAll(async () => {
  if (missingBuild !== null) return;
  authority = await makeTestCertificate({ subject: 'CN=Own CA', authority: true });
  const leaf = await makeTestCertificate({ names: ['origin.internal'], issuer: authority });
  origin = createServer({ key: leaf.key, cert: leaf.cert }, (_request, response) => {
    response.end('hello');
  });
  port = await freePort();
  product = await borrowProduct('--no-demo');
  const url = `https://127.0.0.1:${port}`;
  created = must('upstream', 'create', '--name', 'app', '--endpoint', url);
  pool = /upstream-[0-9a-f-]+/.exec(created)?.[0] ?? '';
  must('site', 'create', '--name', 'shop', '--host', 'shop.test', '--upstream', url, '--no-waf');
  must('site', 'update', 'shop', '--pool', 'app');
}, 300_000);

afterAll(async () => {
  origin?.close();
  await product?.stop();
});

test.skipIf(missingBuild !== null)('a dead origin shows wherever an operator looks', async () => {
  // The pool is stored, and the response names the failure at once.
  expect(created).toMatch(/ is unhealthy: the address is unknown, unreachable/);
  await eventually(async () => (await ask()) === 502);
  await eventually(() => /^origins +unhealthy/m.test(health()));
  expect(health()).toMatch(/https:\/\/127\.0\.0\.1:\d+ of pool app: the address is unknown, /);
  expect(product.waf('system', 'health').code).toBe(1);
  expect(product.waf('doctor').stdout).toMatch(
    /^error +origins: https:\/\/127\.0\.0\.1:\d+ of pool/m,
  );
  // Each thread logs it once, when it first meets the origin.
  for (let i = 0; i < 20; i++) await ask();
  await eventually(() => product.output().includes('an origin does not answer'));
  const lines = product.output().match(/an origin does not answer/g) ?? [];
  for (let i = 0; i < 20; i++) await ask();
  const after = product.output().match(/an origin does not answer/g) ?? [];
  expect(after.length).toBe(lines.length);
});

test.skipIf(missingBuild !== null)(
  'an origin of a private CA is reported as such, then serves',
  async () => {
    await new Promise<void>((resolve) => origin.listen(port, '127.0.0.1', resolve));
    await eventually(
      async () => (await ask()) === 502 && health().includes('TLS: the certificate'),
    );
    expect(health()).toContain('is of an unknown authority');
    const file = join(mkdtempSync(join(tmpdir(), 'waf-ca-')), 'ca.pem');
    writeFileSync(file, authority.cert);
    const words = ['--origin-ca', file, '--server-name', 'origin.internal'];
    // The origin lives in this thread, which the command holds: what its probe says is no matter.
    expect(product.waf('upstream', 'update', pool, ...words)).toMatchObject({ code: 0 });
    await eventually(async () => (await ask()) === 200);
    await eventually(() => /^origins +healthy/m.test(health()));
    await eventually(() => product.output().includes('an origin answers again'));
  },
);

test.skipIf(missingBuild !== null)(
  'a site with an origin of its own names authority and name, too',
  async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'waf-ca-')), 'ca.pem');
    writeFileSync(file, authority.cert);
    const url = `https://127.0.0.1:${port}`;
    const made = ['site', 'create', '--name', 'own', '--host', 'own.test', '--upstream', url];
    must(...made, '--no-waf', '--origin-ca', file);
    await eventually(async () => (await ask('own.test')) === 502);
    must('site', 'update', 'own', '--server-name', 'origin.internal');
    await eventually(async () => (await ask('own.test')) === 200);
    // A further origin leaves the verification as it is.
    must('site', 'update', 'own', '--upstream', `https://localhost:${port}`);
    expect(must('site', 'get', 'own', '--output', 'json')).toMatch(
      /origin\.internal[^]*origin\.internal/,
    );
    must('site', 'update', 'own', '--origin-ca', '', '--skip-verify', 'yes');
    await eventually(async () => (await ask('own.test')) === 200);
    const { stderr } = product.waf('site', 'update', 'shop', '--skip-verify', 'yes');
    expect(stderr).toContain('the site uses a pool, which has its own TLS settings');
  },
);

test.skipIf(missingBuild !== null)('the build names its commit, its time and its libraries', () => {
  const { stdout } = product.waf('version', '--server', '--output', 'json');
  const { build } = JSON.parse(stdout) as {
    build: { commit: string; buildDate: string; libraries: Record<string, string> };
  };
  // Unknown outside a checkout, never invented.
  expect(build.commit ?? '').toMatch(/^(?:[0-9a-f]{40}\+?)?$/);
  expect(Date.parse(build.buildDate)).toBeGreaterThan(Date.parse('2026-01-01'));
  expect(build.libraries['hyperscan']).toMatch(/^\d+\.\d+/);
});
