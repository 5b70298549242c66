/**
 * Advisory locks of whole files between processes. A lock belongs to the open file: another
 * opening of the same file, also in the same process, does not have it.
 */
import { filesAddon } from './load-addon.ts';

/**
 * Whether the caller holds the lock of the file or folder of `fd` now; never waits. The kernel
 * frees it when the descriptor is closed or its process is gone.
 * Errors: an Error whose code is ENOLCK where the file system has no locks or the addon is not
 * built, EBADF. Cost: 1 us. Source: flock(2).
 */
export function tryLock(fd: number): boolean {
  const addon = filesAddon();
  if (addon !== null) return addon.tryLock(fd);
  throw Object.assign(new Error('the addon is not built'), { code: 'ENOLCK' });
}

/** Frees the lock. Errors: as `tryLock`. */
export function unlock(fd: number): void {
  filesAddon()?.unlock(fd);
}
