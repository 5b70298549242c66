/** Tests `waf auth`, `user`, `role` and `audit` against a running control. */

import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { parse } from 'yaml';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { loadCommands } from '../../control/cli/commands.ts';
import { runCommandLine } from '../../control/cli/program.ts';
import { keepPrinted } from '../support/printed.ts';
import { startTestControl, type TestControl } from '../support/test-control.ts';

const commands = await loadCommands([]);

let waf: TestControl;
let api = '';
let credentials = '';
let out = '';
let err = '';

beforeAll(async () => {
  waf = await startTestControl();
  api = `http://127.0.0.1:${waf.control.managementPort}`;
});
afterAll(() => waf.control.close());
beforeEach(() => {
  credentials = join(mkdtempSync(join(tmpdir(), 'waf-cli-')), 'waf', 'credentials.json');
  vi.stubEnv('WAF_CREDENTIALS', credentials);
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** Runs one command line; `input` is what standard input holds. */
async function run(line: readonly string[], input = ''): Promise<number> {
  const printed = keepPrinted();
  const stdin = Object.assign(Readable.from([input]), { isTTY: false });
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdin as unknown as typeof process.stdin);
  const code = await runCommandLine(commands, [...line]);
  ({ out, err } = printed);
  return code;
}
const local = (...line: string[]): Promise<number> => run([...line, '--admin-socket', waf.socket]);
const remote = (...line: string[]): Promise<number> => run([...line, '--api', api]);
const login = (username = 'admin', password = waf.password): Promise<number> =>
  run(
    ['auth', 'login', '--api', `${api}/`, '--username', username, '--password-stdin'],
    `${password}\n`,
  );
interface Stored {
  readonly sessions: Record<
    string,
    { accessToken: string; refreshToken: string; expiresAt: string; username: string }
  >;
}
const stored = (): Stored => JSON.parse(readFileSync(credentials, 'utf8')) as Stored;

describe('waf auth', () => {
  test('keeps a session in a private file, uses it, ends it', async () => {
    expect(await login()).toBe(0);
    expect(out + err).not.toContain(waf.password);
    expect(statSync(credentials).mode & 0o777).toBe(0o600);
    const session = stored().sessions[api];
    expect(session?.username).toBe('admin');
    expect(out).not.toContain(session?.accessToken);
    expect(await remote('auth', 'whoami')).toBe(0);
    expect(out).toContain('admin');
    expect(await remote('auth', 'permissions', '--output', 'json')).toBe(0);
    expect((JSON.parse(out) as { codes: string[] }).codes).toHaveLength(59);
    expect(await remote('auth', 'logout')).toBe(0);
    expect(existsSync(credentials)).toBe(false);
    expect(await remote('auth', 'whoami')).toBe(1);
    expect(err).toContain('unauthenticated: ');
    expect(err).toContain('waf auth login');
    const token = session?.accessToken ?? '';
    expect((await waf.call('AuthService/GetUserInfo', {}, { token })).status).toBe(401);
  });

  test('refreshes a session that is due, once for several commands', async () => {
    await login();
    const before = stored().sessions[api];
    const due = { ...before, expiresAt: new Date(Date.now() + 1000).toISOString() };
    writeFileSync(credentials, JSON.stringify({ sessions: { [api]: due } }), { mode: 0o600 });
    const { createApiClient } = await import('../../control/cli/api-client.ts');
    const options = { api, credentials, data: waf.folder, insecure: false } as never;
    const clients = [createApiClient(options), createApiClient(options), createApiClient(options)];
    const answers = await Promise.all(clients.map(({ auth }) => auth.getUserInfo({})));
    expect(answers.map(({ user }) => user?.username)).toEqual(['admin', 'admin', 'admin']);
    const after = stored().sessions[api];
    expect(after?.refreshToken).not.toBe(before?.refreshToken);
    expect(Date.parse(after?.expiresAt ?? '')).toBeGreaterThan(Date.now() + 3_600_000);
    expect(statSync(credentials).mode & 0o777).toBe(0o600);
    expect(existsSync(`${credentials}.lock`)).toBe(false);
  });

  test('says what is wrong', async () => {
    expect(await login('admin', 'not the password')).toBe(1);
    expect(err).toContain('unauthenticated: the user name or the password is wrong');
    expect(existsSync(credentials)).toBe(false);
    expect(await run(['auth', 'login'])).toBe(1);
    expect(err).toContain('--api');
    expect(await run(['auth', 'login', '--api', api, '--username', 'admin'])).toBe(1);
    expect(err).toContain('--password-stdin');
    expect(await remote('auth', 'logout')).toBe(1);
    await login();
    writeFileSync(credentials, '{', { mode: 0o600 });
    expect(await remote('auth', 'whoami')).toBe(1);
    expect(err).toContain('damaged');
  });

  test('works over TLS with the certificate that the installation made', async () => {
    const secured = await startTestControl({ managementTls: 'own' });
    try {
      const url = `https://127.0.0.1:${secured.control.managementPort}`;
      const asked = ['--api', url, '--username', 'admin', '--password-stdin'];
      const near = ['--data', secured.folder];
      expect(await run(['auth', 'login', ...asked, ...near], secured.password)).toBe(0);
      expect(await run(['auth', 'whoami', '--api', url, ...near])).toBe(0);
      expect(out).toContain('admin');
      const far = ['--data', mkdtempSync(join(tmpdir(), 'waf-far-'))];
      expect(await run(['auth', 'whoami', '--api', url, ...far])).toBe(1);
      expect(err).toContain('--ca-file');
    } finally {
      await secured.control.close();
    }
  });

  test('refuses a file that others can read', async () => {
    await login();
    const { chmodSync } = await import('node:fs');
    chmodSync(credentials, 0o644);
    expect(await remote('auth', 'whoami')).toBe(1);
    expect(err).toContain('chmod 600');
  });

  test('asks for the code of the second factor', async () => {
    const password = 'a long enough password';
    await waf.call('UserService/CreateUser', { user: { username: 'tom' }, password });
    await login('tom', password);
    const token = stored().sessions[api]?.accessToken ?? '';
    const begun = await waf.call('AuthService/BeginTOTPEnrollment', {}, { token });
    const { secret, enrollmentToken } = begun.body as { secret: string; enrollmentToken: string };
    const { Secret, TOTP } = await import('otpauth');
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
    const proof = { enrollmentToken, code };
    const { body } = await waf.call('AuthService/ConfirmTOTPEnrollment', proof, { token });
    const [first = '', second = ''] = body['recoveryCodes'] as string[];
    const line = ['auth', 'login', '--api', api, '--username', 'tom', '--password-stdin'];
    expect(await run(line, password)).toBe(1);
    expect(err).toContain('--code');
    expect(await run([...line, '--code', first], password)).toBe(0);
    expect(await remote('auth', 'totp', 'status')).toBe(0);
    expect(out).toMatch(/on .* 9\n/);
    expect(await remote('auth', 'totp', 'disable', '--code', first)).toBe(1);
    expect(err).toContain('permission_denied: code: is wrong or was used before');
    expect(await remote('auth', 'totp', 'disable', '--code', second)).toBe(0);
    expect(await remote('auth', 'totp', 'status', '--output', 'json')).toBe(0);
    expect(JSON.parse(out)).toEqual({});
  });
});

describe('waf user, role and audit', () => {
  test('a role and a user come, change and go', async () => {
    const permissions = ['--permission', 'site:read', '--permission', 'log:read'];
    expect(await local('role', 'create', 'Night watch', ...permissions)).toBe(0);
    expect(out).toContain('site:read log:read');
    const line = ['user', 'create', 'nora', '--role', 'night WATCH', '--email', 'n@example.test'];
    const create = [...line, '--password-stdin', '--admin-socket', waf.socket];
    expect(await run(create, 'short\n')).toBe(1);
    expect(err).toContain('invalid_argument: password: needs at least 12 characters');
    expect(await run(create, 'a long enough password\n')).toBe(0);
    expect(out).toMatch(/nora .*Night watch/);
    expect(await local('user', 'list', '--role', 'Night watch', '--output', 'yaml')).toBe(0);
    expect(parse(out)).toMatchObject({
      items: [{ username: 'nora', roles: [{ name: 'Night watch' }] }],
      page: { total: '1' },
    });
    const provider = ['--provider', 'oidc:corp', '--display-name', 'Nora'];
    expect(await local('user', 'update', 'nora', ...provider)).toBe(0);
    expect(out).toMatch(/Nora .*n@example\.test .*oidc:corp/);
    expect(await local('user', 'lock', 'nora')).toBe(0);
    expect(out).toContain('locked');
    expect(await local('user', 'unlock', 'nora')).toBe(0);
    expect(await local('user', 'roles', 'nora')).toBe(1);
    expect(err).toContain('--none');
    expect(await local('role', 'delete', 'Night watch')).toBe(1);
    expect(err).toContain('failed_precondition: ');
    expect(await local('user', 'roles', 'nora', '--none')).toBe(0);
    expect(await local('user', 'reset-mfa', 'nora')).toBe(0);
    expect(out).toContain('there was none');
    const only = ['--permission', 'site:read', '--replace'];
    expect(await local('role', 'update', 'Night watch', ...only)).toBe(0);
    expect(err).toContain('taken away: log:read');
    expect(await local('role', 'get', 'Night watch')).toBe(0);
    expect(out).toMatch(/Night watch\s+site:read\n$/);
    expect(await local('role', 'delete', 'Night watch')).toBe(0);
    expect(await local('user', 'delete', 'nora')).toBe(0);
    expect(await local('user', 'get', 'nora')).toBe(1);
    expect(err).toContain('No user named');
  });

  test('users without a password need a provider', async () => {
    expect(await local('user', 'create', 'sso', '--no-password')).toBe(1);
    expect(err).toContain('password: ');
    expect(await local('user', 'create', 'sso', '--no-password', '--provider', 'saml:idp')).toBe(0);
    expect(out).toContain('saml:idp');
  });

  test('the audit log is listed, shown and verified', async () => {
    expect(await local('audit', 'list', '--type', 'user', '--action', 'create')).toBe(0);
    expect(out).toMatch(/local administrator +create +user +sso/);
    expect(await local('audit', 'list', '--limit', '1', '--output', 'json')).toBe(0);
    const { items } = JSON.parse(out) as { items: { id: string }[] };
    expect(items).toHaveLength(1);
    expect(err).toMatch(/Showing 1 of \d+\. Next page: --cursor \S+/);
    expect(await local('audit', 'get', items[0]?.id ?? '')).toBe(0);
    expect(out).toMatch(/^FIELD +BEFORE +AFTER\ntime/);
    expect(await local('audit', 'verify')).toBe(0);
    expect(out).toMatch(/whole +\d+/);
    expect(await local('audit', 'status', '--output', 'json')).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ healthy: true });
    expect(await local('audit', 'list', '--since', 'yesterday')).toBe(1);
    expect(err).toContain('--since wants a time');
    expect(await local('audit', 'list', '--until', '2020-01-01T00:00:00Z')).toBe(0);
    expect(out.trim().split('\n')).toHaveLength(1);
  });

  test('every permission is listed with what it allows', async () => {
    expect(await local('role', 'permissions')).toBe(0);
    expect(out.trim().split('\n')).toHaveLength(60);
    expect(out).toContain('policy:custom:seclang');
  });
});
