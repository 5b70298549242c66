/** What becomes of cookies that an origin sets: each attribute once, and nothing without a rule. */

import { expect, test } from 'vitest';
import type { CookieRuleConfig } from '../contract/delivery.ts';
import { withAttributes } from './set-cookies.ts';

const none = { name: '', secure: false, httpOnly: false } as const;
const strict: CookieRuleConfig = {
  ...{ name: 'id', secure: true, httpOnly: true, sameSite: 'COOKIE_SAME_SITE_STRICT' },
};
const embedded: CookieRuleConfig = {
  ...{ ...none, name: 'embed', secure: true, sameSite: 'COOKIE_SAME_SITE_NONE' },
};
const others: CookieRuleConfig = {
  ...none,
  secure: true,
  sameSite: 'COOKIE_SAME_SITE_UNSPECIFIED',
};

test.each([
  ['id=1', 'id=1; HttpOnly; SameSite=Strict', 'id=1; Secure; HttpOnly; SameSite=Strict'],
  ['id=1; SECURE;samesite = Lax', 'id=1; SECURE; HttpOnly; SameSite=Strict', ''],
  ['id="a; HttpOnly"', 'id="a; HttpOnly"; HttpOnly; SameSite=Strict', ''],
  ['embed=1; SameSite=Lax', 'embed=1; SameSite=Lax', 'embed=1; Secure; SameSite=None'],
  ['id', 'id; HttpOnly; SameSite=Strict', 'id; Secure; HttpOnly; SameSite=Strict'],
  ['idx=1', 'idx=1', 'idx=1; Secure'],
])('%s', (sent, plain, secure) => {
  const rules = [others, strict, embedded];
  const ruled = (overTls: boolean): string =>
    withAttributes({ values: [sent], changed: false }, rules, overTls).values[0] ?? '';
  expect(ruled(false)).toBe(plain);
  if (secure !== '') expect(ruled(true)).toBe(secure);
});

test('cookies that no rule changes are those of the origin', () => {
  const set = { values: ['id=1; Secure; HttpOnly; SameSite=Strict', 'a=b'], changed: false };
  expect(withAttributes(set, [strict], true)).toBe(set);
});
