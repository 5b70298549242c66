/** A file changes what it names of a delivery; hashes are never read back, and stay. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { hashPathPassword } from '../../../base/path-password.ts';
import { keepPrinted } from '../../../test/support/printed.ts';
import {
  makeRevocationList,
  makeTestCertificate,
} from '../../../test/support/test-certificates.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { loadCommands } from '../commands.ts';
import { runCommandLine } from '../program.ts';

const commands = await loadCommands([]);
const file = join(mkdtempSync(join(tmpdir(), 'waf-delivery-')), 'delivery.json');
const list = join(dirname(file), 'list.crl');
const passwordHash = hashPathPassword('a long secret');
let waf: TestControl;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  await run('site create --name shop --host shop.test --upstream http://127.0.0.1:1');
});
afterAll(() => waf.control.close());
afterEach(() => vi.restoreAllMocks());

async function run(line: string, content?: object): Promise<string> {
  const printed = keepPrinted();
  if (content !== undefined) writeFileSync(file, JSON.stringify(content));
  const args = [...line.split(' '), '--admin-socket', waf.socket, '--output', 'json'];
  const code = await runCommandLine(commands, args);
  vi.restoreAllMocks();
  return `${code} ${code === 0 ? printed.out : printed.err}`;
}

test('what a file does not name stays, and an empty list removes', async () => {
  const redirects = [{ path: '/a', target: '/b', status: 301 }];
  expect(await run(`site delivery shop --file ${file}`, { redirects })).toMatch(/^0 /);
  const bodyLimits = [{ pathPrefix: '/', maxBytes: '10' }];
  expect(await run(`site delivery shop --file ${file}`, { bodyLimits })).toMatch(/^0 /);
  const shown = await run('site delivery shop');
  expect(shown).toContain('"/a"');
  expect(shown).toContain('"maxBytes"');
  expect(await run(`site delivery shop --file ${file}`, { redirects: [] })).toMatch(/^0 /);
  expect(await run('site delivery shop')).not.toContain('"/a"');
});

test('revocation lists are taken in PEM and DER, without the rest of the setting', async () => {
  const authority = await makeTestCertificate({ subject: 'CN=ours', authority: true });
  const pem = await makeRevocationList(authority, [
    await makeTestCertificate({ issuer: authority }),
  ]);
  const der = Buffer.from(pem.replaceAll(/-----[^-]+-----/g, ''), 'base64');
  const caPem = authority.cert;
  const set = { clientCertificates: { caPem, optional: true } };
  expect(await run(`site delivery shop --file ${file}`, set)).toMatch(/^0 /);
  for (const content of [pem, der]) {
    writeFileSync(list, content);
    expect(await run(`site client-crl shop --file ${list}`)).toMatch(/^0 /);
    const { site } = JSON.parse((await run('site delivery shop')).slice(2)) as {
      site: { delivery: { clientCertificates: object } };
    };
    expect(site.delivery.clientCertificates).toEqual({ caPem, optional: true, crlPem: pem });
    expect(await run('site client-crl shop --off')).not.toContain('X509 CRL');
  }
  writeFileSync(list, caPem);
  expect(await run(`site client-crl shop --file ${list}`)).toMatch(/^1 .*crlPem/);
  expect(await run('site client-crl shop')).toMatch(/^1 .*--file or --off/);
});

test('a hash is shown as configured, and kept where that comes back', async () => {
  const rule = (hash: string, name = 'ann') => ({
    basicAuth: [{ pathPrefix: '/in', users: [{ name, passwordHash: hash }] }],
  });
  expect(await run(`site delivery shop --file ${file}`, rule(passwordHash))).toMatch(/^0 /);
  expect(await run('site get shop')).not.toContain(passwordHash);
  expect(await run('site delivery shop')).toContain('"configured"');
  expect(await run(`site delivery shop --file ${file}`, rule('configured'))).toMatch(/^0 /);
  expect(await run(`site delivery shop --file ${file}`, rule('configured', 'bob'))).toMatch(
    /^1 .*passwordHash/,
  );
  const kept = await waf.call('SiteService/ListSites', {});
  expect(kept.text).not.toContain(passwordHash);
  const audit = await waf.call('AuditService/QueryAudit', {});
  expect(audit.text).toContain('"configured"');
  expect(audit.text).not.toContain(passwordHash);
});
