/**
 * Keeps commits of the process that writes an LMDB environment and openings by others apart. Who
 * opens one sets the number of the last transaction, which all processes share, to what it read a
 * moment before; a transaction that was committed in between is lost with the next one. Source:
 * `mdb_env_open2` of lmdb 3.5.6.
 */

import { closeSync, openSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError } from '../../base/errors.ts';
import { storeLimits } from '../limits/store-limits.ts';
import { tryLock, unlock } from '../../native-bindings/files/file-lock.ts';

const { openingLockEveryMs, openingLockWaitMs } = storeLimits;

/** The environments that this thread writes, by their locks: it opens them as they are. */
const writtenHere = new Map<CommitLock, string>();

/** Held for each commit by the process that writes. */
export class CommitLock {
  /** Null where the file system has no locks: there nobody can open beside. */
  private readonly fd: number | null;

  /** The environment is open. Errors: of opening its file. */
  constructor(folder: string) {
    const fd = openSync(join(folder, 'data.mdb'), 'r+');
    const locks = hasLocks(fd);
    if (!locks) closeSync(fd);
    this.fd = locks ? fd : null;
    writtenHere.set(this, realpathSync(folder));
  }

  /** Resolves when nobody else opens the environment; until `free`, others wait. */
  async take(): Promise<void> {
    while (this.fd !== null && !tryLock(this.fd)) await delay(openingLockEveryMs);
  }

  free(): void {
    if (this.fd !== null) unlock(this.fd);
  }

  close(): void {
    writtenHere.delete(this);
    if (this.fd !== null) closeSync(this.fd);
  }
}

/**
 * Opens an environment that another process may write, between two of its commits. Errors: those
 * of `open` and of opening its file; AppError store_unavailable.
 */
export function openBeside<T>(folder: string, open: () => T): T {
  const path = realpathSync(folder);
  if ([...writtenHere.values()].includes(path)) return open();
  const fd = openToLock(join(path, 'data.mdb'));
  // Where nobody can write, nobody commits.
  if (fd === null) return open();
  try {
    if (!hasLocks(fd)) throw unavailable(folder, 'its file system has no locks');
    waitForLock(fd, folder);
    return open();
  } finally {
    closeSync(fd);
  }
}

function openToLock(file: string): number | null {
  try {
    return openSync(file, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EROFS') return null;
    throw error;
  }
}

function hasLocks(fd: number): boolean {
  try {
    if (tryLock(fd)) unlock(fd);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOLCK') return false;
    throw error;
  }
}

function waitForLock(fd: number, folder: string): void {
  const deadline = performance.now() + openingLockWaitMs;
  const nobody = new Int32Array(new SharedArrayBuffer(4));
  while (!tryLock(fd)) {
    if (performance.now() > deadline) throw unavailable(folder, 'a commit of it does not end');
    Atomics.wait(nobody, 0, 0, openingLockEveryMs);
  }
}

function unavailable(folder: string, why: string): AppError {
  const message = `the store in ${folder} cannot be opened beside waf: ${why}`;
  return new AppError('store_unavailable', message, { source: 'storage' });
}
