/** The file with the first password goes with that password, however the password changes. */

import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { eventually } from '../../test/support/eventually.ts';
import { startTestControl, type TestControl } from '../../test/support/test-control.ts';
import { startControl } from '../start.ts';
import { silentLogger } from '../../base/log.ts';

const password = 'a new and longer password';
let waf: TestControl;
afterEach(() => rmSync(waf.folder, { recursive: true, force: true }));

const file = (): string => join(waf.folder, 'admin-password');

test('a password reset over the socket', async () => {
  waf = await startTestControl({ demoOrigin: null });
  expect(existsSync(file())).toBe(true);
  await waf.call('UserService/CreateUser', { user: { username: 'other' }, password });
  expect(existsSync(file())).toBe(true);
  await waf.call('UserService/ResetPassword', { userId: 'user-admin', password });
  expect(existsSync(file())).toBe(false);
  await waf.control.close();
});

test('a password that its owner changes', async () => {
  waf = await startTestControl({ demoOrigin: null });
  const { body } = await waf.call('AuthService/Login', {
    username: 'admin',
    password: waf.password,
  });
  const change = { currentPassword: waf.password, newPassword: password };
  const token = String(body['accessToken']);
  await waf.call('AuthService/ChangePassword', change, { token });
  expect(existsSync(file())).toBe(false);
  await waf.control.close();
});

test('a file that outlived its password goes at the next start; a good one stays', async () => {
  waf = await startTestControl({ demoOrigin: null });
  await waf.control.close();
  const start = () =>
    startControl({
      dataFolder: waf.folder,
      management: { host: '127.0.0.1', port: 0 },
      managementTls: 'off',
      adminSocket: waf.socket,
      engineSocket: join(waf.folder, 'engine.sock'),
      demoOrigin: null,
      rulesetFolder: join(waf.folder, 'crs'),
      logger: silentLogger,
    });
  const again = await start();
  // Not before it looked at the file.
  await again.close();
  expect(existsSync(file())).toBe(true);
  writeFileSync(file(), 'no longer the password\n');
  const third = await start();
  expect(await eventually(() => !existsSync(file()))).toBe(true);
  await third.close();
});
