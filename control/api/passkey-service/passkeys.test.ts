/** Tests passkeys over the API, with an authenticator in software: what signs in, what does not. */

import { beforeEach, describe, expect, test } from 'vitest';
import { SoftAuthenticator, type Claims } from '../../../test/support/soft-authenticator.ts';
import {
  startTestControl,
  type Answer,
  type TestControl,
} from '../../../test/support/test-control.ts';
import { signInLimits } from '../../limits/sign-in-limits.ts';

const password = 'a long passphrase 42';
const service = 'waf.access.v1.PasskeyService';
let waf: TestControl;
let origin: string;
let users = 0;

/** Of its own for each test: sign-ins of an address are limited. */
beforeEach(async () => {
  waf = await startTestControl({ demoOrigin: null });
  origin = `http://localhost:${waf.control.managementPort}`;
  return () => waf.control.close();
});

interface Person {
  readonly id: string;
  readonly username: string;
  readonly token: string;
}

async function addPerson(roles: readonly object[] = []): Promise<Person> {
  const username = `person${++users}`;
  const { body } = await waf.call('UserService/CreateUser', {
    user: { username, roles },
    password,
  });
  const token = await passwordToken(username);
  return { id: (body['user'] as { id: string }).id, username, token };
}

async function passwordToken(username: string): Promise<string> {
  const { body } = await waf.call('AuthService/Login', { username, password }, { network: true });
  return body['accessToken'] as string;
}

const call = (method: string, body: object, token?: string, from = origin): Promise<Answer> =>
  waf.call(`${service}/${method}`, body, {
    origin: from,
    ...(token === undefined ? {} : { token }),
  });

const begin = async (token: string): Promise<Record<string, string>> => {
  const { body } = await call('BeginPasskeyRegistration', { currentPassword: password }, token);
  return body as Record<string, string>;
};

async function register(
  { token }: Person,
  key = new SoftAuthenticator(origin),
  claims: Claims = {},
): Promise<{ readonly key: SoftAuthenticator; readonly answer: Answer }> {
  const { registrationToken, optionsJson = '{}' } = await begin(token);
  const credentialJson = key.register(optionsJson, claims);
  const finish = { registrationToken, credentialJson, name: ' My key ' };
  return { key, answer: await call('FinishPasskeyRegistration', finish, token) };
}

async function signIn(key: SoftAuthenticator, claims: Claims = {}): Promise<Answer> {
  const { body } = await call('BeginPasskeySignIn', {});
  const { signInToken, optionsJson } = body as Record<string, string>;
  const credentialJson = key.signIn(optionsJson ?? '{}', claims);
  return call('FinishPasskeySignIn', { signInToken, credentialJson });
}

const auditOf = async (action: string): Promise<number> => {
  const { body } = await waf.call('AuditService/QueryAudit', { action });
  return ((body['items'] ?? []) as unknown[]).length;
};

describe('a passkey', () => {
  test('signs its owner in, without name, password and code', async () => {
    const person = await addPerson();
    const { key, answer } = await register(person);
    expect(answer).toMatchObject({ status: 200, body: { passkey: { name: 'My key' } } });
    const signedIn = await signIn(key);
    expect(signedIn).toMatchObject({ status: 200, body: { user: { username: person.username } } });
    expect(signedIn.cookie).toMatch(/^waf_refresh=/);
    const token = String(signedIn.body['accessToken']);
    const { body } = await call('ListPasskeys', {}, token);
    expect(body['items']).toMatchObject([{ name: 'My key', host: 'localhost' }]);
    expect((body['items'] as { lastUsedAt?: string }[])[0]?.lastUsedAt).toBeDefined();
    const sessions = await waf.call('waf.access.v1.SessionService/ListSessions', {}, { token });
    const methods = (sessions.body['items'] as { method: string }[]).map(({ method }) => method);
    expect(methods.sort()).toEqual(['passkey', 'password']);
    expect(await auditOf('add_passkey')).toBe(1);
  });

  test('has its public key in no answer', async () => {
    const person = await addPerson();
    const { answer } = await register(person);
    const listed = await call('ListPasskeys', {}, person.token);
    for (const { text } of [answer, listed]) expect(text).not.toMatch(/publicKey|counter/);
  });

  test('is renamed and removed by its owner only, and then signs nobody in', async () => {
    const [person, other] = [await addPerson(), await addPerson()];
    const { key } = await register(person);
    const id = key.id.toString('base64url');
    for (const [method, body] of [
      ['RenamePasskey', { id, name: 'x' }],
      ['RemovePasskey', { id }],
    ] as const)
      expect((await call(method, body, other.token)).body['code']).toBe('not_found');
    const renamed = await call('RenamePasskey', { id, name: 'Blue' }, person.token);
    expect(renamed.body['passkey']).toMatchObject({ name: 'Blue' });
    expect((await call('RemovePasskey', { id }, person.token)).body).toEqual({ removed: true });
    expect((await signIn(key)).body['code']).toBe('unauthenticated');
    expect([await auditOf('rename_passkey'), await auditOf('remove_passkey')]).toEqual([1, 1]);
  });

  test('goes when an administrator resets the second factors', async () => {
    const person = await addPerson();
    const { key } = await register(person);
    const reset = await waf.call('UserService/ResetUserMFA', { userId: person.id });
    expect(reset.body).toEqual({ mfaReset: true });
    expect((await signIn(key)).body['code']).toBe('unauthenticated');
  });

  test('does not let a locked user in', async () => {
    const person = await addPerson();
    const { key } = await register(person);
    await waf.call('UserService/LockUser', { userId: person.id });
    expect((await signIn(key)).body['code']).toBe('unauthenticated');
    expect(await auditOf('login_failed')).toBe(1);
  });

  test('is not taken twice, nor the same answer', async () => {
    const person = await addPerson();
    const { key } = await register(person);
    const { optionsJson = '{}' } = await begin(person.token);
    const { excludeCredentials } = JSON.parse(optionsJson) as { excludeCredentials: object[] };
    expect(excludeCredentials).toMatchObject([{ id: key.id.toString('base64url') }]);
    const { body } = await call('BeginPasskeySignIn', {});
    const { signInToken, optionsJson: asked } = body as Record<string, string>;
    const credentialJson = key.signIn(asked ?? '{}');
    const statuses = [1, 2].map(() => call('FinishPasskeySignIn', { signInToken, credentialJson }));
    const answers = await Promise.all(statuses);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 401]));
  });
});

describe('at a sign-in', () => {
  test.each<[string, Claims]>([
    ['a signature of another key', { otherKey: true }],
    ['the page of another site', { origin: 'http://evil.localhost:1' }],
    ['the host of another site', { rpId: 'evil.test' }],
    ['another challenge', { challenge: 'AAAA' }],
    ['an answer to a registration', { type: 'webauthn.create' }],
    ['a person who was not checked', { userVerified: false }],
    ['a counter that goes back, as of a copy', { counter: 1 }],
    ['the name of another user', { userHandle: Buffer.from('nobody').toString('base64url') }],
    ['no name of a user', { userHandle: '' }],
  ])('%s is refused', async (_what, claims) => {
    const { key } = await register(await addPerson());
    expect((await signIn(key)).status).toBe(200);
    const answer = await signIn(key, claims);
    expect([answer.status, answer.body['code']]).toEqual([401, 'unauthenticated']);
    expect(answer.cookie).toBe('');
    expect((await signIn(key)).status).toBe(200);
  });

  test.each([
    ['no JSON', '{'],
    ['no answer', '7'],
    ['an answer without a response', '{"id":"x"}'],
  ])('%s in place of an answer', async (_what, credentialJson) => {
    const { body } = await call('BeginPasskeySignIn', {});
    const { signInToken } = body as Record<string, string>;
    const answer = await call('FinishPasskeySignIn', { signInToken, credentialJson });
    expect([400, 401]).toContain(answer.status);
  });

  test('an answer to nothing that was begun', async () => {
    const { key } = await register(await addPerson());
    const credentialJson = key.signIn('{"challenge":"AAAA","rpId":"localhost"}');
    const answer = await call('FinishPasskeySignIn', { signInToken: 'x', credentialJson });
    expect(answer.body).toMatchObject({ code: 'unauthenticated' });
  });

  test('more attempts in a minute than an address has', async () => {
    const codes = [];
    for (let at = 0; at <= signInLimits.signInsPerAddressMax; at++) {
      codes.push((await call('BeginPasskeySignIn', {})).body['code']);
    }
    expect(codes.filter((code) => code !== undefined)).toEqual(['resource_exhausted']);
  });

  test('all, where people sign in elsewhere only', async () => {
    const { key } = await register(await addPerson());
    await waf.call('SystemService/UpdateSystemSettings', {
      values: { 'auth.password_enabled': false },
    });
    const answer = await call('BeginPasskeySignIn', {});
    expect(answer.body).toMatchObject({ code: 'failed_precondition' });
    const options = await waf.call('AuthService/GetLoginOptions', {});
    expect(options.body['passkeyEnabled'] ?? false).toBe(false);
    expect(key.counter).toBe(1);
  });
});

describe('at a registration', () => {
  test.each<[string, Claims]>([
    ['the page of another site', { origin: 'http://evil.localhost:1' }],
    ['the host of another site', { rpId: 'evil.test' }],
    ['another challenge', { challenge: 'AAAA' }],
    ['an answer to a sign-in', { type: 'webauthn.get' }],
    ['a person who was not checked', { userVerified: false }],
  ])('%s is refused', async (_what, claims) => {
    const { answer } = await register(await addPerson(), new SoftAuthenticator(origin), claims);
    expect(answer.body).toMatchObject({ code: 'invalid_argument' });
    expect(answer.body['message']).toContain('credentialJson');
  });

  test('a wrong password, and none', async () => {
    const { token } = await addPerson();
    const answer = await call('BeginPasskeyRegistration', { currentPassword: 'x' }, token);
    expect(answer.body).toMatchObject({ code: 'permission_denied' });
    expect((await call('BeginPasskeyRegistration', {}, token)).status).toBe(400);
  });

  test('an answer for another person, and one after the password changed', async () => {
    const [person, other] = [await addPerson(), await addPerson()];
    const key = new SoftAuthenticator(origin);
    const { registrationToken, optionsJson = '{}' } = await begin(person.token);
    const finish = { registrationToken, credentialJson: key.register(optionsJson) };
    const stolen = await call('FinishPasskeyRegistration', finish, other.token);
    expect(stolen.body).toMatchObject({ code: 'failed_precondition' });
    const again = await begin(person.token);
    const next = { currentPassword: password, newPassword: 'another passphrase 43' };
    await waf.call('AuthService/ChangePassword', next, { token: person.token });
    const late = await call(
      'FinishPasskeyRegistration',
      {
        registrationToken: again['registrationToken'],
        credentialJson: key.register(again['optionsJson'] ?? '{}'),
      },
      person.token,
    );
    expect(late.body).toMatchObject({ code: 'unauthenticated' });
  });

  test('one more than a user may have', async () => {
    const person = await addPerson();
    for (let at = 0; at < signInLimits.passkeysPerUserMax; at++) {
      expect((await register(person)).answer.status).toBe(200);
    }
    expect(await begin(person.token)).toMatchObject({ code: 'failed_precondition' });
  });

  test('an address in place of a host name, and a place that is not the stated one', async () => {
    const { token } = await addPerson();
    const body = { currentPassword: password };
    const address = `http://127.0.0.1:${waf.control.managementPort}`;
    const refused = await call('BeginPasskeyRegistration', body, token, address);
    expect(refused.body['message']).toContain('need a host name');
    await waf.call('SystemService/UpdateSystemSettings', {
      values: { 'auth.public_url': 'https://waf.example:9080' },
    });
    const elsewhere = await call('BeginPasskeyRegistration', body, token);
    expect(elsewhere.body['message']).toContain('open the console there');
    const program = await waf.call(`${service}/BeginPasskeySignIn`, {}, { network: true });
    expect(String(program.body['optionsJson'])).toContain('"rpId":"waf.example"');
  });

  test('an API token, and the administration socket', async () => {
    const { id: ownerId } = await addPerson([{ id: 'role-waf-operator' }]);
    const expiresAt = new Date(Date.now() + 3600_000).toISOString();
    const wanted = { name: 'a', roleId: 'role-waf-operator', ownerId, expiresAt };
    const made = await waf.call('waf.access.v1.TokenService/CreateApiToken', wanted);
    const secret = String(made.body['secret']);
    expect(secret).toMatch(/^waf_/);
    expect((await call('ListPasskeys', {}, secret)).body['code']).toBe('permission_denied');
    const socket = await waf.call(`${service}/ListPasskeys`, {});
    expect(socket.body).toMatchObject({ code: 'failed_precondition' });
  });
});
