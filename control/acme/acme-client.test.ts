/**
 * The client against an authority that checks what it gets: signatures, nonces, bindings to
 * external accounts, profiles, renewal information and what an order replaces.
 */

import { generateKeyPairSync, webcrypto } from 'node:crypto';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { flattenedVerify, importJWK, type FlattenedJWSInput, type JWK } from 'jose';
import { afterEach, expect, test } from 'vitest';
import { acmeLimits } from '../limits/acme-limits.ts';
import { AcmeClient, type ExternalAccount } from './acme-client.ts';
import { renewalId } from './csr.ts';
import { addReflectMetadata } from './reflect-metadata.ts';

const external: ExternalAccount = {
  keyId: 'kid-1',
  hmacKey: 'c2VjcmV0LW9mLWFuLWV4dGVybmFsLWFjY291bnQ',
};

interface Wish {
  readonly renewalInfo?: boolean;
  readonly externalAccountRequired?: boolean;
  /** Good nonces that are refused. */
  readonly badNonces?: number;
  readonly window?: { readonly start: string; readonly end: string };
  readonly retryAfter?: string;
}

type Json = Readonly<Record<string, unknown>>;

/** What the authority took, by path. */
class StubAuthority {
  readonly taken: { readonly path: string; readonly payload: Json }[] = [];
  readonly asked: string[] = [];
  base = '';
  private readonly wish: Wish;
  private readonly server: http.Server;
  private readonly nonces = new Set<string>();
  private made = 0;
  private refusals: number;
  /** The key of the account, and what was bound to an external one. */
  key: JWK | null = null;
  bound: { readonly key: unknown; readonly header: unknown } | null = null;

  constructor(wish: Wish) {
    this.wish = wish;
    this.refusals = wish.badNonces ?? 0;
    this.server = http.createServer((request, response) => {
      this.answer(request, response).catch((error: unknown) => {
        this.problem(response, 500, 'serverInternal', String(error));
      });
    });
  }

  async start(): Promise<AcmeClient> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.base = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const keyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const account = { directoryUrl: `${this.base}/dir`, keyPem, accountUrl: '' };
    const call = { allowedNetworks: ['127.0.0.0/8'], caPem: '', plain: true };
    return new AcmeClient(account, call);
  }

  stop(): Promise<void> {
    return new Promise((resolve) => this.server.close(() => resolve()));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    this.asked.push(`${method} ${url}`);
    if (method === 'POST') return this.post(url, await bodyOf(request), response);
    response.setHeader('content-type', 'application/json');
    if (url === '/nonce') response.setHeader('replay-nonce', this.nonce());
    if (url === '/dir') response.end(JSON.stringify(this.directory()));
    else if (url.startsWith('/ari/')) {
      if (this.wish.retryAfter) response.setHeader('retry-after', this.wish.retryAfter);
      response.end(JSON.stringify({ suggestedWindow: this.wish.window }));
    } else response.end();
  }

  private directory(): Json {
    const { renewalInfo, externalAccountRequired } = this.wish;
    return {
      newNonce: `${this.base}/nonce`,
      newAccount: `${this.base}/account`,
      newOrder: `${this.base}/order`,
      meta: { externalAccountRequired, profiles: { short: 'six days' } },
      ...(renewalInfo === true ? { renewalInfo: `${this.base}/ari/` } : {}),
    };
  }

  private async post(path: string, text: string, response: ServerResponse): Promise<void> {
    const jws = JSON.parse(text) as FlattenedJWSInput & { protected: string };
    const header = JSON.parse(Buffer.from(jws.protected, 'base64url').toString()) as Json;
    response.setHeader('replay-nonce', this.nonce());
    const fresh = this.nonces.delete(String(header['nonce']));
    if (!fresh || this.refusals-- > 0) return this.problem(response, 400, 'badNonce', 'again');
    if (header['url'] !== this.base + path)
      return this.problem(response, 401, 'unauthorized', 'url');
    if (path === '/account') this.key = header['jwk'] as JWK;
    else if (header['kid'] !== `${this.base}/account/1`) {
      return this.problem(response, 401, 'accountDoesNotExist', 'kid');
    }
    const { payload: bytes } = await flattenedVerify(jws, await importJWK(this.key!, 'ES256'));
    const payload = JSON.parse(Buffer.from(bytes).toString()) as Json;
    this.taken.push({ path, payload });
    response.setHeader('content-type', 'application/json');
    if (path === '/account') return this.account(payload, response);
    if (payload['replaces'] === 'used.AQ') {
      return this.problem(response, 409, 'alreadyReplaced', 'replaced by another');
    }
    if (payload['profile'] === 'unknown') {
      return this.problem(response, 400, 'invalidProfile', 'there is no such profile');
    }
    response.writeHead(201, { location: `${this.base}/order/1` });
    response.end(JSON.stringify({ status: 'ready', authorizations: [], finalize: 'f' }));
  }

  private async account(payload: Json, response: ServerResponse): Promise<void> {
    const binding = payload['externalAccountBinding'] as FlattenedJWSInput | undefined;
    if (binding !== undefined) {
      const secret = Buffer.from(external.hmacKey, 'base64url');
      const { payload: bound, protectedHeader } = await flattenedVerify(binding, secret);
      this.bound = { key: JSON.parse(Buffer.from(bound).toString()), header: protectedHeader };
    }
    response.writeHead(201, { location: `${this.base}/account/1` });
    response.end('{"status":"valid"}');
  }

  private nonce(): string {
    const nonce = `nonce-${++this.made}`;
    this.nonces.add(nonce);
    return nonce;
  }

  private problem(response: ServerResponse, status: number, type: string, detail: string): void {
    response.writeHead(status, { 'content-type': 'application/problem+json' });
    response.end(JSON.stringify({ type: `urn:ietf:params:acme:error:${type}`, detail }));
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of request.setEncoding('utf8')) text += piece as string;
  return text;
}

const stubs: StubAuthority[] = [];
afterEach(async () => {
  for (const stub of stubs.splice(0)) await stub.stop();
});

async function authority(wish: Wish = {}): Promise<{ stub: StubAuthority; client: AcmeClient }> {
  const stub = new StubAuthority(wish);
  stubs.push(stub);
  return { stub, client: await stub.start() };
}

const order = { names: ['a.test', 'b.test'], replaces: null, profile: '' };
const identifiers = [
  { type: 'dns', value: 'a.test' },
  { type: 'dns', value: 'b.test' },
];
const orders = ({ taken }: StubAuthority): Json[] =>
  taken.filter(({ path }) => path === '/order').map(({ payload }) => payload);

test('refused nonces are tried again, up to a bound', async () => {
  const { stub, client } = await authority({ badNonces: 3 });
  expect(await client.register('ops@a.test', null)).toBe(`${stub.base}/account/1`);
  expect(stub.taken[0]?.payload).toEqual({
    termsOfServiceAgreed: true,
    contact: ['mailto:ops@a.test'],
  });
  expect(stub.asked.filter((one) => one === 'POST /account')).toHaveLength(4);
  const never = await authority({ badNonces: 1000 });
  await expect(never.client.register('', null)).rejects.toMatchObject({ type: 'badNonce' });
  const tries = never.stub.asked.filter((one) => one === 'POST /account');
  expect(tries).toHaveLength(acmeLimits.nonceAttemptsMax);
});

test('an external account is bound with its key; one that is needed is asked for', async () => {
  const { stub, client } = await authority({ externalAccountRequired: true });
  await expect(client.register('', null)).rejects.toMatchObject({
    type: 'externalAccountRequired',
    message: expect.stringContaining('eabKeyId') as string,
  });
  expect(stub.taken).toEqual([]);
  await client.register('', external);
  const header = { alg: 'HS256', kid: external.keyId, url: `${stub.base}/account` };
  expect(stub.bound).toEqual({ key: stub.key, header });
});

test('a profile goes along; one that the authority does not have is said', async () => {
  const { stub, client } = await authority();
  await client.register('', null);
  await client.order({ ...order, profile: 'short' });
  await client.order(order);
  expect(orders(stub)).toEqual([{ identifiers, profile: 'short' }, { identifiers }]);
  await expect(client.order({ ...order, profile: 'unknown' })).rejects.toMatchObject({
    type: 'invalidProfile',
  });
});

test('an order says what it replaces, where the authority knows renewals', async () => {
  const { stub, client } = await authority({ renewalInfo: true });
  await client.register('', null);
  await client.order({ ...order, replaces: 'aki.AQ' });
  expect(orders(stub)).toEqual([{ identifiers, replaces: 'aki.AQ' }]);
  // What was replaced already is ordered again, replacing nothing (RFC 9773 section 5).
  await client.order({ ...order, replaces: 'used.AQ' });
  expect(orders(stub).slice(1)).toEqual([{ identifiers, replaces: 'used.AQ' }, { identifiers }]);

  const without = await authority();
  await without.client.register('', null);
  await without.client.order({ ...order, replaces: 'aki.AQ' });
  expect(orders(without.stub)).toEqual([{ identifiers }]);
  expect(await without.client.renewalWindow('aki.AQ')).toBeNull();
});

test('the window of a renewal, and when to ask again', async () => {
  const window = { start: '2026-01-02T04:00:00Z', end: '2026-01-03T04:00:00Z' };
  const ask = async (wish: Wish) => {
    const { stub, client } = await authority({ renewalInfo: true, ...wish });
    const found = await client.renewalWindow('aki.AQ');
    expect(stub.asked).toEqual(['GET /dir', 'GET /ari/aki.AQ']);
    return found;
  };
  const [startMs, endMs] = [Date.parse(window.start), Date.parse(window.end)];
  const { renewalAskMinMs, renewalAskMaxMs } = acmeLimits;
  const asked = (askAgainMs: number): object => ({ startMs, endMs, askAgainMs });
  expect(await ask({ window, retryAfter: '3600' })).toEqual(asked(3_600_000));
  expect(await ask({ window, retryAfter: '1' })).toEqual(asked(renewalAskMinMs));
  expect(await ask({ window, retryAfter: '999999999' })).toEqual(asked(renewalAskMaxMs));
  expect(await ask({ window })).toEqual(asked(renewalAskMaxMs));
  expect(await ask({ window: { start: window.end, end: window.start } })).toBeNull();
  expect(await ask({})).toBeNull();
});

test('the id of a renewal is the one of RFC 9773 section 4.1', async () => {
  addReflectMetadata();
  const x509 = await import('@peculiar/x509');
  x509.cryptoProvider.set(webcrypto);
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const keyId = '69885b6b87464041e1b37b847ba0ae2cde01c8d4';
  const make = (extensions: object[]) =>
    x509.X509CertificateGenerator.create({
      serialNumber: '0087654321',
      subject: 'CN=a.test',
      issuer: 'CN=authority',
      notBefore: new Date(0),
      notAfter: new Date(1),
      signingKey: keys.privateKey,
      publicKey: keys.publicKey,
      signingAlgorithm: algorithm,
      extensions: extensions as never,
    });
  const named = await make([new x509.AuthorityKeyIdentifierExtension(keyId)]);
  expect(await renewalId(named.toString('pem'))).toBe('aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE');
  expect(await renewalId((await make([])).toString('pem'))).toBeNull();
});
