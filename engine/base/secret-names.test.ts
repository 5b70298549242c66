/** Tests which names stand for secrets, also once more names were met than are remembered. */

import { expect, test } from 'vitest';
import { ruleRunLimits } from './rule-limits.ts';
import { isSecretName } from './secret-names.ts';

const secret = ['password', 'user[newPassword]', 'json.login.api_key', 'X-Api-Key', 'pin'];
const plain = ['compass', 'pinned', 'name', ''];

test('answers are the same for names met before, many names later, and long names', () => {
  const ask = (): void => {
    for (const name of secret) expect(isSecretName(name)).toBe(true);
    for (const name of plain) expect(isSecretName(name)).toBe(false);
  };
  ask();
  ask();
  for (let i = 0; i < 2 * ruleRunLimits.secretNamesKept; i++) {
    expect(isSecretName(`field${i}`)).toBe(false);
  }
  ask();
  const long = 'a'.repeat(2 * ruleRunLimits.secretNameCharsKept);
  expect(isSecretName(long)).toBe(false);
  expect(isSecretName(`${long}.password`)).toBe(true);
});
