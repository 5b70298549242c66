/** Owns the data folder's layout and that one supervisor at a time uses it. */

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { AppError } from '../../engine/base/errors.ts';
import { supervisorLimits } from '../../engine/base/limits.ts';
import { makeFolder } from '../../engine/base/make-folder.ts';

/** Where things lie below `--data`. */
export interface DataFolder {
  readonly path: string;
  readonly adminSocket: string;
  readonly demoOriginFile: string;
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
  try {
    makeFolder(path);
    refuseSecondSupervisor(claim, path);
    writeFileSync(claim, `${process.pid}\n`, { mode: 0o600 });
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
    release: () => rmSync(claim, { force: true }),
  };
}

function refuseSecondSupervisor(claim: string, path: string): void {
  let pid: number;
  try {
    pid = Number(readFileSync(claim, 'utf8'));
  } catch {
    return;
  }
  if (!Number.isInteger(pid) || pid <= 0 || pid === process.pid || !isAlive(pid)) return;
  throw new AppError(
    'data_in_use',
    `${path} is used by another waf run (process ${pid}); stop it or give another --data`,
    { source: 'config' },
  );
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
