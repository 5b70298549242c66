/**
 * Lists the files of a data folder that a backup holds: its stores, and the small files (keys,
 * certificates, the initial password). Leaves out sockets and what the engine can rebuild.
 */

import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../base/errors.ts';
import { storeLimits } from '../limits/store-limits.ts';
import type { BackupEntry } from './backup-format.ts';

/** The store that every data folder has. */
export const mainStore = 'control';
/** The store of evidence, and the keys that it is encrypted with. */
export const evidenceStore = 'evidence';
export const evidenceKeysFile = 'evidence-keys.json';
/** Folder of the engine; it is rebuilt from what control publishes. */
export const engineFolder = 'engine';
/** How backups are called; such files are left out of backups. */
export const backupSuffix = '.wafbackup';
/** Who uses a data folder; not part of it. */
export const claimFile = 'supervisor.pid';
/** Folders of a restore that is under way. */
export const restoreFolders = {
  staging: '.restore-staging',
  ready: '.restore-ready',
  moving: '.restore-moving',
  old: '.restore-old',
} as const;

const notKept = new Set<string>([claimFile, engineFolder, ...Object.values(restoreFolders)]);

/** Names of the stores in a data folder, the main one first. */
export function storesIn(data: string): string[] {
  const names = readdirSync(data, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(data, entry.name, 'data.mdb')))
    .map(({ name }) => name)
    .filter((name) => name !== engineFolder && !name.startsWith('.'));
  return names.sort((left, right) =>
    left === mainStore ? -1 : right === mainStore ? 1 : left < right ? -1 : 1,
  );
}

/** The small files of a data folder with their paths in it. Errors: AppError backup_too_large. */
export function* filesIn(data: string): Generator<BackupEntry> {
  let count = 0;
  for (const path of walk(data, '', 0)) {
    const full = join(data, path);
    const { size, mode } = lstatSync(full);
    if (size > storeLimits.backupFileBytesMax || ++count > storeLimits.backupFilesMax) {
      throw new AppError(
        'backup_too_large',
        `${full} is too large or one too many for a backup: move it out of the data folder`,
        { source: 'config' },
      );
    }
    yield { key: path, value: readFileSync(full), mode: mode & 0o777 };
  }
}

function* walk(data: string, below: string, depth: number): Generator<string> {
  if (depth > storeLimits.backupDepthMax) return;
  const entries = readdirSync(join(data, below), { withFileTypes: true });
  for (const entry of entries.sort((left, right) => (left.name < right.name ? -1 : 1))) {
    if (depth === 0 && notKept.has(entry.name)) continue;
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    // A store is copied as one, under its own section.
    if (entry.isDirectory() && !existsSync(join(data, path, 'data.mdb'))) {
      yield* walk(data, path, depth + 1);
    }
    if (entry.isFile() && !path.endsWith('.tmp') && !path.endsWith(backupSuffix)) yield path;
  }
}

/** Whether a path from a backup stays inside the folder it is put in. */
export function isSafePath(path: string): boolean {
  const parts = path.split('/');
  return (
    path.length <= 512 &&
    !path.includes('\u0000') &&
    parts.length <= storeLimits.backupDepthMax + 1 &&
    parts.every((part) => part !== '' && part !== '.' && part !== '..') &&
    !notKept.has(parts[0] ?? '')
  );
}

/** Waits until a file or folder is on disk. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
