/** Tests that the browser's hash of a password is the command line's. */

import { expect, test } from 'vitest';
import * as node from '../../../base/path-password.ts';
import { hashPathPassword } from './path-password.ts';

test.each(['a password', 'ключ 密码', ' ', 'x'.repeat(300)])(
  'the hash of %j is that of the command line',
  async (password) => {
    const salt = new Uint8Array(16).map((_, at) => (at * 37) & 255);
    const made = await hashPathPassword(password, salt);
    expect(made).toBe(node.hashPathPassword(password, Buffer.from(salt)));
    expect(await node.checkPathPassword(Buffer.from(password), made)).toBe(true);
  },
);

test('each hash has a salt of its own', async () => {
  const [one, other] = [await hashPathPassword('same'), await hashPathPassword('same')];
  expect(one).not.toBe(other);
  expect(node.isPathPasswordHash(one)).toBe(true);
});
