/**
 * Which names stand for secrets unless configured otherwise: passwords, tokens, keys, card numbers.
 * Knows names as rules and forms spell them, never values.
 */

import { clientCollections } from './client-collections.ts';
import { NameAutomaton, type NamePart } from './name-automaton.ts';

/** Parts that mark a name as secret anywhere in it; `_` joins the words of a name. */
const telling = [
  ...['password', 'passwd', 'passphrase', 'passcode', 'secret', 'token', 'authorization'],
  ...['credential', 'creditcard'],
  ...products(['api', 'access', 'private'], ['_key', 'key']),
];

/** Parts that do so where no letter follows. */
const numbers = products(products(['card', 'cc', 'credit'], ['_', '']), ['number', 'num', 'no']);

/** Parts that mark a name only as a whole word: `compass` is no password. */
const words = [
  ...['pass', 'pwd', 'passwd', 'psw', 'pin', 'otp', 'totp', 'cvv', 'cvv2', 'cvc', 'cvc2', 'pan'],
  ...['ccnum', 'auth', 'apikey'],
];

const secretParts = new NameAutomaton([
  ...telling.map((text): NamePart => ({ text })),
  ...numbers.map((text): NamePart => ({ text, endsWord: true })),
  ...words.map((word): NamePart => ({ text: `_${word}_` })),
]);

function products(first: readonly string[], second: readonly string[]): string[] {
  return first.flatMap((left) => second.map((right) => `${left}${right}`));
}

/** Longer names are looked at from their end, up to here. */
const nameCharsMax = 512;
const nameBytes = new Uint8Array(nameCharsMax);

/**
 * True for a name such as `password`, `user[newPassword]`, `json.login.api_key`, `X-Api-Key`.
 * Letters without case; words end at separators and at capitals. Cost: linear, some 2 ns a
 * character: all names of a request that rules matched are asked about.
 */
export function isSecretName(name: string): boolean {
  const from = Math.max(0, name.length - nameCharsMax);
  const size = name.length - from;
  for (let i = 0; i < size; i++) {
    const code = name.charCodeAt(from + i);
    nameBytes[i] = code < 256 ? code : 0;
  }
  return secretParts.finds(nameBytes, 0, size);
}

/** As `isSecretName`, of the name that is the bytes [from, to); makes no text. */
export function isSecretNameIn(bytes: Uint8Array, from: number, to: number): boolean {
  return secretParts.finds(bytes, Math.max(from, to - nameCharsMax), to);
}

/** Collections whose entries hold values under the names that clients gave them. */
const collections = new RegExp(
  `^(?:${clientCollections.join('|')}|` +
    'response_headers|matched_vars?|env|ip|global|session|user|resource):',
  'i',
);

/** True for a variable as rules name it, `ARGS:password`; false for names, counts and files. */
export function isSecretVariable(variable: string): boolean {
  const collection = collections.exec(variable)?.[0];
  return collection !== undefined && isSecretName(variable.slice(collection.length));
}
