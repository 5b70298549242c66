/** Proves that a package has every library that its addons and its runtime link. */

import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { packagedFiles } from './package-files.ts';
import { programFolder } from './program-folder.test-support.ts';

const built = join('build', 'Release');
const addons = readdirSync(built).filter((name) => name.endsWith('.node'));
/** The C library and its loader: the Debian package depends on them, the image brings them. */
const ofSystem = /^(?:lib(?:c|m|dl|pthread|rt)|ld-linux-[\w-]+)\.so\.\d+$/;

/** What a binary names as needed. */
function neededBy(path: string): string[] {
  const text = execFileSync('objdump', ['-p', path], { encoding: 'utf8' });
  return [...text.matchAll(/^\s*NEEDED\s+(\S+)$/gm)].map(([, name]) => name!);
}

test('every library that addons, runtime and libraries link is packed, or of every system', () => {
  const folder = programFolder();
  rmSync(join(folder, built, 'waf.node'));
  for (const name of addons) copyFileSync(join(built, name), join(folder, built, name));
  const files = packagedFiles(folder);
  const libraries = files.filter(({ name }) => name.startsWith('waf/lib/'));
  const packed = new Set(libraries.map(({ path }) => basename(path)));
  const binaries = [...files.filter(({ name }) => /\.node$|^waf\/node$/.test(name)), ...libraries];
  const needed = new Set(binaries.flatMap(({ path }) => neededBy(path)));
  expect([...needed].filter((name) => !packed.has(name) && !ofSystem.test(name))).toEqual([]);
  const [re2] = neededBy(join(built, 'waf_re2.node')).filter((name) => name.startsWith('libre2'));
  expect(packed).toContain(re2);
});

test('an addon is packed once, without what the linker made of it before', () => {
  const folder = programFolder();
  mkdirSync(join(folder, built, 'obj.target'));
  writeFileSync(join(folder, built, 'obj.target', 'waf.node'), '');
  const names = packagedFiles(folder).map(({ name }) => name);
  expect(names.filter((name) => name.endsWith('.node'))).toEqual([
    'waf/app/build/Release/waf.node',
  ]);
});

test('an addon whose library is missing makes no package', () => {
  const folder = programFolder();
  const library = join(folder, 'libgone.so');
  const link = (out: string, ...others: string[]): Buffer =>
    execFileSync('cc', ['-shared', '-xc', '/dev/null', '-o', out, '-xnone', ...others]);
  link(library);
  link(join(folder, built, 'waf.node'), '-Wl,--no-as-needed', library, '-Wl,-soname,waf.node');
  rmSync(library);
  expect(() => packagedFiles(folder)).toThrow(/waf\.node needs \S*libgone\.so, which this machine/);
});
