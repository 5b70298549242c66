/** Makes a folder and those above it. Never changes one that is there. */

import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes `path`, mode 0700, and what is missing above it. Errors: those of mkdir, EEXIST and ENOTDIR
 * where a file is in the way. Node's own `recursive` never ends where the parent is there and
 * cannot hold folders, as below /proc.
 */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  let folder = resolve(path);
  while (statSync(folder, { throwIfNoEntry: false }) === undefined) {
    missing.push(folder);
    folder = dirname(folder);
  }
  if (missing.length === 0 && statSync(folder).isDirectory()) return;
  if (missing.length === 0) throw notFolder(folder);
  for (const one of missing.toReversed()) makeOne(one);
}

/** Another process may be making the same folders. */
function makeOne(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (!statSync(folder).isDirectory()) throw error;
  }
}

function notFolder(path: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${path} is no folder`), { code: 'ENOTDIR' });
}
