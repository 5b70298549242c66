/**
 * Makes a Debian package of the program: its files where Debian puts them, with the runtime, so
 * that the target needs neither npm nor a compiler. The same files give the same bytes.
 */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { AppError } from '../../../base/errors.ts';
import type { BuiltPackage } from '../build-package.ts';
import { packagedFiles, readPackaged } from '../package-files.ts';
import type { TarFile } from '../tar-writer.ts';
import { maintainerScripts } from './maintainer-scripts.ts';
import {
  copyrightText,
  launcherText,
  lintianOverrides,
  settingsText,
  unitText,
} from './package-texts.ts';

/** What a package is made of and where it goes. */
export interface DebianOptions {
  /** The program: the folder that holds package.json. */
  readonly program: string;
  readonly version: string;
  /** Folder that the package is written to. */
  readonly out: string;
  /** Manual pages and completions, by their path below the root. */
  readonly documents: ReadonlyMap<string, string>;
  /** Rules of the built-in ruleset, by their path in it. */
  readonly rules: readonly { readonly path: string; readonly content: Uint8Array }[];
  /** How dpkg-deb compresses; `none` is quick. */
  readonly compression: 'xz' | 'none';
}

const architectures: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
/** What is run; Debian Policy 10.2 wants libraries without the bit. */
const programs = new Set(['waf/waf', 'waf/node']);
/** Times of all files: no time of the build gets into the package. */
const epochSeconds = 1_000_000_000;

/** Builds waf_VERSION_ARCH.deb. Errors: AppError not_packable; no dpkg-deb on this machine. */
export function buildDebian(options: DebianOptions): BuiltPackage {
  const architecture = architectures[process.arch];
  if (architecture === undefined) throw notPackable(`no Debian package for ${process.arch}`);
  const root = mkdtempSync(join(tmpdir(), 'waf-deb-'));
  const before = process.umask(0o022);
  try {
    // dpkg-deb wants it readable; mkdtemp makes it private.
    chmodSync(root, 0o755);
    let bytes = 0;
    const sums: string[] = [];
    for (const file of debianFiles(options)) {
      place(root, file);
      bytes += file.content.length;
      const sum = createHash('md5').update(file.content).digest('hex');
      sums.push(`${sum}  ${file.name}\n`);
    }
    const control = (name: string, text: string, executable = false): void =>
      place(root, { name: `DEBIAN/${name}`, executable, content: Buffer.from(text) });
    control('control', controlText(options.version, architecture, bytes));
    control('conffiles', '/etc/waf/waf.yaml\n');
    control('md5sums', sums.sort().join(''));
    for (const [name, text] of Object.entries(maintainerScripts)) control(name, text, true);
    mkdirSync(options.out, { recursive: true });
    const path = resolve(options.out, `waf_${options.version}_${architecture}.deb`);
    dpkgDeb(root, path, options.compression);
    const built = readFileSync(path);
    const sha256 = createHash('sha256').update(built).digest('hex');
    return { path, sha256, bytes: built.length };
  } finally {
    process.umask(before);
    rmSync(root, { recursive: true, force: true });
  }
}

/** Every file of the package, by its name below the root; one at a time is in memory. */
function* debianFiles(options: DebianOptions): Generator<TarFile> {
  const { program, version, documents, rules } = options;
  for (const file of readPackaged(packagedFiles(program))) {
    yield { ...file, name: `usr/lib/${file.name}`, executable: programs.has(file.name) };
  }
  for (const { path, content } of rules) {
    yield { name: `usr/lib/waf/${path}`, executable: false, content };
  }
  yield textFile('etc/waf/waf.yaml', settingsText);
  yield textFile('lib/systemd/system/waf.service', unitText);
  yield { ...textFile('usr/bin/waf', launcherText), executable: true };
  yield textFile('usr/share/doc/waf/copyright', copyrightText);
  yield packedText('usr/share/doc/waf/changelog', changelogText(version));
  yield textFile('usr/share/lintian/overrides/waf', lintianOverrides);
  for (const [name, text] of documents) {
    yield name.startsWith('usr/share/man/') ? packedText(name, text) : textFile(name, text);
  }
}

function textFile(name: string, text: string): TarFile {
  return { name, executable: false, content: Buffer.from(text) };
}

/** Debian Policy 12.1 and 12.7: compressed, without time and name. */
function packedText(name: string, text: string): TarFile {
  return { name: `${name}.gz`, executable: false, content: gzipSync(text, { level: 9 }) };
}

function place(root: string, { name, content, executable }: TarFile): void {
  const path = join(root, name);
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  writeFileSync(path, content);
  chmodSync(path, executable ? 0o755 : 0o644);
}

/** Source: deb-control(5). */
function controlText(version: string, architecture: string, bytes: number): string {
  return `Package: waf
Version: ${version}
Architecture: ${architecture}
Maintainer: waf maintainers <maintainers@waf.invalid>
Installed-Size: ${Math.ceil(bytes / 1024)}
Depends: adduser, libc6 (>= ${libcVersion()})
Section: httpd
Priority: optional
Description: reverse proxy with a built-in web application firewall
 Terminates TLS and HTTP/2, inspects requests by the OWASP Core Rule Set and by
 detectors of its own, and forwards them to origins. Brings a console in the
 browser, a command line and a management API.
`;
}

/** The addon and the runtime were linked against this machine's C library. */
function libcVersion(): string {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime ?? '2.36';
}

function changelogText(version: string): string {
  const when = new Date(epochSeconds * 1000).toUTCString().replace('GMT', '+0000');
  return `waf (${version}) stable; urgency=medium

  * Release ${version}. README.md and the guides say what it does.

 -- waf maintainers <maintainers@waf.invalid>  ${when}
`;
}

function dpkgDeb(root: string, path: string, compression: 'xz' | 'none'): void {
  const how = [`-Z${compression}`, ...(compression === 'xz' ? ['-z3'] : [])];
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(epochSeconds) };
  try {
    const args = ['--root-owner-group', ...how, '--build', root, path];
    execFileSync('dpkg-deb', args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  } catch (cause) {
    const { code, stderr } = cause as { code?: string; stderr?: Buffer };
    const said = code === 'ENOENT' ? 'dpkg-deb is not installed' : String(stderr ?? cause).trim();
    throw notPackable(said);
  }
}

function notPackable(reason: string): AppError {
  const message = `the Debian package cannot be made: ${reason}`;
  return new AppError('not_packable', message, { source: 'config' });
}
