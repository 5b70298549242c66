/** Proves what is in a Debian package, and that the same files give the same bytes. */

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { buildDebian, type DebianOptions } from './debian-package.ts';
import { maintainerScripts } from './maintainer-scripts.ts';
import { unitText } from './package-texts.ts';
import { programFolder } from '../program-folder.test-support.ts';

const options = (folder: string): DebianOptions => ({
  program: folder,
  version: '1.2.3',
  out: mkdtempSync(join(tmpdir(), 'waf-deb-out-')),
  documents: new Map([['usr/share/man/man1/waf.1', '.TH WAF 1\n']]),
  rules: [{ path: 'crs/rules/a.conf', content: Buffer.from('# a\n') }],
  compression: 'none',
});

describe('a package', () => {
  const built = buildDebian(options(programFolder()));
  const dpkg = (...args: string[]): string =>
    execFileSync('dpkg-deb', [...args, built.path], { encoding: 'utf8', maxBuffer: 1 << 26 });

  test('has its files where Debian puts them, owned by root', () => {
    const lines = dpkg('--contents').split('\n');
    const row = (name: string): string => lines.find((line) => line.endsWith(` ./${name}`)) ?? '';
    for (const name of ['usr/bin/waf', 'usr/lib/waf/waf', 'usr/lib/waf/node'])
      expect(row(name)).toMatch(/^-rwxr-xr-x root\/root /);
    for (const name of [
      ...['etc/waf/waf.yaml', 'lib/systemd/system/waf.service', 'usr/share/man/man1/waf.1.gz'],
      ...['usr/lib/waf/app/.build/control/cli/main.js', 'usr/lib/waf/crs/rules/a.conf'],
      ...['usr/share/doc/waf/copyright', 'usr/share/doc/waf/changelog.gz'],
    ])
      expect(row(name)).toMatch(/^-rw-r--r-- root\/root /);
  });

  test('has what operators apply and what monitoring reads', () => {
    const names = dpkg('--contents').match(/(?<=\.\/usr\/lib\/waf\/app\/deploy\/).+[^/]$/gm);
    const applied = ['alerts/rules.yaml', 'grafana/traffic.json', 'patches/known-faults.yaml'];
    expect(names).toEqual([...applied, 'prometheus/rules.yml']);
  });

  test('says what it is, and keeps the settings of an upgrade', () => {
    const fields = dpkg('--field');
    expect(fields).toMatch(/^Package: waf\nVersion: 1\.2\.3\nArchitecture: (?:amd64|arm64)\n/);
    expect(fields).toMatch(/^Depends: adduser, libc6 \(>= \d+\.\d+\)$/m);
    expect(dpkg('--info')).toContain('conffiles');
  });

  test('is the same for the same files, whatever their folder, times and modes', () => {
    const folder = programFolder(join(tmpdir(), 'a-longer-name-of-a-folder-'));
    utimesSync(join(folder, 'package.json'), 1, 1);
    for (const name of ['package.json', '.build', 'build/Release/waf.node'])
      chmodSync(join(folder, name), 0o700);
    expect(buildDebian(options(folder)).sha256).toBe(built.sha256);
    writeFileSync(join(folder, '.build/control/cli/main.js'), 'other');
    expect(buildDebian(options(folder)).sha256).not.toBe(built.sha256);
  });
});

test.each(Object.entries(maintainerScripts))('%s is a script that a shell reads', (_, text) => {
  execFileSync('sh', ['-n'], { input: text });
  expect(text.startsWith('#!/bin/sh\nset -e\n')).toBe(true);
});

test('the service runs as its own user with little of the system', () => {
  expect(unitText).toContain('User=waf');
  expect(unitText).toContain('ReadWritePaths=/var/lib/waf');
});
