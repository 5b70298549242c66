/** Tests that one supervisor at a time uses a data folder. */

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { claimDataFolder } from './data-folder.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waf-data-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a claimed folder is private and names its socket', () => {
  const data = claimDataFolder(join(folder, 'var'));
  expect(data.adminSocket).toBe(join(folder, 'var', 'admin.sock'));
  expect(statSync(data.path).mode & 0o777).toBe(0o700);
  data.release();
});

test('a live process keeps others out, a dead one does not', () => {
  writeFileSync(join(folder, 'supervisor.pid'), `${process.ppid}\n`);
  expect(() => claimDataFolder(folder)).toThrow(`process ${process.ppid}`);
  writeFileSync(join(folder, 'supervisor.pid'), '999999999\n');
  expect(() => claimDataFolder(folder)).not.toThrow();
});

test('a killed supervisor is distinguished from a new process with the same process id', () => {
  writeFileSync(join(folder, 'supervisor.pid'), `${process.ppid} another-boot:1\n`);
  const data = claimDataFolder(folder);
  expect(data.leftOver).toBe(true);
  const claim = readFileSync(join(folder, 'supervisor.pid'), 'utf8');
  expect(claim).toMatch(new RegExp(`^${process.pid} `));
  data.release();
  expect(claimDataFolder(folder).leftOver).toBe(false);
});

test('a folder that cannot be made is named with its flag', () => {
  writeFileSync(join(folder, 'file'), '');
  expect(() => claimDataFolder(join(folder, 'file', 'var'))).toThrow('--data');
});

test('a socket path longer than the kernel takes is refused', () => {
  expect(() => claimDataFolder(folder, `/${'x'.repeat(120)}`)).toThrow('--admin-socket');
});
