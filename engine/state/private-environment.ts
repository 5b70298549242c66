/**
 * Opens an LMDB environment of the engine that only its user can read: what clients sent is in it.
 * Folders and files of earlier versions get the same modes.
 */

import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../base/make-folder.ts';

/**
 * Makes `folder` private, mode 0700, then has `open` open it and makes its files private, mode
 * 0600. Errors: those of the file system and of `open`.
 */
export function openPrivately<T>(folder: string, open: () => T): T {
  makeFolder(folder);
  chmodSync(folder, 0o700);
  const database = open();
  for (const name of ['data.mdb', 'lock.mdb']) {
    const path = join(folder, name);
    if (existsSync(path)) chmodSync(path, 0o600);
  }
  return database;
}
