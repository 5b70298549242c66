/** Tests which names stand for secrets, and that one pass finds what the definition says. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isSecretName, isSecretNameIn, isSecretVariable } from './secret-names.ts';

const secret = ['password', 'user[newPassword]', 'json.login.api_key', 'X-Api-Key', 'pin', 'PIN'];
const plain = ['compass', 'pinned', 'name', '', '_', 'cardnote', 'cardnumbers'];

test('which names stand for secrets', () => {
  for (const name of secret) expect(isSecretName(name), name).toBe(true);
  for (const name of plain) expect(isSecretName(name), name).toBe(false);
});

test('variables hold secrets under the names that were sent and that an origin reads', () => {
  for (const name of ['ARGS:api_key', 'ARGS_RENAMED:api_key', 'REQUEST_COOKIES_RENAMED:pass_1']) {
    expect(isSecretVariable(name), name).toBe(true);
  }
  for (const name of ['ARGS_NAMES:api_key', 'ARGS_RENAMED_NAMES:api_key', 'ARGS_RENAMED:a_b']) {
    expect(isSecretVariable(name), name).toBe(false);
  }
});

test('the end of a long name counts, its beginning does not', () => {
  const long = 'a'.repeat(600);
  expect(isSecretName(long)).toBe(false);
  expect(isSecretName(`${long}.password`)).toBe(true);
  expect(isSecretName(`password.${long}`)).toBe(false);
  // Cut inside a word, the rest counts as a word.
  expect(isSecretName(`pin.${'a'.repeat(509)}`)).toBe(false);
  expect(isSecretName(`xpin.${'a'.repeat(508)}`)).toBe(true);
  expect(isSecretNameIn(Buffer.from(`password.${long}`), 0, 609)).toBe(false);
});

/** The definition, as regular expressions over the name spelled with `_` between its words. */
function isSecretByDefinition(name: string): boolean {
  const spaced = name
    .slice(-512)
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase();
  const joined = spaced.replace(/[^a-z0-9]+/g, '_');
  const telling = new RegExp(
    'passw(?:or)?d|passphrase|passcode|secret|token|authorization|credential|creditcard|' +
      '(?:api|access|private)_?key|(?:card|cc|credit)_?(?:number|num|no)(?![a-z])',
  );
  const words = /^(?:pass|pwd|passwd|psw|pin|otp|totp|cvv2?|cvc2?|pan|ccnum|auth|apikey)$/;
  return telling.test(joined) || joined.split('_').some((word) => words.test(word));
}

const pieces = [
  ...['pass', 'passw', 'or', 'd', 'word', 'phrase', 'code', 'sec', 'secret', 'tok', 'token', 'en'],
  ...['author', 'ization', 'credential', 'credit', 'card', 'cc', 'number', 'num', 'no', 'ber', 's'],
  ...['api', 'access', 'private', 'key', 'pwd', 'psw', 'pin', 'otp', 't', 'cvv', '2', 'cvc', 'pan'],
  ...['ccnum', 'auth', 'a', 'A', 'B', '1', '_', '-', '.', '[', '--', ' ', '\xe9', '\xc3\x89'],
];

test('one pass finds what the definition finds', () => {
  const piece = fc
    .tuple(fc.constantFrom(...pieces), fc.nat(2))
    .map(([text, how]) =>
      how === 0
        ? text
        : how === 1
          ? text.toUpperCase()
          : `${text.charAt(0).toUpperCase()}${text.slice(1)}`,
    );
  let found = 0;
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (parts) => {
      const name = parts.join('');
      const wanted = isSecretByDefinition(name);
      found += wanted ? 1 : 0;
      expect(isSecretName(name), JSON.stringify(name)).toBe(wanted);
      const bytes = Buffer.from(`pin_${name}_pin`, 'latin1');
      expect(isSecretNameIn(bytes, 4, 4 + name.length), JSON.stringify(name)).toBe(wanted);
    }),
    { numRuns: 20_000 },
  );
  expect(found).toBeGreaterThan(1_000);
});
