/**
 * The last bundle that served, on disk: written whole or not at all, so that an engine can start
 * without its controller.
 */

import {
  mkdirSync,
  openSync,
  closeSync,
  fsyncSync,
  readFileSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';

const fileName = 'last-good.bundle';

/** Keeps `bytes` (an encoded SignedRuntimeBundle) in `folder`; durable when it returns.
 * Errors: AppError bundle_unwritable; the file from before stays whole. */
export function saveLastGood(folder: string, bytes: Uint8Array): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, fileName);
    const scratch = `${path}.${process.pid}.tmp`;
    writeDurably(scratch, bytes);
    renameSync(scratch, path);
    syncFolder(folder);
  } catch (error) {
    throw new AppError('bundle_unwritable', `the bundle cannot be kept in ${folder}`, {
      source: 'storage',
      retryable: true,
      cause: error,
    });
  }
}

/** The kept bytes; null when there are none. Errors: AppError bundle_unreadable. */
export function loadLastGood(folder: string): Uint8Array | null {
  try {
    return readFileSync(join(folder, fileName));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new AppError('bundle_unreadable', `the kept bundle in ${folder} cannot be read`, {
      source: 'storage',
      cause: error,
    });
  }
}

function writeDurably(path: string, bytes: Uint8Array): void {
  const file = openSync(path, 'w', 0o600);
  try {
    let done = 0;
    while (done < bytes.length) done += writeSync(file, bytes, done);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function syncFolder(folder: string): void {
  const file = openSync(folder, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
