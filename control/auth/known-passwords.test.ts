/** Tests which passwords are refused as known, and that usual passphrases are not. */

import { expect, test } from 'vitest';
import { whyKnown } from './known-passwords.ts';
import { checkPassword } from './passwords.ts';

test.each([
  'password1234',
  'Password2026!',
  'P@ssw0rd12345',
  'passwordpassword',
  'Welcome123456',
  'changeme1234!',
  'administrator1',
  'letmein-12345',
  '123456789012',
  '0987654321098',
  'qwertyuiop123',
  '1qaz2wsx3edc',
  '1q2w3e4r5t6y',
  'aaaaaaaaaaaaa',
  'abcabcabcabcabc',
  'abcdefghijklm',
  'AdminAdmin123',
  'correct horse battery staple',
  'anna.smith2026!',
  '--Anna.Smith--12',
])('%s is refused', (password) => {
  expect(whyKnown(password, 'anna.smith')).not.toBeNull();
  expect(() => checkPassword(password, 'password', 'anna.smith')).toThrow(/^password: /);
});

test.each([
  'a long passphrase 42',
  'another long password',
  'a long enough password',
  'Tr0ub4dor&3-garden',
  'seven blue kettles sing',
  'q8Zr!vLm2#pXw4',
  'adminton racket stand',
])('%s is taken', (password) => {
  expect(whyKnown(password, 'anna')).toBeNull();
  expect(() => checkPassword(password, 'password', 'anna')).not.toThrow();
});

test('the reason never holds the password', () => {
  expect(whyKnown('password1234', '')).not.toContain('1234');
});
