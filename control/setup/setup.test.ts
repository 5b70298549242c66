/** Tests set-up's decisions; what it installs is proved by every fresh clone that passes. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { gateNames, runGates } from './gates.mjs';
import { compareFolders } from './generated.mjs';
import { compareNode } from './node-version.mjs';
import { hasPackages } from './npm-packages.mjs';
import { hashContents, hashStats, inRoot, listFiles } from './paths.mjs';
import {
  ensureSystemPackages,
  ensureTestPackages,
  systemPackages,
  testPackages,
} from './system-packages.mjs';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'waf-setup-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe('system packages', () => {
  const missing = [{ name: 'libmissing-dev', why: 'nothing has it', present: () => false }];

  test('each says why it is needed', () => {
    for (const { name, why } of [...systemPackages, ...testPackages]) {
      expect(name).toMatch(/^[a-z0-9+-]+$/);
      expect(why.length).toBeGreaterThan(10);
    }
  });

  test('a system without apt-get gets the exact list', async () => {
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    vi.stubEnv('PATH', folder);
    await expect(ensureSystemPackages(missing)).rejects.toThrow(/libmissing-dev {2}\(nothing/);
  });

  test('what only tests use may be missing: it is said, and they are skipped', async () => {
    const said = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    vi.stubEnv('PATH', folder);
    await ensureTestPackages(missing);
    expect(said.mock.calls.join('')).toContain('tests will be skipped');
  });

  test('nothing is asked for when all is there', async () => {
    const present = [{ name: 'x', why: 'y', present: () => true }];
    await expect(ensureSystemPackages(present)).resolves.toBeUndefined();
  });
});

describe('npm packages', () => {
  const product = { version: '1.0.0', integrity: 'sha512-a' };
  const tool = { version: '2.0.0', integrity: 'sha512-b', dev: true };
  const elsewhere = { version: '3.0.0', integrity: 'sha512-c', optional: true };
  const wanted = { '': {}, product, tool, elsewhere };

  test.each([
    ['a start needs no tools of tests', { product }, { tests: false }, true],
    ['tests need them', { product }, { tests: true }, false],
    ['tests with them', { product, tool }, { tests: true }, true],
    ['another version', { product: { ...product, version: '1.0.1' } }, { tests: false }, false],
    ['other content', { product: { ...product, integrity: '' } }, { tests: false }, false],
    ['none at all', {}, { tests: false }, false],
  ])('%s', (_, have, asked, expected) => {
    expect(hasPackages(wanted, have, asked)).toBe(expected);
  });
});

describe('stamps', () => {
  test('change with an edit, a touch and a new file', () => {
    const one = join(folder, 'one.ts');
    writeFileSync(one, 'a');
    const seen = [hashStats([one]), hashContents([one])];
    utimesSync(one, 1, 1);
    expect(hashStats([one])).not.toBe(seen[0]);
    expect(hashContents([one])).toBe(seen[1]);
    writeFileSync(one, 'b');
    expect(hashContents([one])).not.toBe(seen[1]);
    writeFileSync(join(folder, 'two.ts'), '');
    expect(listFiles(folder, (name: string) => name.endsWith('.ts'))).toHaveLength(2);
  });
});

describe('generated files', () => {
  const committed = new Map([
    ['a_pb.ts', '1'],
    ['b_pb.ts', '2'],
  ]);

  test('equal folders pass', () => {
    expect(compareFolders(new Map(committed), committed)).toBe('');
  });

  test('every difference is named', () => {
    const fresh = new Map([
      ['a_pb.ts', 'changed'],
      ['c_pb.ts', ''],
    ]);
    expect(compareFolders(fresh, committed).split('\n')).toEqual([
      'out of date: proto/gen/a_pb.ts',
      'missing: proto/gen/c_pb.ts',
      'left over: proto/gen/b_pb.ts',
    ]);
  });

  test('generating nothing is no proof', () => {
    expect(compareFolders(new Map(), committed)).toContain('nothing');
  });
});

test('no gate is left out, and a gate that fails is named', async () => {
  expect(gateNames).toEqual([
    'types',
    'lint',
    'format',
    'native format',
    'arrows',
    'dead code',
    'proto lint',
    'proto breaks no client',
    'generated files',
    'tidy',
  ]);
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const others = gateNames.filter((name) => name !== 'proto lint');
  expect(await runGates(others)).toEqual([]);
  writeFileSync(join(folder, 'npm'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
  vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`);
  expect(await runGates(others)).toEqual(['proto lint']);
});

test('npm builds no addon of its own: the first npx would do it under a running engine', () => {
  const read: unknown = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'));
  expect(read).toMatchObject({ gypfile: false });
  expect(read).not.toHaveProperty('scripts.install');
});

test('an old Node gets an error that names both versions', () => {
  expect(() => compareNode('18.19.0')).toThrow(/20\.19\.0.*18\.19\.0/);
  expect(() => compareNode('20.19.0')).not.toThrow();
  expect(() => compareNode('22.1.0')).not.toThrow();
});

test('set-up needs nothing but Node: its modules import only Node and each other', () => {
  const files = listFiles(import.meta.dirname, (name: string) => name.endsWith('.mjs'));
  expect(files.length).toBeGreaterThan(8);
  for (const file of files) {
    const found = spawnSync('grep', ['-hoE', "from '[^']+'", file], { encoding: 'utf8' }).stdout;
    for (const line of found.trim().split('\n').filter(Boolean)) {
      expect(line).toMatch(/^from '(node:|\.\/)/);
    }
  }
});
