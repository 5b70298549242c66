/** Tests OpenID sign-in against a provider that lies: each false ID token is refused. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from 'jose';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../support/test-control.ts';
import { Browser, type Visited } from './browser.ts';

type Keys = Awaited<ReturnType<typeof generateKeyPair>>;
/** How the next ID token is made from the right claims. */
type Forge = (claims: JWTPayload) => Promise<string> | string;

let waf: TestControl;
let base = '';
let issuer = '';
let server: Server;
let keys: Keys;
let strangers: Keys;
let nonce = '';
let verifier = '';
let forge: Forge;
/** What the provider answers beside its rules. */
let discovered: object = {};
let userInfo: object = {};
let tokenStatus = 200;

beforeAll(async () => {
  waf = await startTestControl();
  base = `http://127.0.0.1:${waf.control.managementPort}`;
  keys = await generateKeyPair('RS256');
  strangers = await generateKeyPair('RS256');
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await configure('liar');
  await waf.call('UserService/CreateUser', {
    user: { username: 'anna', externalProviders: ['oidc:liar'] },
  });
});
beforeEach(() => {
  forge = honest;
  discovered = {};
  userInfo = {};
  tokenStatus = 200;
});
afterAll(async () => {
  await waf.control.close();
  server.close();
});

/** A client id of its own makes control ask for the discovery document anew. */
async function configure(clientId: string): Promise<void> {
  const provider = { id: 'liar', label: 'Liar', issuer, clientId };
  const values = { 'auth.public_url': base, 'auth.oidc.providers': [provider] };
  expect((await waf.call('SystemService/UpdateSystemSettings', { values })).status).toBe(200);
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const send = (body: object, status = 200): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  };
  if (request.url === '/.well-known/openid-configuration') {
    send({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      userinfo_endpoint: `${issuer}/userinfo`,
      response_types_supported: ['code'],
      id_token_signing_alg_values_supported: ['RS256'],
      subject_types_supported: ['public'],
      ...discovered,
    });
    return;
  }
  if (request.url === '/jwks') {
    send({ keys: [{ ...(await exportJWK(keys.publicKey)), kid: 'k', alg: 'RS256', use: 'sig' }] });
    return;
  }
  if (request.url === '/userinfo') {
    send({ sub: 'subject', preferred_username: 'anna', ...userInfo });
    return;
  }
  let form = '';
  for await (const chunk of request as AsyncIterable<Buffer>) form += chunk.toString();
  verifier = new URLSearchParams(form).get('code_verifier') ?? '';
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    iss: issuer,
    aud: currentClient,
    sub: 'subject',
    nonce,
    iat: now,
    exp: now + 60,
    preferred_username: 'anna',
  };
  send(
    { access_token: 'a', token_type: 'Bearer', expires_in: 60, id_token: await forge(claims) },
    tokenStatus,
  );
}

let currentClient = 'liar';

function signed(claims: JWTPayload, by = keys, kid = 'k'): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid }).sign(by.privateKey);
}
const honest: Forge = (claims) => signed(claims);

async function signIn(browser = new Browser()): Promise<Visited> {
  const begun = await browser.visit(`${base}/auth/oidc/liar/login`);
  if (begun.status !== 303) return begun;
  const asked = new URL(begun.location).searchParams;
  nonce = asked.get('nonce') ?? '';
  const state = asked.get('state') ?? '';
  const back = `${base}/auth/oidc/liar/callback?code=c&state=${state}`;
  return browser.visit(back, { crossSite: true });
}

test('an honest token enters, and the code was bound to us', async () => {
  const entered = await signIn();
  expect([entered.status, entered.text]).toEqual([303, '']);
  expect(verifier).toMatch(/^[\w-]{43}$/);
});

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const lies: [string, Forge][] = [
  ['another issuer', (claims) => signed({ ...claims, iss: 'https://evil.example' })],
  ['another audience', (claims) => signed({ ...claims, aud: 'somebody-else' })],
  [
    'two audiences and another party',
    (claims) => signed({ ...claims, aud: [currentClient, 'other'], azp: 'other' }),
  ],
  ['another nonce', (claims) => signed({ ...claims, nonce: 'old' })],
  ['no nonce', ({ nonce: _nonce, ...claims }) => signed(claims)],
  ['the past', (claims) => signed({ ...claims, iat: 1000, exp: 2000 })],
  ['no end', ({ exp: _exp, ...claims }) => signed(claims)],
  ['the future', (claims) => signed({ ...claims, nbf: (claims.iat ?? 0) + 3600 })],
  ['no subject', ({ sub: _sub, ...claims }) => signed(claims)],
  ['the key of a stranger', (claims) => signed(claims, strangers)],
  ['a key that is not published', (claims) => signed(claims, strangers, 'other')],
  ['no signature', (claims) => `${encode({ alg: 'none' })}.${encode(claims)}.`],
  [
    'a secret in place of a key',
    (claims) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256', kid: 'k' })
        .sign(new TextEncoder().encode('a secret of thirty-two characters')),
  ],
  ['no token at all', () => ''],
  ['noise', () => 'a.b.c'],
];
test.each(lies)('a token with %s is refused', async (_name, lie) => {
  forge = lie;
  const browser = new Browser();
  const refused = await signIn(browser);
  expect(JSON.parse(refused.text)).toEqual({
    code: 'unauthenticated',
    message: 'the identity provider did not confirm this sign-in',
  });
  expect(refused.status).toBe(401);
  expect(browser.cookieNames(base)).not.toContain('waf_refresh');
});

test('what the provider says of another subject is refused', async () => {
  userInfo = { sub: 'somebody-else' };
  expect((await signIn()).status).toBe(401);
});

test('a code that the provider refuses is refused', async () => {
  tokenStatus = 400;
  expect((await signIn()).status).toBe(401);
});

test('a discovery document of another issuer is refused', async () => {
  discovered = { issuer: 'https://evil.example' };
  currentClient = 'second';
  await configure(currentClient);
  expect((await signIn()).status).toBe(503);
});

test('an endless discovery document is cut off', async () => {
  discovered = { filler: 'x'.repeat(2 * 1024 * 1024) };
  currentClient = 'third';
  await configure(currentClient);
  expect((await signIn()).status).toBe(503);
});
