/**
 * Which files a package of the running program has: what was compiled, the addons, the packages
 * that run, the system libraries that a bare machine lacks, and the Node runtime itself.
 */

import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, readdirSync, realpathSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { releaseLimits } from '../limits/release-limits.ts';
import type { TarFile } from './tar-writer.ts';

/** Needed to build, not to run. */
const buildOnly = new Set([
  ...['typescript', 'node-gyp', 'node-addon-api', 'esbuild'],
  ...['preact', '@preact/signals', '@connectrpc/connect-web'],
]);
/** Folders of packages with sources and tests of libraries that are compiled in. */
const skippedFolders = new Set(
  [
    '.deps obj.target vendor deps src test tests docs examples',
    'bench benchmark benchmarks node_modules .github misc scripts mvp',
  ].flatMap((names) => names.split(' ')),
);
/** Sources, documentation, and settings of tools, whose names begin with a dot. */
const skippedFiles = /^\.|\.(?:md|map|d\.ts|d\.mts|d\.cts|cc|cpp|c|h|gyp|gypi|ts|mts|flow)$/i;
/** In `deploy`: manifests that operators apply, and what monitoring reads. */
const appliedFolders = ['alerts', 'grafana', 'patches', 'prometheus'];
/** Of libraries that every Debian has. */
const everywhere = /^(libc|libm|libdl|libpthread|librt|ld-linux-x86-64|ld-linux-aarch64)\.so/;

/** A file on disk and its name in the package. */
export interface PackagedFile {
  readonly path: string;
  readonly name: string;
}

interface LockEntry {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Files of the program in `folder`, by name. Errors: AppError not_packable. */
export function packagedFiles(folder: string): PackagedFile[] {
  const found = [
    ...programFiles(folder),
    ...below(folder, '.build', (name) => name.endsWith('.json')),
    ...below(folder, join('.build', 'console'), (name) =>
      /\.(?:js|html|css|svg|br|gz)$/.test(name),
    ),
    ...addonsOf(folder),
    ...appliedFolders.flatMap((name) => below(folder, join('deploy', name), () => true)),
    ...['package.json', 'package-lock.json'].map((name) => join(folder, name)),
    ...packageFolders(folder).flatMap((one) => ofPackage(folder, one)),
  ].map((path) => ({ path, name: `waf/app/${relative(folder, path).split(sep).join('/')}` }));
  const addons = found.map(({ path }) => path).filter((path) => path.endsWith('.node'));
  const libraries = librariesOf([...addons, process.execPath]).map((path) => ({
    path,
    name: `waf/lib/${basename(path)}`,
  }));
  const files = [...found, ...libraries, { path: process.execPath, name: 'waf/node' }];
  if (files.length > releaseLimits.packageFilesMax) throw notPackable('it has too many files');
  return files.sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** The programs as set-up joins their modules, without the modules by themselves. */
function programFiles(folder: string): string[] {
  const list = join(folder, '.build', 'programs.json');
  if (!existsSync(list)) throw notPackable('its programs are not built; run npm start');
  const names = JSON.parse(readFileSync(list, 'utf8')) as string[];
  return names.map((name) => join(folder, '.build', name));
}

/** The addons of the program; folders beside them hold what the linker made of each before. */
function addonsOf(folder: string): string[] {
  const release = join(folder, 'build', 'Release');
  return readdirSync(release)
    .filter((name) => name.endsWith('.node'))
    .map((name) => join(release, name));
}

/** The contents in order, with the launcher before them. */
export function* readPackaged(files: readonly PackagedFile[]): Generator<TarFile> {
  yield { name: 'waf/waf', executable: true, content: Buffer.from(launcher) };
  for (const { path, name } of files) {
    const { size } = lstatSync(realpathSync(path));
    if (size > releaseLimits.packageFileBytesMax) throw notPackable(`${path} is too large`);
    const executable = name === 'waf/node' || /\.(?:node|so(?:\.\d+)*)$/.test(name);
    yield { name, executable, content: readFileSync(path) };
  }
}

/** Starts the program with the runtime and libraries that lie beside it. */
const launcher = `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
LD_LIBRARY_PATH="$here/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export LD_LIBRARY_PATH
exec "$here/node" "$here/app/.build/control/cli/main.js" "$@"
`;

/** A package that runs, as the lock file has it. */
export interface RunningPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  /** Subresource integrity of its archive; '' where the lock file has none. */
  readonly integrity: string;
}

/** The packages of the program in `folder`, by name. */
export function runningPackages(folder: string): RunningPackage[] {
  const { packages = {} } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8')) as {
    readonly packages?: Readonly<Record<string, Partial<RunningPackage>>>;
  };
  return packageFolders(folder)
    .map((path) => relative(folder, path).split(sep).join('/'))
    .sort()
    .map((at) => {
      const { version = '', license = '', integrity = '' } = packages[at] ?? {};
      const name = at.slice(at.lastIndexOf('node_modules/') + 'node_modules/'.length);
      return { name, version, license, integrity };
    });
}

/** Folders of the packages that run, found as Node finds them. */
function packageFolders(root: string): string[] {
  const read = (path: string): LockEntry => JSON.parse(readFileSync(path, 'utf8')) as LockEntry;
  const { packages } = read(join(root, 'package-lock.json')) as {
    readonly packages?: Readonly<Record<string, LockEntry>>;
  };
  if (packages === undefined) throw notPackable('package-lock.json names no packages');
  const direct = Object.keys(read(join(root, 'package.json')).dependencies ?? {});
  const queue: (readonly [from: string, name: string])[] = direct.map((name) => ['', name]);
  const seen = new Set<string>();
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const [from, name] = next;
    const at = locate(packages, from, name);
    if (at === '' || seen.has(at) || buildOnly.has(name) || !existsSync(join(root, at))) continue;
    seen.add(at);
    const { dependencies, optionalDependencies } = packages[at] ?? {};
    for (const one of Object.keys({ ...dependencies, ...optionalDependencies })) {
      queue.push([at, one]);
    }
  }
  return [...seen].map((at) => join(root, at));
}

/** Where a package finds another: beside itself, or in a folder above. */
function locate(packages: object, from: string, name: string): string {
  for (let folder = from; ;) {
    const at = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
    if (Object.hasOwn(packages, at)) return at;
    if (folder === '') return '';
    const cut = folder.lastIndexOf('/node_modules/');
    folder = cut < 0 ? '' : folder.slice(0, cut);
  }
}

function ofPackage(root: string, folder: string): string[] {
  const name = relative(join(root, 'node_modules'), folder);
  const own = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  return walk(folder, (file, path) => {
    // Prebuilt addons for musl; the runtime that is packed is linked against glibc.
    if (skippedFiles.test(file) || file.endsWith('.musl.node')) return false;
    return name !== 'uWebSockets.js' || !file.endsWith('.node') || basename(path) === own;
  });
}

function below(root: string, folder: string, wanted: (name: string) => boolean): string[] {
  return walk(join(root, folder), wanted, false);
}

function walk(
  folder: string,
  wanted: (name: string, path: string) => boolean,
  isPackage = true,
): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (!entry.isDirectory()) return entry.isFile() && wanted(entry.name, path) ? [path] : [];
    // Compiled code lies in folders with any name; those of a package's sources are not needed.
    const sources = isPackage && skippedFolders.has(entry.name) && !holdsCode(path);
    return sources || entry.name === 'node_modules' ? [] : walk(path, wanted, isPackage);
  });
}

/** Some packages run from a folder that others keep sources in. */
function holdsCode(folder: string): boolean {
  if (!basename(folder).startsWith('src')) return false;
  return readdirSync(folder).some((name) => /\.[cm]?js$/.test(name));
}

/** The C library of runtime and addons, for roots that have none; loader included. */
export function systemLibraries(folder: string): string[] {
  const addons = packagedFiles(folder).filter(({ name }) => name.endsWith('.node'));
  const binaries = [...addons.map(({ path }) => path), process.execPath];
  return librariesOf(binaries, (name) => everywhere.test(name));
}

/** Shared libraries that the addons need beside those of every system. Errors: not_packable. */
function librariesOf(
  binaries: readonly string[],
  wanted = (name: string) => !everywhere.test(name),
): string[] {
  const found = new Map<string, string>();
  for (const path of binaries) {
    let text: string;
    try {
      text = execFileSync('ldd', [path], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    } catch {
      // No dynamic program, or one for another C library.
      continue;
    }
    const [, absent] = /^\s*(\S+) => not found/m.exec(text) ?? [];
    if (absent !== undefined) {
      throw notPackable(`${path} needs ${absent}, which this machine does not have`);
    }
    for (const [, name = '', at = ''] of text.matchAll(/^\s*(\S+) => (\/\S+)/gm)) {
      if (wanted(name)) found.set(name, at);
    }
    const loader = /^\s*(\/\S*\/(ld-linux[\w.-]+))/m.exec(text);
    if (loader !== null && wanted(loader[2]!)) found.set(loader[2]!, loader[1]!);
  }
  return [...found.values()];
}

function notPackable(reason: string): AppError {
  return new AppError('not_packable', `the program cannot be packed: ${reason}`, {
    source: 'internal',
  });
}
