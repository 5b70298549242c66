/** What somebody with a foothold cannot do: sessions, factors, roles. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestControl, type Answer, type TestControl } from '../support/test-control.ts';

let waf: TestControl;
const password = 'correct horse battery';
let users = 0;

beforeAll(async () => {
  waf = await startTestControl();
});
afterAll(() => waf.control.close());

interface User {
  readonly id: string;
  readonly username: string;
}

async function addUser(more: object = {}): Promise<User> {
  const username = `user${++users}`;
  const { body } = await waf.call('UserService/CreateUser', {
    user: { username, ...more },
    password,
  });
  return { id: (body['user'] as { id: string }).id, username };
}
const login = ({ username }: User): Promise<Answer> =>
  waf.call('AuthService/Login', { username, password });
const tokenOf = ({ body }: Answer): string => String(body['accessToken']);
const cookieOf = ({ cookie }: Answer): string => cookie.split(';')[0] ?? '';
const refresh = (cookie: string): Promise<Answer> =>
  waf.call('AuthService/Refresh', {}, { cookie });
const isAlive = async (token: string): Promise<boolean> =>
  (await waf.call('AuthService/GetUserInfo', {}, { token })).status === 200;

describe('whoever knows the name of a session', () => {
  test('cannot end it with a guess', async () => {
    const answer = await login(await addUser());
    const cookie = cookieOf(answer);
    const [id = '', secret = '', mark = ''] = cookie.slice('waf_refresh='.length).split('.');
    expect(mark).not.toBe('');
    const { body } = await waf.call('AuditService/QueryAudit', { action: 'login' });
    // Everybody who may read the audit log knows it.
    expect(JSON.stringify(body)).toContain(id);
    const other = secret.startsWith('A') ? `B${secret.slice(1)}` : `A${secret.slice(1)}`;
    for (const guess of [
      id,
      `${id}.`,
      `${id}.guess`,
      `${id}..`,
      `${id}.${secret}`,
      `${id}.${secret}.`,
      `${id}.${other}.${mark}`,
      `${id}.${secret}.${mark.slice(0, -1)}`,
    ]) {
      expect((await refresh(`waf_refresh=${guess}`)).status).toBe(401);
      expect((await waf.call('AuthService/Refresh', { refreshToken: guess })).status).toBe(401);
      const out = await waf.call('AuthService/Logout', {}, { cookie: `waf_refresh=${guess}` });
      expect(out.body['loggedOut'] ?? false).toBe(false);
    }
    expect(await isAlive(tokenOf(answer))).toBe(true);
    expect((await refresh(cookie)).status).toBe(200);
  });

  test('and one of its old tokens ends it: that one was stolen', async () => {
    const first = await login(await addUser());
    const second = await refresh(cookieOf(first));
    expect(second.status).toBe(200);
    expect((await refresh(cookieOf(first))).status).toBe(401);
    expect(await isAlive(tokenOf(second))).toBe(false);
    expect((await refresh(cookieOf(second))).status).toBe(401);
  });
});

describe('whoever holds a stolen session', () => {
  test('does not replace a second factor by an enrollment that was begun before', async () => {
    const user = await addUser();
    const token = tokenOf(await login(user));
    const { Secret, TOTP } = await import('otpauth');
    const begin = async (): Promise<{ enrollmentToken: string; code: string }> => {
      const { body } = await waf.call('AuthService/BeginTOTPEnrollment', {}, { token });
      const secret = Secret.fromBase32(String(body['secret']));
      const code = new TOTP({ secret }).generate();
      return { enrollmentToken: String(body['enrollmentToken']), code };
    };
    const early = await begin();
    const proper = await begin();
    const confirm = (proof: object): Promise<Answer> =>
      waf.call('AuthService/ConfirmTOTPEnrollment', proof, { token });
    expect((await confirm(proper)).status).toBe(200);
    const late = await confirm(early);
    expect(late).toMatchObject({ status: 400, body: { code: 'failed_precondition' } });
    expect(late.text).not.toContain('recoveryCodes');
  });
});

test('a role that gives more than one holds is out of reach', async () => {
  const own = ['role:read', 'role:write', 'role:delete', 'site:read'];
  const roleOf = async (name: string, permissions: readonly string[]): Promise<string> => {
    const { body } = await waf.call('RoleService/CreateRole', { role: { name, permissions } });
    return (body['role'] as { id: string }).id;
  };
  const clerk = await addUser({ roles: [{ id: await roleOf('Keeper of roles', own) }] });
  const strong = await roleOf('Strong', ['site:read', 'system:write']);
  const weak = await roleOf('Weak', ['site:read']);
  const token = tokenOf(await login(clerk));
  const strip = (id: string) => ({ role: { id, permissions: [] }, updateMask: 'permissions' });
  expect((await waf.call('RoleService/UpdateRole', strip(strong), { token })).status).toBe(403);
  expect((await waf.call('RoleService/DeleteRole', { id: strong }, { token })).status).toBe(403);
  expect((await waf.call('RoleService/UpdateRole', strip(weak), { token })).status).toBe(200);
  expect((await waf.call('RoleService/DeleteRole', { id: weak }, { token })).status).toBe(200);
  const { body } = await waf.call('RoleService/GetRole', { id: strong });
  expect(body['role']).toMatchObject({ permissions: ['site:read', 'system:write'] });
});

test('a header does not change where a sign-in comes from', async () => {
  const { request } = await import('node:http');
  const { username, id } = await addUser();
  const said = '203.0.113.77';
  const headers = {
    'content-type': 'application/json',
    'x-forwarded-for': said,
    'x-real-ip': said,
    forwarded: `for=${said}`,
  };
  const where = { host: '127.0.0.1', port: waf.control.managementPort, method: 'POST', headers };
  await new Promise<void>((resolve, reject) => {
    const asked = request({ ...where, path: '/waf.v1.AuthService/Login' }, (response) => {
      response.resume();
      response.on('end', resolve);
    });
    asked.on('error', reject);
    asked.end(JSON.stringify({ username, password: 'wrong wrong wrong' }));
  });
  const { text } = await waf.call('AuditService/QueryAudit', { actorId: id });
  expect(text).toContain('127.0.0.1');
  expect(text).not.toContain(said);
});
