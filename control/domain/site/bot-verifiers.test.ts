/** Tests the setting of verifiers: what it may be, and that secrets stay inside. */

import { expect, test } from 'vitest';
import { checkVerifiers, verifiersOf } from './bot-verifiers.ts';
import { hideIdentitySecrets, keepIdentitySecrets } from '../settings/identity-settings.ts';
import { checkSettings } from '../settings/settings.ts';

const key = 'bot.verifiers';
const good = {
  id: 'shop',
  kind: 'turnstile',
  hosts: ['shop.example'],
  siteKey: '0x4AAA_b-c.d',
  secret: 'hidden',
};

test('a verifier needs little; the rest has a standard', () => {
  checkSettings({ [key]: [good] });
  expect(verifiersOf({ [key]: [good] })).toEqual([
    {
      ...good,
      scriptUrl: 'https://challenges.cloudflare.com/turnstile/v0/api.js',
      verifyUrl: 'https://challenges.cloudflare.com/turnstile/v0/siteverify',
      minScore: 0.5,
      fallback: true,
    },
  ]);
  const verifyUrl = 'https://verify.example/check';
  expect(verifiersOf({ [key]: [{ ...good, verifyUrl }] })[0]).toMatchObject({ verifyUrl });
  expect(verifiersOf({})).toEqual([]);
});

test.each<[string, unknown, string]>([
  ['no list', {}, 'must be a list'],
  ['too many', Array.from({ length: 33 }, (_, at) => ({ ...good, id: `v${at}` })), 'at most 32'],
  ['an unknown field', [{ ...good, url: 'x' }], 'Unknown key'],
  ['another kind', [{ ...good, kind: 'ours' }], '[0].kind'],
  ['a kind that every object has', [{ ...good, kind: 'constructor' }], '[0].kind'],
  ['no secret', [{ ...good, secret: undefined }], '[0].secret'],
  ['an empty secret', [{ ...good, secret: '' }], '[0].secret'],
  ['no host', [{ ...good, hosts: [] }], '[0].hosts'],
  ['a host in capitals', [{ ...good, hosts: ['Shop.example'] }], '[0].hosts[0]'],
  ['a key with markup', [{ ...good, siteKey: '"><b' }], '[0].siteKey'],
  ['a script without TLS', [{ ...good, scriptUrl: 'http://x.example/a.js' }], '[0].scriptUrl'],
  ['a script with a policy', [{ ...good, scriptUrl: "https://a;script-src'x/" }], '[0].scriptUrl'],
  ['no URL', [{ ...good, verifyUrl: 'verify' }], '[0].verifyUrl'],
  ['a user in a URL', [{ ...good, verifyUrl: 'https://a:b@x.example/' }], '[0].verifyUrl'],
  ['a score above one', [{ ...good, minScore: 1.1 }], '[0].minScore'],
  ['an id twice', [good, { ...good, hosts: ['b.example'] }], '[1].id'],
  ['a host twice', [good, { ...good, id: 'b' }], '[1].hosts'],
])('%s is refused', (_, verifiers, message) => {
  expect(() => checkVerifiers(verifiers, 'values')).toThrow(message);
});

test('a secret is never shown, and kept when it comes back hidden', () => {
  const stored = { [key]: [good] };
  const shown = hideIdentitySecrets(stored);
  expect(JSON.stringify(shown)).not.toContain('hidden');
  expect(keepIdentitySecrets(shown, stored)).toEqual(stored);
});

test('a kept secret is sent nowhere else than before', () => {
  const stored = { [key]: [good] };
  const moved = (change: object) => ({ [key]: [{ ...good, secret: 'configured', ...change }] });
  const anew = 'must be given with a new address';
  expect(() => keepIdentitySecrets(moved({ verifyUrl: 'https://evil.example/' }), stored)).toThrow(
    anew,
  );
  expect(() => keepIdentitySecrets(moved({ kind: 'hcaptcha' }), stored)).toThrow(anew);
  const given = moved({ verifyUrl: 'https://fine.example/', secret: 'newer' });
  expect(keepIdentitySecrets(given, stored)).toEqual(given);
  expect(keepIdentitySecrets(moved({ minScore: 0.7 }), stored)).toMatchObject({
    [key]: [{ secret: 'hidden' }],
  });
});
