/** Sign-in over the API: roles, lock-out, second factor, audit. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../support/test-control.ts';

let waf: TestControl;
const password = 'correct horse battery';

beforeAll(async () => {
  waf = await startTestControl();
});
afterAll(() => waf.control.close());

interface Named {
  readonly id: string;
  readonly name?: string;
}

const created = (body: Record<string, unknown>, field: string): Named => body[field] as Named;

async function signIn(username: string, secret = password): Promise<string> {
  const { body } = await waf.call('AuthService/Login', { username, password: secret });
  const token = body['accessToken'];
  return typeof token === 'string' ? token : '';
}

test('a role gives exactly its permissions, and changes end sessions', async () => {
  const role = created(
    (
      await waf.call('RoleService/CreateRole', {
        role: { name: 'Reader', permissions: ['site:read', 'role:read'] },
      })
    ).body,
    'role',
  );
  const user = created(
    (
      await waf.call('UserService/CreateUser', {
        user: { username: 'rita', roles: [{ id: role.id }] },
        password,
      })
    ).body,
    'user',
  );
  const token = await signIn('rita');
  expect((await waf.call('SiteService/ListSites', {}, { token })).status).toBe(200);
  const denied = await waf.call('PolicyService/ListPolicies', {}, { token });
  expect(denied).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
  expect(String(denied.body['message'])).toContain('policy:read');
  await waf.call('UserService/AssignRoles', { userId: user.id, roleIds: [] });
  expect((await waf.call('SiteService/ListSites', {}, { token })).status).toBe(401);
  const used = await waf.call('RoleService/DeleteRole', { id: role.id });
  expect(used.body['result']).toMatchObject({ id: role.id, changed: true });
});

test('nobody gives away permissions that they do not hold', async () => {
  const role = created(
    (
      await waf.call('RoleService/CreateRole', {
        role: {
          name: 'Clerk',
          permissions: ['user:read', 'user:write', 'role:read', 'role:write'],
        },
      })
    ).body,
    'role',
  );
  await waf.call('UserService/CreateUser', {
    user: { username: 'clark', roles: [{ id: role.id }] },
    password,
  });
  const token = await signIn('clark');
  const stronger = { role: { name: 'Strong', permissions: ['system:write'] } };
  expect((await waf.call('RoleService/CreateRole', stronger, { token })).status).toBe(403);
  const boss = { user: { username: 'boss', roles: [{ id: 'role-administrator' }] }, password };
  expect((await waf.call('UserService/CreateUser', boss, { token })).status).toBe(403);
  const reset = { userId: 'user-admin', password };
  expect((await waf.call('UserService/ResetPassword', reset, { token })).status).toBe(403);
});

test('the last administrator cannot be locked, stripped or removed', async () => {
  for (const [rpc, body] of [
    ['UserService/LockUser', { userId: 'user-admin' }],
    ['UserService/AssignRoles', { userId: 'user-admin', roleIds: [] }],
    ['UserService/DeleteUser', { id: 'user-admin' }],
  ] as const) {
    const answer = await waf.call(rpc, body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'failed_precondition' } });
  }
  expect(await signIn('admin', waf.password)).not.toBe('');
});

test('five wrong passwords lock a user out, whatever comes in parallel', async () => {
  await waf.call('UserService/CreateUser', { user: { username: 'lola' }, password });
  const wrong = Array.from({ length: 30 }, () =>
    waf.call('AuthService/Login', { username: 'lola', password: 'wrong wrong wrong' }),
  );
  const statuses = (await Promise.all(wrong)).map(({ status }) => status);
  expect(statuses.every((status) => status === 401 || status === 429)).toBe(true);
  expect(await signIn('lola')).toBe('');
});

test('weak passwords, duplicates and unknown masks are refused by field', async () => {
  const short = await waf.call('UserService/CreateUser', {
    user: { username: 'sam' },
    password: 'short',
  });
  expect(String(short.body['message'])).toMatch(/^password: needs at least 12/);
  const twice = await waf.call('UserService/CreateUser', { user: { username: 'ADMIN' }, password });
  expect(twice.status).toBe(409);
  const mask = await waf.call('UserService/UpdateUser', {
    user: { id: 'user-admin' },
    updateMask: 'locked',
  });
  expect(String(mask.body['message'])).toMatch(/^updateMask: /);
});

test('every change is in the audit chain, without secrets, and the chain holds', async () => {
  const { body } = await waf.call('AuditService/QueryAudit', { page: { pageSize: 200 } });
  const items = body['items'] as { action: string; resourceType: string }[];
  const kinds = new Set(items.map(({ action, resourceType }) => `${resourceType} ${action}`));
  for (const kind of ['role create', 'user create', 'user assign_roles', 'session login_failed']) {
    expect(kinds).toContain(kind);
  }
  expect(JSON.stringify(items)).not.toMatch(/argon2|correct horse/);
  const verified = await waf.call('AuditService/VerifyChain', {});
  expect(verified.body).toMatchObject({ healthy: true, checkedRows: String(items.length) });
});

test('a second factor is enrolled, asked for, used once, replaced by a recovery code', async () => {
  await waf.call('UserService/CreateUser', { user: { username: 'tom' }, password });
  const token = await signIn('tom');
  const begun = await waf.call('AuthService/BeginTOTPEnrollment', {}, { token });
  const { secret, enrollmentToken } = begun.body as { secret: string; enrollmentToken: string };
  const { Secret, TOTP } = await import('otpauth');
  const totp = new TOTP({ secret: Secret.fromBase32(secret) });
  const code = totp.generate();
  const wrong = { enrollmentToken, code: '000000' };
  const refused = await waf.call('AuthService/ConfirmTOTPEnrollment', wrong, { token });
  expect(refused.status).toBe(400);
  const confirmed = await waf.call(
    'AuthService/ConfirmTOTPEnrollment',
    { enrollmentToken, code },
    { token },
  );
  const codes = confirmed.body['recoveryCodes'] as string[];
  expect(codes).toHaveLength(10);
  const login = { username: 'tom', password };
  const challenged = await waf.call('AuthService/Login', login, { network: true });
  expect(challenged.body).toMatchObject({ challengeRequired: true, challengeKind: 'totp' });
  expect(challenged.body['accessToken']).toBeUndefined();
  const cookie = challenged.cookie.split(';')[0] ?? '';
  const answer = (given: string) =>
    waf.call('AuthService/CompleteAuthenticationChallenge', { code: given }, { cookie });
  // The code that enrolled was used up by it.
  expect((await answer(code)).status).toBe(401);
  const entered = await answer(codes[0] ?? '');
  expect(entered.status).toBe(200);
  expect(entered.body['accessToken']).toBeTypeOf('string');
  expect((await answer(codes[1] ?? '')).status).toBe(401);
});

test('changing the password ends the other sessions and keeps this one', async () => {
  await waf.call('UserService/CreateUser', { user: { username: 'pam' }, password });
  const first = await signIn('pam');
  const second = await signIn('pam');
  const change = { currentPassword: password, newPassword: 'another long password' };
  const done = await waf.call('AuthService/ChangePassword', change, { token: second });
  expect(done.body).toMatchObject({ changed: true });
  expect((await waf.call('AuthService/GetUserInfo', {}, { token: first })).status).toBe(401);
  expect((await waf.call('AuthService/GetUserInfo', {}, { token: second })).status).toBe(200);
  expect(await signIn('pam')).toBe('');
  expect(await signIn('pam', 'another long password')).not.toBe('');
});
