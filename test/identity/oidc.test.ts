/** Tests signing in at a real OpenID provider (oidc-provider) over loopback. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../support/test-control.ts';
import { Browser, type Visited } from './browser.ts';

interface Person {
  readonly sub: string;
  readonly preferred_username: string;
  readonly email: string;
  readonly email_verified: boolean;
  readonly groups: readonly string[];
}

let waf: TestControl;
let base = '';
let issuer = '';
let server: Server;
/** Who signs in at the provider next. */
let person: Person;
const anna: Person = {
  sub: 'subject-anna',
  preferred_username: 'anna',
  email: 'anna@example.test',
  email_verified: true,
  groups: ['ops'],
};

beforeAll(async () => {
  waf = await startTestControl();
  base = `http://127.0.0.1:${waf.control.managementPort}`;
  issuer = await startProvider();
  await configure({});
});
afterAll(async () => {
  await waf.control.close();
  server.close();
});

async function startProvider(): Promise<string> {
  server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = new Provider(url, {
    clients: [
      {
        client_id: 'waf',
        client_secret: 'a secret of the client',
        redirect_uris: [`${base}/auth/oidc/corp/callback`],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    pkce: { required: () => true },
    cookies: { keys: ['a key of the test'] },
    claims: { profile: ['preferred_username', 'groups'], email: ['email', 'email_verified'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => Promise.resolve({ ...person, groups: [...person.groups] }),
    }),
  });
  const callback = provider.callback();
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/interaction/') !== true) {
      void callback(request, response);
      return;
    }
    void (async () => {
      const { prompt, params, session } = await provider.interactionDetails(request, response);
      if (prompt.name === 'login') {
        await provider.interactionFinished(request, response, { login: { accountId: person.sub } });
        return;
      }
      const grant = new provider.Grant({
        accountId: session?.accountId ?? '',
        clientId: String(params['client_id']),
      });
      grant.addOIDCScope('openid profile email');
      await provider.interactionFinished(request, response, {
        consent: { grantId: await grant.save() },
      });
    })();
  });
  return url;
}

async function configure(change: object): Promise<void> {
  const provider = {
    id: 'corp',
    label: 'Corporate',
    issuer,
    clientId: 'waf',
    clientSecret: 'a secret of the client',
    ...change,
  };
  const values = { 'auth.public_url': base, 'auth.oidc.providers': [provider] };
  const { status, text } = await waf.call('SystemService/UpdateSystemSettings', { values });
  expect(text).toContain('settings');
  expect(status).toBe(200);
}

/** Follows redirects from our login page up to, not into, our callback. */
async function walkToCallback(browser: Browser): Promise<string> {
  let { location } = await browser.visit(`${base}/auth/oidc/corp/login`);
  for (let hop = 0; hop < 10 && !location.startsWith(`${base}/`); hop++) {
    ({ location } = await browser.visit(location));
  }
  return location;
}

async function signIn(browser = new Browser()): Promise<Visited> {
  return browser.visit(await walkToCallback(browser), { crossSite: true });
}

async function whoAmI(browser: Browser): Promise<Record<string, unknown>> {
  const refreshed = await browser.visit(`${base}/waf.v1.AuthService/Refresh`, {
    json: {},
    method: 'POST',
  });
  const { accessToken } = JSON.parse(refreshed.text) as { accessToken: string };
  const { body } = await waf.call('AuthService/GetUserInfo', {}, { token: accessToken });
  return body['user'] as Record<string, unknown>;
}

test('the provider is offered, its secret is not', async () => {
  const { body } = await waf.call('AuthService/GetLoginOptions', {}, { network: true });
  expect(body).toEqual({
    passwordEnabled: true,
    passkeyEnabled: true,
    providers: [{ id: 'oidc:corp', label: 'Corporate', loginUrl: `${base}/auth/oidc/corp/login` }],
  });
  const shown = await waf.call('SystemService/GetSystemSettings', {});
  expect(shown.text).toContain('"clientSecret":"configured"');
  const audit = await waf.call('AuditService/QueryAudit', {});
  expect(shown.text + audit.text).not.toContain('a secret of the client');
});

test('the request carries PKCE, state and nonce', async () => {
  const { status, location, setCookies } = await new Browser().visit(
    `${base}/auth/oidc/corp/login`,
  );
  expect(status).toBe(303);
  const asked = new URL(location).searchParams;
  expect(asked.get('response_type')).toBe('code');
  expect(asked.get('code_challenge_method')).toBe('S256');
  expect(asked.get('code_challenge')).toMatch(/^[\w-]{43}$/);
  expect(asked.get('state')).toMatch(/^[\w-]{32}$/);
  expect(asked.get('nonce')).toMatch(/^[\w-]{43}$/);
  expect(setCookies[0]).toMatch(/^waf_login=.*; Path=\/auth; HttpOnly; SameSite=Lax$/);
});

test('nobody gets in whom no administrator allowed', async () => {
  person = anna;
  const refused = await signIn();
  expect(refused.status).toBe(403);
  expect(refused.setCookies).toEqual([]);
  // The same name is not enough.
  await waf.call('UserService/CreateUser', {
    user: { username: 'anna' },
    password: 'a long enough password',
  });
  expect((await signIn()).status).toBe(403);
});

test('an allowed user signs in, and stays bound to the subject', async () => {
  const users = await waf.call('UserService/ListUsers', { query: 'anna' });
  const [user] = users.body['items'] as { id: string }[];
  const change = { id: user?.id, externalProviders: ['oidc:corp'] };
  await waf.call('UserService/UpdateUser', { user: change, updateMask: 'externalProviders' });
  const browser = new Browser();
  const entered = await signIn(browser);
  expect(entered).toMatchObject({ status: 303, location: `${base}/` });
  expect(entered.text).toBe('');
  expect(entered.setCookies.find((one) => one.startsWith('waf_refresh='))).toMatch(
    /; Path=\/waf\.v1\.AuthService; HttpOnly; SameSite=Strict$/,
  );
  expect(await whoAmI(browser)).toMatchObject({ username: 'anna' });
  // Somebody else who now bears the name at the provider is another person.
  person = { ...anna, sub: 'subject-impostor' };
  expect((await signIn()).status).toBe(403);
  // The bound person may change the name there.
  person = { ...anna, preferred_username: 'anna.married' };
  expect((await signIn()).status).toBe(303);
});

test('a mail address counts only when the provider has verified it', async () => {
  await waf.call('UserService/CreateUser', {
    user: { username: 'bert', email: 'bert@example.test', externalProviders: ['oidc:corp'] },
  });
  const bert = {
    ...anna,
    sub: 'subject-bert',
    preferred_username: 'b',
    email: 'bert@example.test',
  };
  person = { ...bert, email_verified: false };
  expect((await signIn()).status).toBe(403);
  person = bert;
  expect((await signIn()).status).toBe(303);
});

test('a callback works once, and only in the browser that began', async () => {
  person = anna;
  const browser = new Browser();
  const callback = await walkToCallback(browser);
  const other = new Browser();
  await other.visit(`${base}/auth/oidc/corp/login`);
  expect((await other.visit(callback, { crossSite: true })).status).toBe(401);
  // The theft has used the login up.
  expect((await browser.visit(callback, { crossSite: true })).status).toBe(401);
  const again = await walkToCallback(browser);
  expect((await browser.visit(again, { crossSite: true })).status).toBe(303);
  expect((await browser.visit(again, { crossSite: true })).status).toBe(401);
});

test('changed answers are refused', async () => {
  person = anna;
  for (const change of [
    (url: URL) => url.searchParams.set('code', 'forged'),
    (url: URL) => url.searchParams.set('iss', 'https://evil.example'),
    (url: URL) => url.searchParams.set('state', 'forged'),
    (url: URL) => url.searchParams.delete('code'),
    (url: URL) => url.searchParams.append('code', 'second'),
  ]) {
    const browser = new Browser();
    const url = new URL(await walkToCallback(browser));
    change(url);
    const answer = await browser.visit(url.href, { crossSite: true });
    expect([url.search, answer.status]).toEqual([url.search, 401]);
    expect(answer.text).not.toContain('evil');
    expect(browser.cookieNames(base)).not.toContain('waf_refresh');
  }
});

test('wrong passwords of others do not keep out whom the provider vouches for', async () => {
  person = anna;
  for (let at = 0; at < 6; at++) {
    await waf.call('AuthService/Login', { username: 'anna', password: 'a wrong password' });
  }
  const login = { username: 'anna', password: 'a long enough password' };
  expect((await waf.call('AuthService/Login', login)).status).toBe(401);
  expect((await signIn()).status).toBe(303);
});

test('a locked user stays out, and a second factor is asked for', async () => {
  person = anna;
  const users = await waf.call('UserService/ListUsers', { query: 'anna' });
  const [user] = users.body['items'] as { id: string }[];
  await waf.call('UserService/LockUser', { userId: user?.id });
  expect((await signIn()).status).toBe(403);
  await waf.call('UserService/UnlockUser', { userId: user?.id });
  const login = { username: 'anna', password: 'a long enough password' };
  const token = String((await waf.call('AuthService/Login', login)).body['accessToken']);
  const begun = await waf.call('AuthService/BeginTOTPEnrollment', {}, { token });
  const { secret, enrollmentToken } = begun.body as { secret: string; enrollmentToken: string };
  const { Secret, TOTP } = await import('otpauth');
  const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
  const confirmed = await waf.call(
    'AuthService/ConfirmTOTPEnrollment',
    { enrollmentToken, code },
    { token },
  );
  const [recovery] = confirmed.body['recoveryCodes'] as string[];
  const browser = new Browser();
  const challenged = await signIn(browser);
  expect(challenged).toMatchObject({ status: 303, location: `${base}/?challenge=totp` });
  expect(browser.cookieNames(base)).not.toContain('waf_refresh');
  await browser.visit(`${base}/waf.v1.AuthService/CompleteAuthenticationChallenge`, {
    json: { code: recovery },
    method: 'POST',
  });
  expect(browser.cookieNames(base)).toContain('waf_refresh');
});

test('a provider may make users, whose roles follow their groups', async () => {
  const rules = {
    autoCreate: true,
    defaultRoleIds: ['role-auditor'],
    roleMappings: { ops: 'role-waf-operator' },
  };
  await configure({ ...rules, clientSecret: 'configured' });
  person = { ...anna, sub: 'subject-cleo', preferred_username: 'cleo', email: 'cleo@example.test' };
  const browser = new Browser();
  expect((await signIn(browser)).status).toBe(303);
  expect((await whoAmI(browser))['roles']).toEqual(['Auditor', 'WAF Operator']);
  person = { ...person, groups: [] };
  const later = new Browser();
  expect((await signIn(later)).status).toBe(303);
  expect((await whoAmI(later))['roles']).toEqual(['Auditor']);
  // The first session had more rights: it has ended.
  const old = await browser.visit(`${base}/waf.v1.AuthService/Refresh`, {
    json: {},
    method: 'POST',
  });
  expect(old.status).toBe(401);
  // A name that is taken is not given to a stranger.
  person = { ...anna, sub: 'subject-eve', preferred_username: 'admin' };
  expect((await signIn()).status).toBe(403);
});

test('an answer of another issuer is refused, and a provider that does not answer is reported', async () => {
  await configure({ issuer: `${issuer}/other` });
  const answer = await new Browser().visit(`${base}/auth/oidc/corp/login`);
  expect(answer.status).toBe(503);
  expect(JSON.parse(answer.text)).toMatchObject({ code: 'unavailable' });
  expect((await new Browser().visit(`${base}/auth/oidc/nobody/login`)).status).toBe(404);
});
