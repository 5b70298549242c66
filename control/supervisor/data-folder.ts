/** The data folder's layout and that one supervisor at a time uses it. */

import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { supervisorLimits } from '../limits/command-limits.ts';
import { makeFolder } from '../../base/make-folder.ts';

/** Where things lie below `--data`. */
export interface DataFolder {
  readonly path: string;
  readonly adminSocket: string;
  readonly demoOriginFile: string;
  /** A supervisor before this one was killed: its children may not be gone yet. */
  readonly leftOver: boolean;
  /** Gives the folder free for another supervisor. */
  release(): void;
}

/**
 * Makes the folder (mode 0700) and claims it. Errors: AppError data_in_use, socket_path_too_long,
 * data_unwritable.
 */
export function claimDataFolder(folder: string, adminSocket?: string): DataFolder {
  const path = resolve(folder);
  const socket = resolve(adminSocket ?? join(path, 'admin.sock'));
  if (Buffer.byteLength(socket) > supervisorLimits.socketPathBytesMax) {
    throw new AppError(
      'socket_path_too_long',
      `a socket's path has at most ${supervisorLimits.socketPathBytesMax} bytes: give a shorter --admin-socket`,
      { source: 'config' },
    );
  }
  const claim = join(path, 'supervisor.pid');
  let leftOver = false;
  try {
    makeFolder(path);
    leftOver = existsSync(claim);
    refuseSecondSupervisor(claim, path);
    writeFileSync(claim, `${process.pid} ${birthOf(process.pid)}\n`, { mode: 0o600 });
  } catch (error) {
    if (error instanceof AppError) throw error;
    const code = (error as NodeJS.ErrnoException).code ?? '';
    throw new AppError('data_unwritable', `cannot write to ${path} (${code}); see --data`, {
      source: 'storage',
      cause: error,
    });
  }
  return {
    path,
    adminSocket: socket,
    demoOriginFile: join(path, 'demo-origin'),
    leftOver,
    release: () => rmSync(claim, { force: true }),
  };
}

function refuseSecondSupervisor(claim: string, path: string): void {
  let text: string;
  try {
    text = readFileSync(claim, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const [number = '', birth = ''] = text.trim().split(' ');
  const pid = Number(number);
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid || !isAlive(pid)) return;
  if (birth !== '' && birth !== birthOf(pid)) return;
  throw new AppError(
    'data_in_use',
    `${path} is used by another waf run (process ${pid}); stop it or give another --data`,
    { source: 'config' },
  );
}

/**
 * When a process began, as text that no other process with its number has; '' where /proc does not
 * say. A number alone may be another program's by now, above all after a container's restart.
 */
function birthOf(pid: number): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ');
    return `${boot}:${fields[19] ?? ''}`;
  } catch {
    return '';
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
