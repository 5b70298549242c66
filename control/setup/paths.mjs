/** Where set-up finds and keeps things. Plain JavaScript: nothing is installed yet. */

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds package.json. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Stamps and scratch of set-up; safe to delete. */
export const cacheFolder = join(root, '.cache');

/** Absolute path of something in the checkout. */
export const inRoot = (...parts) => join(root, ...parts);

/** Text of a stamp, or '' when there is none. */
export function readStamp(name) {
  try {
    return readFileSync(join(cacheFolder, `${name}.stamp`), 'utf8');
  } catch {
    return '';
  }
}

/** Keeps a stamp for the next start. */
export function writeStamp(name, text) {
  mkdirSync(cacheFolder, { recursive: true });
  writeFileSync(join(cacheFolder, `${name}.stamp`), text);
}

/** Files below `folder` whose names pass `accept`, sorted, absolute; none when it is missing. */
export function listFiles(folder, accept) {
  const found = [];
  const visit = (where) => {
    let entries;
    try {
      entries = readdirSync(where, { withFileTypes: true });
    } catch {
      return;
    }
    for (const entry of entries) {
      const path = join(where, entry.name);
      if (entry.isDirectory()) {
        if (entry.name !== 'node_modules' && !entry.name.startsWith('.')) visit(path);
      } else if (accept(entry.name)) found.push(path);
    }
  };
  visit(folder);
  return found.sort((a, b) => (a < b ? -1 : 1));
}

/** Hash of names, sizes and times: cheap, changes with every edit. */
export function hashStats(files, salt = '') {
  const hash = createHash('sha256').update(salt);
  for (const file of files) {
    const { size, mtimeMs } = statSync(file);
    hash.update(`${relative(root, file)}\0${size}\0${mtimeMs}\n`);
  }
  return hash.digest('hex');
}

/** Hash of names and contents: for small sets whose rebuild is dear. */
export function hashContents(files, salt = '') {
  const hash = createHash('sha256').update(salt);
  for (const file of files) hash.update(`${relative(root, file)}\0`).update(readFileSync(file));
  return hash.digest('hex');
}
