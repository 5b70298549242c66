/** Tests passkeys as the step after a password: what completes a sign-in, and what does not. */

import { beforeEach, expect, test } from 'vitest';
import { SoftAuthenticator, type Claims } from '../../../test/support/soft-authenticator.ts';
import {
  startTestControl,
  type Answer,
  type TestControl,
} from '../../../test/support/test-control.ts';

const password = 'a long passphrase 42';
const service = 'waf.access.v1.PasskeyService';
let waf: TestControl;
let origin: string;

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
  readonly key: SoftAuthenticator;
}

/** A user with a passkey, which is asked for after the password. */
async function addPerson(username: string): Promise<Person> {
  const { body } = await waf.call('UserService/CreateUser', { user: { username }, password });
  const token = String((await login(username)).body['accessToken']);
  const key = new SoftAuthenticator(origin);
  const begun = await call('BeginPasskeyRegistration', { currentPassword: password }, token);
  const { registrationToken, optionsJson } = begun.body as Record<string, string>;
  const credentialJson = key.register(optionsJson!);
  await call('FinishPasskeyRegistration', { registrationToken, credentialJson }, token);
  return { id: (body['user'] as { id: string }).id, username, token, key };
}

async function addAsked(username: string): Promise<Person> {
  const person = await addPerson(username);
  expect((await askForIt(person, true)).body).toEqual({ enabled: true });
  return person;
}

const call = (method: string, body: object, token: string): Promise<Answer> =>
  waf.call(`${service}/${method}`, body, { origin, token });
const login = (username: string): Promise<Answer> =>
  waf.call('AuthService/Login', { username, password }, { network: true });
const askForIt = ({ token }: Person, enabled: boolean, currentPassword = password) =>
  call('SetPasskeySecondFactor', { enabled, currentPassword }, token);

/** The password's part of a sign-in: what answers the challenge. */
async function challenged({ username }: Person, kind = 'passkey') {
  const { body, cookie: set } = await login(username);
  expect(body).toMatchObject({ challengeRequired: true, challengeKind: kind });
  expect(body['accessToken']).toBeUndefined();
  const cookie = set.split(';')[0] ?? '';
  return (answer: object, from = origin): Promise<Answer> =>
    waf.call('AuthService/CompleteAuthenticationChallenge', answer, { cookie, origin: from });
}

async function answerBy(key: SoftAuthenticator, person: Person, claims: Claims = {}) {
  const answer = await challenged(person);
  const { body } = await answer({ beginPasskey: true });
  const optionsJson = String(body['passkeyOptionsJson']);
  const credentialJson = key.signIn(optionsJson, claims);
  return { optionsJson, credentialJson, answer, given: await answer({ credentialJson }) };
}

test('the password alone signs nobody in; the passkey completes it, once', async () => {
  const person = await addAsked('ann');
  const { given, optionsJson, credentialJson, answer } = await answerBy(person.key, person);
  expect(given).toMatchObject({ status: 200, body: { user: { username: 'ann' } } });
  expect(given.cookie).toMatch(/^waf_/);
  const { allowCredentials } = JSON.parse(optionsJson) as { allowCredentials: object[] };
  expect(allowCredentials).toMatchObject([{ id: person.key.id.toString('base64url') }]);
  expect((await answer({ credentialJson })).status).toBe(401);
  const listed = await call('ListPasskeys', {}, person.token);
  expect(listed.body).toMatchObject({ secondFactor: true });
});

test.each<[string, Claims]>([
  ['a signature of another key', { otherKey: true }],
  ['the page of another site', { origin: 'http://evil.localhost:1' }],
  ['another challenge', { challenge: 'AAAA' }],
  ['a person who was not checked', { userVerified: false }],
  ['a counter that goes back', { counter: 0 }],
])('%s is refused', async (_what, claims) => {
  const person = await addAsked('ann');
  expect((await answerBy(person.key, person)).given.status).toBe(200);
  const { given } = await answerBy(person.key, person, claims);
  expect([given.status, given.cookie]).toEqual([401, '']);
});

test('neither the passkey of another user nor an answer to nothing completes it', async () => {
  const [person, other] = [await addAsked('ann'), await addAsked('bob')];
  const { given, answer, credentialJson } = await answerBy(other.key, person);
  expect(given.body).toMatchObject({ code: 'unauthenticated' });
  expect((await answer({ credentialJson })).body).toMatchObject({ code: 'unauthenticated' });
  expect((await answer({ code: '123456' })).body).toMatchObject({ code: 'failed_precondition' });
  expect((await answer({ code: '1', credentialJson })).body).toMatchObject({
    code: 'invalid_argument',
  });
  expect((await answer({})).body).toMatchObject({ code: 'invalid_argument' });
  const audit = await waf.call('AuditService/QueryAudit', { action: 'login_failed' });
  expect(audit.body['items']).toHaveLength(1);
});

test('an end of all sessions ends an open challenge, too', async () => {
  const person = await addAsked('ann');
  const answer = await challenged(person);
  const { body } = await answer({ beginPasskey: true });
  const next = { currentPassword: password, newPassword: 'another passphrase 43' };
  await waf.call('AuthService/ChangePassword', next, { token: person.token });
  const credentialJson = person.key.signIn(String(body['passkeyOptionsJson']));
  expect((await answer({ credentialJson })).status).toBe(401);
});

test('it is switched on with a passkey, and off, by the password only', async () => {
  const person = await addPerson('ann');
  for (const enabled of [true, false]) {
    const wrong = await askForIt(person, enabled, 'wrong');
    expect(wrong.body).toMatchObject({ code: 'permission_denied' });
    expect((await askForIt(person, enabled, '')).status).toBe(400);
  }
  expect((await login('ann')).body['accessToken']).toBeTypeOf('string');
  await askForIt(person, true);
  const id = person.key.id.toString('base64url');
  const kept = await call('RemovePasskey', { id }, person.token);
  expect(kept.body).toMatchObject({ code: 'failed_precondition' });
  expect((await askForIt(person, false)).body).toEqual({});
  expect((await login('ann')).body['accessToken']).toBeTypeOf('string');
  expect((await call('RemovePasskey', { id }, person.token)).body).toEqual({ removed: true });
  const none = await askForIt(person, true);
  expect(none.body).toMatchObject({ code: 'failed_precondition' });
  for (const action of ['enable_passkey_factor', 'disable_passkey_factor']) {
    const { body } = await waf.call('AuditService/QueryAudit', { action });
    expect(body['items']).toHaveLength(1);
  }
});

test('an administrator who resets the second factors ends it', async () => {
  const person = await addAsked('ann');
  await waf.call('UserService/ResetUserMFA', { userId: person.id });
  expect((await login('ann')).body['accessToken']).toBeTypeOf('string');
});

test('with an authenticator app, code and passkey answer the same challenge', async () => {
  const person = await addPerson('ann');
  const { token, key } = person;
  const begun = await waf.call('AuthService/BeginTOTPEnrollment', {}, { token });
  const { secret, enrollmentToken } = begun.body as { secret: string; enrollmentToken: string };
  const { Secret, TOTP } = await import('otpauth');
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  await waf.call('AuthService/ConfirmTOTPEnrollment', { enrollmentToken, code }, { token });
  const answer = await challenged(person, 'totp');
  expect((await answer({ code: '000000' })).status).toBe(401);
  const asked = await answer({ beginPasskey: true });
  const credentialJson = key.signIn(String(asked.body['passkeyOptionsJson']));
  expect((await answer({ credentialJson })).status).toBe(200);
});

test('who has no passkey is asked for none; an address has none', async () => {
  const person = await addAsked('ann');
  const answer = await challenged(person);
  const address = `http://127.0.0.1:${waf.control.managementPort}`;
  const byAddress = await answer({ beginPasskey: true }, address);
  expect(byAddress.body).toMatchObject({ code: 'failed_precondition' });
  const nobody = await waf.call(
    'AuthService/CompleteAuthenticationChallenge',
    { beginPasskey: true },
    { cookie: 'waf_challenge=AAAA', origin },
  );
  expect(nobody.body).toMatchObject({ code: 'unauthenticated' });
});
