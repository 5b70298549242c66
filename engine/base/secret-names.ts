/**
 * Owns which names stand for secrets unless configured otherwise: passwords, tokens, keys, card
 * numbers. Knows names as rules and forms spell them, never values.
 */

import { ruleRunLimits } from './rule-limits.ts';

/** Parts that mark a name as secret anywhere in it; `_` joins the words of a name. */
const telling = new RegExp(
  [
    'passw(?:or)?d|passphrase|passcode|secret|token|authorization|credential|creditcard',
    '(?:api|access|private)_?key',
    '(?:card|cc|credit)_?(?:number|num|no)(?![a-z])',
  ].join('|'),
);

/** Parts that mark a name only as a whole word: `compass` is no password. */
const words: ReadonlySet<string> = new Set([
  'pass',
  'pwd',
  'passwd',
  'psw',
  'pin',
  'otp',
  'totp',
  'cvv',
  'cvv2',
  'cvc',
  'cvc2',
  'pan',
  'ccnum',
  'auth',
  'apikey',
]);

/** Longer names are looked at up to here. */
const nameCharsMax = 512;

/**
 * True for a name such as `password`, `user[newPassword]`, `json.login.api_key`, `X-Api-Key`.
 * Letters without case; words end at separators and at capitals.
 */
export function isSecretName(name: string): boolean {
  if (name.length > ruleRunLimits.secretNameCharsKept) return isSecret(name);
  const known = answers.get(name);
  if (known !== undefined) return known;
  const secret = isSecret(name);
  if (answers.size >= ruleRunLimits.secretNamesKept) answers.clear();
  answers.set(name, secret);
  return secret;
}

/** Names of fields are few, and all of a request that rules matched are asked about. */
const answers = new Map<string, boolean>();

function isSecret(name: string): boolean {
  const cut = name.length > nameCharsMax ? name.slice(-nameCharsMax) : name;
  const spaced = cut.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
  const joined = spaced.replace(/[^a-z0-9]+/g, '_');
  return telling.test(joined) || joined.split('_').some((word) => words.has(word));
}

/** Collections whose entries hold values under the names that clients gave them. */
const collections = new RegExp(
  '^(?:args(?:_get|_post|_path)?|request_headers|request_cookies|response_headers|files|' +
    'matched_vars?|env|ip|global|session|user|resource):',
  'i',
);

/** True for a variable as rules name it, `ARGS:password`; false for names, counts and files. */
export function isSecretVariable(variable: string): boolean {
  const collection = collections.exec(variable)?.[0];
  return collection !== undefined && isSecretName(variable.slice(collection.length));
}
