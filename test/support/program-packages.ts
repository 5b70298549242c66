/**
 * The packages of the running program that products of tests have made: packing costs 8 s of CPU,
 * and each product to which nodes belong would pack the same program anew. Kept under the product's
 * own names, which hold a hash of what is packed: one of another program is never taken.
 */

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import path from 'node:path';

const kept = path.join(import.meta.dirname, '..', '..', '.cache', 'program-packages');
const folderOf = (data: string): string => path.join(data, 'packages');
/** A package is whole once its note is there; one that was lent may be gone meanwhile. */
const packagesIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith('.tar.gz.json'))
        .map((note) => note.replace(/\.json$/, ''))
        .filter((name) => existsSync(path.join(folder, name)))
    : [];

/** Gives a product what was packed before. Call it before the start. */
export function lendPackages(data: string): void {
  for (const name of packagesIn(kept)) {
    mkdirSync(folderOf(data), { recursive: true, mode: 0o700 });
    for (const part of [name, `${name}.json`]) {
      symlinkSync(path.join(kept, part), path.join(folderOf(data), part));
    }
  }
}

/** Keeps what a product has packed, in place of packages of other programs. */
export function keepPackages(data: string): void {
  const before = packagesIn(kept);
  for (const name of packagesIn(folderOf(data)).filter((one) => !before.includes(one))) {
    mkdirSync(kept, { recursive: true });
    for (const part of [name, `${name}.json`]) {
      const whole = path.join(kept, part);
      copyFileSync(path.join(folderOf(data), part), `${whole}.${process.pid}`);
      renameSync(`${whole}.${process.pid}`, whole);
    }
    for (const old of before) {
      for (const part of [`${old}.json`, old]) rmSync(path.join(kept, part), { force: true });
    }
  }
}
