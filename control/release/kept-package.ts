/**
 * Keeps the package of the running program from one start to the next: its name holds a hash of
 * what is in it, so that a package of other files is never taken for it. Older ones are removed.
 */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readBuildInfo } from '../../base/build-info.ts';
import { buildPackage, type BuiltPackage } from './build-package.ts';
import { packagedFiles, readPackaged } from './package-files.ts';

/** The package of the program in `folder`, made in `keptIn` unless it is there. */
export async function keepPackage(folder: string, keptIn: string): Promise<BuiltPackage> {
  mkdirSync(keptIn, { recursive: true, mode: 0o700 });
  const platform = `${process.platform}-${process.arch}`;
  const start = `waf-${readBuildInfo().version}-${platform}-${contentHash(folder)}`;
  const path = join(keptIn, `${start}.tar.gz`);
  const known = readKnown(path);
  if (known !== null) return known;
  for (const name of readdirSync(keptIn)) rmSync(join(keptIn, name), { force: true });
  const built = await buildPackage(folder, path);
  // Written last and whole: a package without its note is made again.
  await writeFile(`${noteOf(path)}.new`, JSON.stringify(built), { mode: 0o600 });
  await rename(`${noteOf(path)}.new`, noteOf(path));
  return built;
}

/** Over names and contents, in the order of the package. Cost: reads every file once. */
function contentHash(folder: string): string {
  const hash = createHash('sha256');
  for (const { name, content } of readPackaged(packagedFiles(folder))) {
    hash.update(`${name}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex').slice(0, 32);
}

function readKnown(path: string): BuiltPackage | null {
  if (!existsSync(path) || !existsSync(noteOf(path))) return null;
  const { sha256, bytes } = JSON.parse(readFileSync(noteOf(path), 'utf8')) as BuiltPackage;
  return statSync(path).size === bytes ? { path, sha256, bytes } : null;
}

function noteOf(path: string): string {
  return `${path}.json`;
}
