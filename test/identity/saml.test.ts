/** Tests signing in at a SAML identity provider: what is right enters, each wrong is refused. */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestControl, type TestControl } from '../support/test-control.ts';
import { Browser, type Visited } from './browser.ts';
import {
  formOf,
  makeAssertion,
  makeResponse,
  makeSigningKey,
  newId,
  providerIssuer,
  readRequest,
  sign,
  type SamlAnswer,
  type SamlRequest,
  type SigningKey,
} from './saml-provider.ts';

let waf: TestControl;
let base = '';
let key: SigningKey;
let stranger: SigningKey;
let browser: Browser;

beforeAll(async () => {
  waf = await startTestControl();
  base = `http://127.0.0.1:${waf.control.managementPort}`;
  key = await makeSigningKey();
  stranger = await makeSigningKey();
  await configure({});
  await waf.call('UserService/CreateUser', {
    user: { username: 'sam', externalProviders: ['saml:idp'] },
  });
});
beforeEach(() => {
  browser = new Browser();
});
afterAll(() => waf.control.close());

async function configure(change: object): Promise<void> {
  const provider = {
    id: 'idp',
    label: 'Identity provider',
    idpIssuer: providerIssuer,
    entryPoint: 'http://127.0.0.1:9/sso',
    certificates: [key.certificate],
    clockSkewSeconds: 5,
    ...change,
  };
  const values = { 'auth.public_url': base, 'auth.saml.providers': [provider] };
  expect((await waf.call('SystemService/UpdateSystemSettings', { values })).status).toBe(200);
}

async function begin(): Promise<SamlRequest> {
  const { status, location } = await browser.visit(`${base}/auth/saml/idp/login`);
  expect(status).toBe(303);
  return readRequest(location);
}

/** The provider's form, carried by the browser; then the step that the browser takes itself. */
async function deliver(form: Record<string, string>, by = browser): Promise<Visited> {
  const posted = await by.visit(`${base}/auth/saml/idp/acs`, { form, crossSite: true });
  if (posted.status !== 303) return posted;
  return by.visit(posted.location, { crossSite: true });
}

function rightForm(request: SamlRequest, answer: SamlAnswer = {}): Record<string, string> {
  return formOf(sign(makeResponse(request, makeAssertion(request, answer)), key), request);
}

test('a signed assertion for our request enters', async () => {
  const request = await begin();
  expect(request.acsUrl).toBe(`${base}/auth/saml/idp/acs`);
  expect(request.issuer).toBe(`${base}/auth/saml/idp/metadata`);
  const entered = await deliver(rightForm(request));
  expect(entered).toMatchObject({ status: 303, location: `${base}/` });
  expect(browser.cookieNames(base)).toEqual(['waf_refresh']);
  const metadata = await browser.visit(request.issuer);
  expect(metadata.text).toContain('WantAssertionsSigned="true"');
  expect(metadata.text).toContain(request.acsUrl);
});

test('a signature over the response does not stand in for one over the assertion', async () => {
  const request = await begin();
  const response = sign(makeResponse(request, makeAssertion(request)), key, 'Response');
  expect((await deliver(formOf(response, request))).status).toBe(401);
  const both = await begin();
  const inner = sign(makeResponse(both, makeAssertion(both)), key);
  const outer = await deliver(formOf(sign(inner, key, 'Response'), both));
  expect(outer.status).toBe(303);
});

describe('refused', () => {
  const wrong: [string, SamlAnswer][] = [
    ['a wrong audience', { audience: 'https://other.example' }],
    ['no audience', { audience: null }],
    ['an expired assertion', { notBeforeMs: -120_000, notOnOrAfterMs: -6_000 }],
    ['an assertion of the future', { notBeforeMs: 30_000, notOnOrAfterMs: 90_000 }],
    ['another issuer', { issuer: 'https://evil.example' }],
    ['another recipient', { recipient: 'https://other.example/acs' }],
    ['a confirmation for another request', { confirmedFor: '_other' }],
    [
      'a confirmation that is no bearer',
      { method: 'urn:oasis:names:tc:SAML:2.0:cm:sender-vouches' },
    ],
    [
      'a name of one session',
      { nameIdFormat: 'urn:oasis:names:tc:SAML:2.0:nameid-format:transient' },
    ],
    ['no name', { nameId: '' }],
  ];
  test.each(wrong)('%s', async (_name, answer) => {
    const request = await begin();
    const refused = await deliver(rightForm(request, answer));
    expect(refused.status).toBe(401);
    expect(JSON.parse(refused.text)).toEqual({
      code: 'unauthenticated',
      message: 'the identity provider did not confirm this sign-in',
    });
    expect(browser.cookieNames(base)).not.toContain('waf_refresh');
  });

  test('an unsigned assertion, and one of another key', async () => {
    const unsigned = await begin();
    const plain = makeResponse(unsigned, makeAssertion(unsigned));
    expect((await deliver(formOf(plain, unsigned))).status).toBe(401);
    const foreign = await begin();
    const xml = sign(makeResponse(foreign, makeAssertion(foreign)), stranger);
    expect((await deliver(formOf(xml, foreign))).status).toBe(401);
  });

  test('a weak digest, a document type, a changed text, a failed status', async () => {
    const weak = await begin();
    const sha1 = sign(makeResponse(weak, makeAssertion(weak)), key, 'Assertion', true);
    expect((await deliver(formOf(sha1, weak))).status).toBe(401);
    const typed = await begin();
    const good = sign(makeResponse(typed, makeAssertion(typed)), key);
    const withType = `<!DOCTYPE a [<!ENTITY b "sam">]>${good}`;
    expect((await deliver(formOf(withType, typed))).status).toBe(401);
    const changed = await begin();
    const edited = sign(makeResponse(changed, makeAssertion(changed)), key).replace(
      '>sam<',
      '>admin<',
    );
    expect((await deliver(formOf(edited, changed))).status).toBe(401);
    const failed = await begin();
    const responder = makeResponse(failed, makeAssertion(failed), { status: 'Responder' });
    expect((await deliver(formOf(sign(responder, key), failed))).status).toBe(401);
    const odd = await begin();
    expect((await deliver({ SAMLResponse: 'no xml', RelayState: odd.relayState })).status).toBe(
      401,
    );
  });

  test('an assertion that answers another request of ours', async () => {
    const first = await begin();
    const second = await begin();
    const stolen = { ...rightForm(first), RelayState: second.relayState };
    expect((await deliver(stolen)).status).toBe(401);
    // Said to answer the second, signed for the first.
    const third = await begin();
    const xml = makeResponse(third, makeAssertion(first), { inResponseTo: third.id });
    expect((await deliver(formOf(sign(xml, key), third))).status).toBe(401);
  });

  test('a replay, and an answer that nobody asked for', async () => {
    const request = await begin();
    const form = rightForm(request);
    expect((await deliver(form)).status).toBe(303);
    expect((await deliver(form)).status).toBe(401);
    const unasked = { ...request, id: newId(), relayState: 'A'.repeat(32) };
    expect((await deliver(rightForm(unasked))).status).toBe(401);
    const empty = { ...rightForm(await begin()), RelayState: '' };
    expect((await deliver(empty)).status).toBe(401);
  });

  test('a response that is carried in by another browser', async () => {
    const form = rightForm(await begin());
    const victim = new Browser();
    expect((await deliver(form, victim)).status).toBe(401);
    await victim.visit(`${base}/auth/saml/idp/login`);
    const again = rightForm(await begin());
    expect((await deliver(again, victim)).status).toBe(401);
    expect(victim.cookieNames(base)).not.toContain('waf_refresh');
  });

  test('noise, without a fault of ours', async () => {
    const { connect } = await import('node:net');
    const raw = (text: string): Promise<string> =>
      new Promise((resolve) => {
        const socket = connect(waf.control.managementPort, '127.0.0.1');
        let got = '';
        socket.on('data', (chunk: Buffer) => (got += chunk.toString()));
        socket.on('error', () => undefined);
        socket.on('close', () => resolve(got.split('\r\n', 1)[0] ?? ''));
        socket.end(`${text}\r\nHost: a\r\nConnection: close\r\n\r\n`);
      });
    for (const target of [
      '//[',
      '/auth/oidc/[/login',
      '/auth/saml/idp/login/..',
      'http://[',
      '*',
    ]) {
      expect([target, await raw(`GET ${target} HTTP/1.1`)]).toEqual([
        target,
        expect.stringMatching(/^HTTP\/1\.1 4\d\d /),
      ]);
    }
    expect(await raw('GET /auth/saml/idp/finish?ticket=%zz&[ HTTP/1.1')).toContain(' 401 ');
    const texts = [
      '<a/>',
      '<a>'.repeat(50_000),
      `${'<a>'.repeat(20_000)}${'</a>'.repeat(20_000)}`,
      `<a>${'<b/>'.repeat(80_000)}</a>`,
      `<a ${Array.from({ length: 30_000 }, (_, at) => `b${at}=""`).join(' ')}/>`,
      '\u0000',
      '<Response ID="',
      '{}',
      '<!--',
      '',
    ];
    for (const text of texts) {
      const { relayState } = await begin();
      const SAMLResponse = Buffer.from(text).toString('base64');
      expect((await deliver({ SAMLResponse, RelayState: relayState })).status).toBe(401);
    }
    expect((await waf.get('/healthz', true)).status).toBe(200);
  });

  test('a form that is too large', async () => {
    const { relayState } = await begin();
    const huge = { SAMLResponse: 'A'.repeat(600_000), RelayState: relayState };
    expect((await deliver(huge)).status).toBe(429);
  });
});

describe('signature wrapping', () => {
  /** Splits a good response into the signed assertion and what is around it. */
  function parts(request: SamlRequest) {
    const xml = sign(makeResponse(request, makeAssertion(request)), key);
    const assertion = /<saml:Assertion.*<\/saml:Assertion>/s.exec(xml)?.[0] ?? '';
    const signature = /<ds:Signature.*<\/ds:Signature>/s.exec(assertion)?.[0] ?? '';
    const id = /ID="([^"]+)"/.exec(assertion)?.[1] ?? '';
    return { xml, assertion, signature, id, bare: assertion.replace(signature, '') };
  }
  const forged = (request: SamlRequest, assertionId: string): string =>
    makeAssertion(request, { nameId: 'admin', assertionId });

  type Wrap = (request: SamlRequest) => string;
  const wraps: [string, Wrap][] = [
    [
      'a forged assertion before the signed one',
      (request) => {
        const { xml, assertion } = parts(request);
        return xml.replace(assertion, forged(request, newId()) + assertion);
      },
    ],
    [
      'a forged assertion after the signed one',
      (request) => {
        const { xml, assertion } = parts(request);
        return xml.replace(assertion, assertion + forged(request, newId()));
      },
    ],
    [
      'a forged assertion that carries the signature of the one inside it',
      (request) => {
        const { xml, assertion, signature, bare } = parts(request);
        const evil = forged(request, newId()).replace(
          '</saml:Issuer>',
          '</saml:Issuer>' +
            signature.replace('</ds:Signature>', `<ds:Object>${bare}</ds:Object></ds:Signature>`),
        );
        return xml.replace(assertion, evil);
      },
    ],
    [
      'a forged assertion with the id of the signed one, which moved to Extensions',
      (request) => {
        const { xml, assertion, signature, id } = parts(request);
        const evil = forged(request, id).replace('</saml:Issuer>', `</saml:Issuer>${signature}`);
        return xml
          .replace(assertion, evil)
          .replace(
            '<samlp:Status>',
            `<samlp:Extensions>${assertion}</samlp:Extensions><samlp:Status>`,
          );
      },
    ],
    [
      'a forged assertion around the signed one',
      (request) => {
        const { xml, assertion } = parts(request);
        const evil = forged(request, newId()).replace(
          '</saml:Assertion>',
          `${assertion}</saml:Assertion>`,
        );
        return xml.replace(assertion, evil);
      },
    ],
    [
      'a forged response around the signed one',
      (request) => {
        const { xml } = parts(request);
        const inner = xml.replace(/^<\?xml[^>]*>/, '');
        return makeResponse(
          request,
          forged(request, newId()) + `<samlp:Extensions>${inner}</samlp:Extensions>`,
        );
      },
    ],
    [
      'a signature whose reference is empty',
      (request) => {
        const { xml, assertion, signature } = parts(request);
        const evil = forged(request, newId()).replace(
          '</saml:Issuer>',
          `</saml:Issuer>${signature.replace(/URI="[^"]*"/, 'URI=""')}`,
        );
        return xml.replace(assertion, evil);
      },
    ],
    [
      'two signatures',
      (request) => {
        const { xml, signature } = parts(request);
        return xml.replace(signature, signature + signature);
      },
    ],
  ];
  test.each(wraps)('%s is refused', async (_name, wrap) => {
    const request = await begin();
    const xml = wrap(request);
    // The attack must have changed something, or the test says nothing.
    expect(xml).not.toBe(parts(request).xml);
    expect((await deliver(formOf(xml, request))).status).toBe(401);
    expect(browser.cookieNames(base)).not.toContain('waf_refresh');
  });

  test('a comment in the name does not cut it', async () => {
    await configure({ autoCreate: true });
    const request = await begin();
    const signed = sign(
      makeResponse(request, makeAssertion(request, { nameId: 'sam.evil.example' })),
      key,
    );
    const entered = await deliver(formOf(signed.replace('sam.evil', 'sam<!-- -->.evil'), request));
    expect(entered.status).toBe(303);
    const users = await waf.call('UserService/ListUsers', { query: 'sam' });
    const names = (users.body['items'] as { username: string }[]).map((one) => one.username);
    expect(names).toEqual(['sam', 'sam.evil.example']);
  });
});

test('users are made from attributes, with the roles of their groups', async () => {
  await configure({
    autoCreate: true,
    usernameAttribute: 'uid',
    groupsAttribute: 'memberOf',
    roleMappings: { auditors: 'role-auditor' },
  });
  const request = await begin();
  const attributes = {
    uid: ['greta'],
    email: ['greta@example.test'],
    memberOf: ['auditors', 'others'],
    displayName: ['Greta'],
  };
  expect((await deliver(rightForm(request, { nameId: 'g-1', attributes }))).status).toBe(303);
  const users = await waf.call('UserService/ListUsers', { query: 'greta' });
  expect(users.body['items']).toMatchObject([
    {
      username: 'greta',
      email: 'greta@example.test',
      displayName: 'Greta',
      externalProviders: ['saml:idp'],
      roles: [{ id: 'role-auditor' }],
    },
  ]);
});

test('two certificates are trusted while keys are changed', async () => {
  await configure({ certificates: [stranger.certificate, key.certificate] });
  expect((await deliver(rightForm(await begin()))).status).toBe(303);
  await configure({ certificates: [stranger.certificate] });
  expect((await deliver(rightForm(await begin()))).status).toBe(401);
});
