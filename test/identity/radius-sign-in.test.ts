/** Tests signing in through the API with a real FreeRADIUS server. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestControl, type Answer, type TestControl } from '../support/test-control.ts';
import { hasFreeradius, radiusSettings, startFreeradius, type Freeradius } from './freeradius.ts';

if (!hasFreeradius) console.log('skipped: no freeradius');
describe.skipIf(!hasFreeradius)('sign-in with RADIUS', () => {
  let waf: TestControl;
  let server: Freeradius;
  beforeAll(async () => {
    server = await startFreeradius();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    waf = await startTestControl();
    return () => waf.control.close();
  });

  async function configure(change: object): Promise<void> {
    const values = { 'auth.radius.config': radiusSettings(server, change) };
    const answer = await waf.call('SystemService/UpdateSystemSettings', { values });
    expect([answer.status, answer.text.includes(server.secret)]).toEqual([200, false]);
  }
  const login = (username: string, password: string): Promise<Answer> =>
    waf.call('AuthService/Login', { username, password }, { network: true });
  const cookieOf = ({ cookie }: Answer): string => cookie.split(';')[0] ?? '';
  const complete = (cookie: string, code: string): Promise<Answer> =>
    waf.call('AuthService/CompleteAuthenticationChallenge', { code }, { cookie });

  test('users whom the server knows enter once an administrator allowed them', async () => {
    await configure({});
    expect((await login('alice', 'alice-password')).status).toBe(401);
    await waf.call('UserService/CreateUser', {
      user: { username: 'alice', externalProviders: ['radius'] },
    });
    const entered = await login('Alice', 'alice-password');
    expect(entered.body).toMatchObject({ user: { username: 'alice' } });
    expect(entered.cookie).toMatch(/^waf_refresh=/);
    expect((await login('alice', 'wrong password')).body).toEqual({
      code: 'unauthenticated',
      message: 'the user name or the password is wrong',
    });
    // Users who are kept here still sign in here.
    expect((await login('admin', waf.password)).status).toBe(200);
  });

  test('users who are made get the roles of their groups', async () => {
    await configure({ autoCreate: true, roleMappings: { ops: 'role-waf-operator' } });
    const entered = await login('alice', 'alice-password');
    expect(entered.body['user']).toMatchObject({ username: 'alice', roles: ['WAF Operator'] });
  });

  test('challenges are answered with the cookie, more than once', async () => {
    await configure({ autoCreate: true, defaultRoleIds: ['role-auditor'] });
    const first = await login('carol', 'carol-password');
    expect(first.body).toEqual({
      challengeRequired: true,
      challengeKind: 'radius',
      challengePrompt: 'Enter your code',
    });
    const second = await complete(cookieOf(first), 'again');
    expect(second.body).toMatchObject({ challengePrompt: 'Enter the second code' });
    // The first challenge is spent.
    expect((await complete(cookieOf(first), '246810')).status).toBe(401);
    expect((await complete(cookieOf(second), '0000')).status).toBe(401);
    const entered = await complete(cookieOf(second), '1357');
    expect(entered.body).toMatchObject({ user: { username: 'carol', roles: ['Auditor'] } });
    expect((await complete(cookieOf(second), '1357')).status).toBe(401);
  });

  test('five failures keep a user out, whatever the server would say', async () => {
    await configure({ autoCreate: true });
    expect((await login('alice', 'alice-password')).status).toBe(200);
    for (let at = 0; at < 5; at++) {
      expect((await login('alice', 'wrong password')).status).toBe(401);
    }
    expect((await login('alice', 'alice-password')).status).toBe(401);
    const { body } = await waf.call('AuditService/QueryAudit', { action: 'login_failed' });
    expect(body['total']).toBe('6');
  });

  test('as second factor the server is asked for the code alone', async () => {
    await configure({ use: 'second_factor', prompt: 'Your token' });
    const password = 'a password kept here';
    await waf.call('UserService/CreateUser', { user: { username: 'alice' }, password });
    expect((await login('alice', 'alice-password')).status).toBe(401);
    const asked = await login('alice', password);
    expect(asked.body).toEqual({
      challengeRequired: true,
      challengeKind: 'radius',
      challengePrompt: 'Your token',
    });
    expect((await complete(cookieOf(asked), 'wrong')).status).toBe(401);
    const entered = await complete(cookieOf(asked), 'alice-password');
    expect(entered.body).toMatchObject({ user: { username: 'alice' } });
  });

  test('a password that was changed meanwhile voids the open challenge', async () => {
    await configure({ use: 'second_factor' });
    const password = 'a password kept here';
    const made = await waf.call('UserService/CreateUser', {
      user: { username: 'alice' },
      password,
    });
    const asked = await login('alice', password);
    const { id } = made.body['user'] as { id: string };
    const reset = { userId: id, password: 'another password' };
    await waf.call('UserService/ResetPassword', reset);
    expect((await complete(cookieOf(asked), 'alice-password')).status).toBe(401);
  });

  test('a silent server is said to be silent', async () => {
    await configure({ secret: 'not the secret', timeoutMs: 100, attempts: 1 });
    const answer = await login('alice', 'alice-password');
    expect(answer).toMatchObject({ status: 503, body: { code: 'unavailable' } });
  });
});

describe('the settings of identity providers', () => {
  let waf: TestControl;
  beforeAll(async () => {
    waf = await startTestControl();
  });
  afterAll(() => waf.control.close());
  const update = (values: object, way = {}) =>
    waf.call('SystemService/UpdateSystemSettings', { values }, way);
  const oidc = { id: 'a', label: 'A', issuer: 'https://idp.example', clientId: 'c' };

  const wrong: [string, object, string][] = [
    ['plain http elsewhere', { 'auth.public_url': 'http://waf.example' }, 'auth.public_url'],
    ['no address', { 'auth.public_url': 'waf' }, 'auth.public_url'],
    ['a flag that is none', { 'auth.password_enabled': 1 }, 'auth.password_enabled'],
    ['no RADIUS server', { 'auth.radius.config': { enabled: true, secret: 's' } }, 'servers'],
    [
      'no RADIUS secret',
      { 'auth.radius.config': { enabled: true, servers: [{ host: 'r', port: 1812 }] } },
      'secret',
    ],
    ['a RADIUS port', { 'auth.radius.config': { servers: [{ host: 'r', port: 0 }] } }, 'port'],
    ['an unknown key', { 'auth.radius.config': { color: 'red' } }, 'Unknown key'],
    ['no list', { 'auth.oidc.providers': {} }, 'auth.oidc.providers'],
    ['an id twice', { 'auth.oidc.providers': [oidc, oidc] }, '[1].id: is used twice'],
    ['an odd id', { 'auth.oidc.providers': [{ ...oidc, id: 'A b' }] }, '[0].id'],
    ['no issuer', { 'auth.oidc.providers': [{ id: 'a', label: 'A', clientId: 'c' }] }, 'issuer'],
    [
      'plain http',
      { 'auth.oidc.providers': [{ ...oidc, issuer: 'http://idp.example' }] },
      'issuer',
    ],
    ['no certificate', { 'auth.saml.providers': [{ id: 'a', label: 'A' }] }, '[0].'],
    [
      'a role that is none',
      { 'auth.oidc.providers': [{ ...oidc, defaultRoleIds: ['role-none'] }] },
      'role that does not exist',
    ],
  ];
  test.each(wrong)('refuse %s', async (_name, values, named) => {
    const { status, body } = await update(values);
    expect([status, body['code']]).toEqual([400, 'invalid_argument']);
    expect(body['message']).toContain(named);
  });

  test('keep a secret that is sent back as it was shown', async () => {
    const provider = { ...oidc, clientSecret: 'first secret' };
    await update({ 'auth.oidc.providers': [provider] });
    const shown = await waf.call('SystemService/GetSystemSettings', {});
    const { values } = shown.body['settings'] as { values: Record<string, unknown> };
    expect(values['auth.oidc.providers']).toEqual([{ ...provider, clientSecret: 'configured' }]);
    const again = await update({ 'auth.oidc.providers': values['auth.oidc.providers'] });
    expect(again.status).toBe(200);
    const audit = await waf.call('AuditService/QueryAudit', { resourceType: 'system_settings' });
    expect(audit.text).toContain('configured');
    expect(audit.text).not.toContain('first secret');
  });

  test('are closed to whoever holds less than they give', async () => {
    const role = await waf.call('RoleService/CreateRole', {
      role: { name: 'Settings', permissions: ['system:read', 'system:write'] },
    });
    const { id } = role.body['role'] as { id: string };
    const password = 'a long enough password';
    await waf.call('UserService/CreateUser', {
      user: { username: 'clerk', roles: [{ id }] },
      password,
    });
    const signedIn = await waf.call('AuthService/Login', { username: 'clerk', password });
    const token = String(signedIn.body['accessToken']);
    expect((await update({ 'auth.oidc.providers': [] }, { token })).status).toBe(403);
    expect((await update({ 'auth.access_token_seconds': 3600 }, { token })).status).toBe(200);
    await waf.call('RoleService/UpdateRole', {
      role: { id, permissions: ['system:read', 'system:write', 'user:write'] },
      updateMask: 'permissions',
    });
    expect((await update({ 'auth.oidc.providers': [oidc] }, { token })).status).toBe(200);
    const strong = { ...oidc, autoCreate: true, defaultRoleIds: ['role-administrator'] };
    expect((await update({ 'auth.oidc.providers': [strong] }, { token })).status).toBe(403);
    await waf.call('UserService/UpdateUser', {
      user: { id: 'user-admin', externalProviders: ['oidc:a'] },
      updateMask: 'externalProviders',
    });
    expect((await update({ 'auth.oidc.providers': [oidc] }, { token })).status).toBe(403);
  });

  test('keep the roles that they hand out', async () => {
    const made = await waf.call('RoleService/CreateRole', { role: { name: 'Guests' } });
    const { id } = made.body['role'] as { id: string };
    await update({ 'auth.oidc.providers': [{ ...oidc, defaultRoleIds: [id] }] });
    const kept = await waf.call('RoleService/DeleteRole', { id });
    expect(kept.body['code']).toBe('failed_precondition');
    await update({ 'auth.oidc.providers': [] });
    expect((await waf.call('RoleService/DeleteRole', { id })).status).toBe(200);
  });

  test('can turn passwords off over the network, not on the socket', async () => {
    await update({ 'auth.password_enabled': false });
    const login = { username: 'admin', password: waf.password };
    const options = await waf.call('AuthService/GetLoginOptions', {}, { network: true });
    expect(options.body['passwordEnabled']).toBeUndefined();
    const refused = await waf.call('AuthService/Login', login, { network: true });
    expect(refused.body['code']).toBe('failed_precondition');
    expect((await waf.call('AuthService/Login', login)).status).toBe(200);
    await update({ 'auth.password_enabled': null });
    expect((await waf.call('AuthService/Login', login, { network: true })).status).toBe(200);
  });
});
