/** Proves installing and uninstalling below another root, and that the unit is one of systemd's. */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { installProgram, uninstallProgram } from './install-program.ts';
import { tarPieces } from './tar-writer.ts';

function unpacked(): string {
  const from = mkdtempSync(join(tmpdir(), 'waf-package-'));
  mkdirSync(join(from, 'app'));
  for (const name of ['waf', 'node'])
    writeFileSync(join(from, name), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(join(from, 'app', 'package.json'), '{}');
  return from;
}

test('an installation lies where its unit looks, and goes as a whole', () => {
  const root = mkdtempSync(join(tmpdir(), 'waf-root-'));
  const options = { from: unpacked(), version: '1.2.3', root, node: true };
  installProgram(options);
  installProgram(options);
  expect(statSync(join(root, 'opt/waf/current/waf')).mode & 0o111).toBe(0o111);
  expect(statSync(join(root, 'var/lib/waf')).mode & 0o777).toBe(0o700);
  const unit = readFileSync(join(root, 'etc/systemd/system/waf-node.service'), 'utf8');
  expect(unit).toContain('ExecStart=/opt/waf/current/waf agent run --data /var/lib/waf');
  for (const line of ['NoNewPrivileges=yes', 'ProtectSystem=strict', 'User=waf']) {
    expect(unit.split('\n')).toContain(line);
  }
  expect(unit).not.toMatch(/enroll-|--token/);
  uninstallProgram(root, false);
  expect(existsSync(join(root, 'opt/waf'))).toBe(false);
  expect(existsSync(join(root, 'etc/systemd/system/waf-node.service'))).toBe(false);
  expect(existsSync(join(root, 'var/lib/waf'))).toBe(true);
  uninstallProgram(root, true);
  expect(existsSync(join(root, 'var/lib/waf'))).toBe(false);
});

test("the service's user reads what was unpacked and installed under a strict umask", () => {
  const before = process.umask(0o077);
  const root = mkdtempSync(join(tmpdir(), 'waf-root-'));
  try {
    installProgram({ from: unpacked(), version: '1.2.3', root, node: true });
    expect(process.umask()).toBe(0o077);
  } finally {
    process.umask(before);
  }
  const modes = ['', '/releases', '/current/', '/current/app', '/current/app/package.json']
    .map((path) => statSync(join(root, `opt/waf${path}`)).mode & 0o777)
    .map((mode) => mode.toString(8));
  expect(modes).toEqual(['755', '755', '755', '755', '644']);
  expect(statSync(join(root, 'var/lib/waf')).mode & 0o777).toBe(0o700);
});

test('a folder that is no package is not installed', () => {
  const root = mkdtempSync(join(tmpdir(), 'waf-root-'));
  const options = { from: root, version: '1', root, node: false };
  expect(() => installProgram(options)).toThrow('is no unpacked package');
  expect(existsSync(join(root, 'opt'))).toBe(false);
});

test('systemd understands the unit', (context) => {
  const root = mkdtempSync(join(tmpdir(), 'waf-root-'));
  const [, unit = ''] = installProgram({ from: unpacked(), version: '1', root, node: true });
  const checked = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
  if (checked.error !== undefined) context.skip('systemd-analyze is not there');
  const own = checked.stderr.split('\n').filter((line) => line.includes('waf-node.service:'));
  // The program lies below the other root, and the user is made there.
  const faults = own.filter((line) => !/is not executable|not found|No such file/.test(line));
  expect(faults).toEqual([]);
});

test('an archive is the same for the same files, and tar reads it', () => {
  const long = `waf/${'deep/'.repeat(30)}file.js`;
  const files = [
    { name: 'waf/waf', executable: true, content: Buffer.from('#!/bin/sh\n') },
    { name: long, executable: false, content: Buffer.alloc(1000, 7) },
  ];
  const bytes = Buffer.concat([...tarPieces(files)]);
  expect(Buffer.concat([...tarPieces(files)])).toEqual(bytes);
  const folder = mkdtempSync(join(tmpdir(), 'waf-tar-'));
  const { status } = spawnSync('tar', ['-xf', '-', '-C', folder], { input: bytes });
  expect(status).toBe(0);
  expect(readFileSync(join(folder, long))).toEqual(Buffer.alloc(1000, 7));
  expect(statSync(join(folder, 'waf/waf')).mode & 0o777).toBe(0o755);
  expect(statSync(join(folder, 'waf/waf')).mtimeMs).toBe(0);
});
