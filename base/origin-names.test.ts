/** Tests how programs on an origin read names. */

import { expect, test } from 'vitest';
import { cgiName, phpName } from './origin-names.ts';

test.each([
  ['user_id', 'user_id'],
  ['user-id', 'user-id'],
  ['user.id', 'user_id'],
  ['user id', 'user_id'],
  ['user[id', 'user_id'],
  ['a[b.c', 'a_b_c'],
  ['a]b[c', 'a]b_c'],
  ['  user_id', 'user_id'],
  ['id ', 'id_'],
  ['user_id\0.x', 'user_id'],
  ['user[id\0]', 'user_id'],
  ['\0a', ''],
  ['  ', ''],
  ['[a', ''],
  [' [a', ''],
  ['a[]', ''],
  ['a.b[c][d', ''],
])('%j is %j to PHP', (sent, name) => expect(phpName(sent)).toBe(name));

test.each([
  ['X-Tool', 'X-Tool'],
  ['X_Tool', 'X-Tool'],
  ['x.tool', 'x-tool'],
  ["x!tool'", 'x-tool-'],
])('%j is %j to CGI', (sent, name) => expect(cgiName(sent)).toBe(name));

test('a long name of brackets is read in one pass', () => {
  expect(phpName(`a${'['.repeat(100_000)}`)).toBe(`a${'_'.repeat(100_000)}`);
});
