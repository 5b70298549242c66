/** Tests the commands on API tokens, and the three ways in which commands get a token. */

import { chmodSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { keepPrinted } from '../../../test/support/printed.ts';
import { startTestControl, type TestControl } from '../../../test/support/test-control.ts';
import { loadCommands } from '../commands.ts';
import { runCommandLine } from '../program.ts';

const commands = await loadCommands([]);
const folder = mkdtempSync(join(tmpdir(), 'waf-token-commands-'));
let waf: TestControl;
let remote: string;

beforeAll(async () => {
  waf = await startTestControl({ demoOrigin: null });
  remote = `http://127.0.0.1:${waf.control.managementPort}`;
});
afterAll(() => waf.control.close());
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

async function run(...args: string[]) {
  const printed = keepPrinted();
  const code = await runCommandLine(commands, [...args, '--output', 'json']);
  const { out, err } = printed;
  vi.restoreAllMocks();
  const answer = code === 0 ? (JSON.parse(out) as Record<string, never>) : {};
  return { code, err, answer };
}

const local = (line: string) => run(...line.split(' '), '--admin-socket', waf.socket);

async function make(name: string, ...flags: string[]): Promise<{ id: string; secret: string }> {
  const line = `token create ${name} --role Auditor --owner admin`;
  const socket = ['--admin-socket', waf.socket];
  const { code, err, answer } = await run(...line.split(' '), ...flags, ...socket);
  expect([code, err]).toEqual([0, '']);
  const { token, secret } = answer as unknown as { token: { id: string }; secret: string };
  return { id: token.id, secret };
}

test('create wants an end or none', async () => {
  const without = await local('token create a --role Auditor --owner admin');
  expect(without.err).toContain('either --days or --no-expiry');
  const both = await local('token create a --role Auditor --owner admin --days 3 --no-expiry');
  expect(both.err).toContain('either --days or --no-expiry');
  const long = await local('token create a --role Auditor --owner admin --days 367');
  expect(long.err).toContain('--days wants a whole number from 1 to 366');
});

test('a token is made, listed, shown, rotated and revoked', async () => {
  const { id, secret } = await make('ci', '--days', '30', '--permission', 'site:read');
  const use = (text: string) => run('site', 'list', '--api', remote, '--token', text);
  expect((await use(secret)).code).toBe(0);
  const listed = await local('token list --all-owners');
  expect(listed.answer['items']).toMatchObject([{ name: 'ci', ownerName: 'admin', usable: true }]);
  expect(JSON.stringify(listed.answer)).not.toContain(secret.slice(16));
  const shown = await local(`token show ${id}`);
  expect(shown.answer['token']).toMatchObject({ effectivePermissions: ['site:read'] });
  const rotated = await local(`token rotate ${id} --overlap 0`);
  const next = String(rotated.answer['secret']);
  expect((await use(secret)).err).toContain('unauthenticated');
  expect((await use(next)).code).toBe(0);
  expect((await local(`token revoke ${id}`)).answer).toEqual({ revokedCount: 1 });
  expect((await use(next)).err).toContain('unauthenticated');
});

test('WAF_TOKEN is used where no flag gives a token', async () => {
  const { secret } = await make('variable', '--no-expiry');
  vi.stubEnv('WAF_TOKEN', secret);
  expect((await run('site', 'list', '--api', remote)).code).toBe(0);
});

test('auth login keeps a token in a file of mode 0600, and refuses one that others read', async () => {
  const { secret } = await make('kept', '--no-expiry');
  const file = join(folder, 'credentials.json');
  vi.stubEnv('WAF_CREDENTIALS', file);
  const stdin = vi.spyOn(process, 'stdin', 'get');
  stdin.mockReturnValue(Readable.from([`${secret}\n`]) as unknown as typeof process.stdin);
  expect((await run('auth', 'login', '--api-token', '--api', remote)).answer).toEqual({
    api: remote,
    username: 'admin',
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8')).toContain(secret);
  expect((await run('site', 'list', '--api', remote)).code).toBe(0);
  chmodSync(file, 0o640);
  expect((await run('site', 'list', '--api', remote)).err).toContain('can be read by others');
});

test('a settings file with a token is refused where others can read it', async () => {
  const { secret } = await make('profile', '--no-expiry');
  const file = join(folder, 'waf.yaml');
  writeFileSync(file, `api: ${remote}\ntoken: ${secret}\n`, { mode: 0o600 });
  expect((await run('site', 'list', '--config', file)).code).toBe(0);
  chmodSync(file, 0o644);
  expect((await run('site', 'list', '--config', file)).err).toContain(`chmod 600 ${file}`);
});
