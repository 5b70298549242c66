/**
 * Places a package on a machine and takes it away again. Below another root it touches nothing of
 * the running system, so that images can be made.
 */

import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readlinkSync } from 'node:fs';
import { renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { systemdUnit } from './systemd-unit.ts';

/** Where things lie. */
const programFolder = '/opt/waf';
const dataFolder = '/var/lib/waf';
const unitFolder = '/etc/systemd/system';
const user = 'waf';

/** What is installed. */
export interface InstallOptions {
  /** The unpacked package: the folder with the launcher. */
  readonly from: string;
  readonly version: string;
  /** Folder that stands for `/`. */
  readonly root: string;
  /** An enrolled node; otherwise the whole product. */
  readonly node: boolean;
}

/** Names of the units, by what they run. */
export const unitNames = { node: 'waf-node.service', product: 'waf.service' } as const;

/** Places the program and its unit; starts nothing. Returns what was placed. */
export function installProgram(options: InstallOptions): string[] {
  // The service's own user reads the program, however little the caller lets others read.
  const before = process.umask(0o022);
  try {
    return place(options);
  } finally {
    process.umask(before);
  }
}

function place({ from, version, root, node }: InstallOptions): string[] {
  if (!existsSync(join(from, 'waf')) || !existsSync(join(from, 'node'))) {
    const message = `${from} is no unpacked package: run the waf program of one`;
    throw new AppError('not_a_package', message, { source: 'config' });
  }
  if (root === '/' && process.getuid?.() !== 0) {
    throw new AppError('not_root', 'installing needs root', { source: 'config' });
  }
  // Before anything is placed: half an installation is worse than none.
  if (root === '/') requireSystemd();
  const at = (path: string): string => join(root, path);
  const release = join(programFolder, 'releases', version);
  const scratch = at(`${release}.new`);
  mkdirSync(dirname(scratch), { recursive: true, mode: 0o755 });
  rmSync(scratch, { recursive: true, force: true });
  cpSync(from, scratch, { recursive: true });
  letAllRead(scratch);
  rmSync(at(release), { recursive: true, force: true });
  renameSync(scratch, at(release));
  pointTo(at(join(programFolder, 'current')), join('releases', version));
  if (root === '/') makeUser();
  mkdirSync(at(dataFolder), { recursive: true, mode: 0o700 });
  if (root === '/') execFileSync('chown', [`${user}:${user}`, dataFolder]);
  const name = node ? unitNames.node : unitNames.product;
  const unit = at(join(unitFolder, name));
  mkdirSync(dirname(unit), { recursive: true, mode: 0o755 });
  writeFileSync(unit, unitText(node), { mode: 0o644 });
  if (root === '/') execFileSync('systemctl', ['daemon-reload']);
  return [at(release), unit];
}

/** Stops and removes units and program; the data folder stays unless `purge`. */
export function uninstallProgram(root: string, purge: boolean): string[] {
  const at = (path: string): string => join(root, path);
  const units = Object.values(unitNames).map((name) => at(join(unitFolder, name)));
  const present = units.filter((unit) => existsSync(unit));
  if (root === '/') {
    if (process.getuid?.() !== 0) {
      throw new AppError('not_root', 'uninstalling needs root', { source: 'config' });
    }
    for (const unit of present) execFileSync('systemctl', ['disable', '--now', basename(unit)]);
  }
  const gone = [...present, at(programFolder), ...(purge ? [at(dataFolder)] : [])];
  for (const path of gone) rmSync(path, { recursive: true, force: true });
  if (root === '/' && present.length > 0) execFileSync('systemctl', ['daemon-reload']);
  return gone;
}

/** Folders have the modes of the umask that they were unpacked with. */
function letAllRead(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) letAllRead(path);
    else if (entry.isFile()) chmodSync(path, (statSync(path).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}

function unitText(node: boolean): string {
  const program = `${programFolder}/current/waf`;
  const where = `--data ${dataFolder} --proxy 0.0.0.0:80 --https 0.0.0.0:443`;
  return systemdUnit({
    description: node ? 'Web application firewall, enrolled node' : 'Web application firewall',
    command: node ? `${program} agent run ${where}` : `${program} run ${where} --no-demo`,
    user,
    data: dataFolder,
  });
}

/** Readers see the old link or the new one. */
function pointTo(link: string, target: string): void {
  rmSync(`${link}.new`, { force: true });
  symlinkSync(target, `${link}.new`);
  renameSync(`${link}.new`, link);
  if (readlinkSync(link) !== target) throw new Error(`${link} points elsewhere`);
}

/** Errors: AppError no_systemd. */
function requireSystemd(): void {
  try {
    execFileSync('systemctl', ['--version'], { stdio: 'ignore' });
  } catch (cause) {
    const message = 'this machine has no systemd: use waf run, waf agent run, or install --root';
    throw new AppError('no_systemd', message, { source: 'config', cause });
  }
}

function makeUser(): void {
  try {
    execFileSync('id', ['-u', user], { stdio: 'ignore' });
  } catch {
    const home = ['--home-dir', dataFolder, '--no-create-home'];
    execFileSync('useradd', ['--system', '--shell', '/usr/sbin/nologin', ...home, user]);
  }
}
