/** A file changes what it names of a delivery; hashes are never read back, and stay. */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { hashPathPassword } from '../../../base/path-password.ts';
import { keepPrinted } from '../../../test/support/printed.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { loadCommands } from '../commands.ts';
import { runCommandLine } from '../program.ts';

const commands = await loadCommands([]);
const file = join(mkdtempSync(join(tmpdir(), 'waf-delivery-')), 'delivery.json');
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
