/**
 * Owns the running program as one file; it is packed once, when it is first wanted, in a thread of
 * its own.
 */

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { readBuildInfo } from '../../base/build-info.ts';
import { AppError } from '../../base/errors.ts';
import { buildPackage, type BuiltPackage } from './build-package.ts';

/** The running program as one file. */
export class ProgramPackage {
  readonly #folder: string;
  #built: Promise<BuiltPackage> | null = null;
  downloads = 0;

  /** `folder` is where the file is kept. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Packs it when it is not there. Errors: AppError not_packable, and those of the disk. */
  file(): Promise<BuiltPackage> {
    if (this.#built !== null) return this.#built;
    const name = `waf-${readBuildInfo().version}-${process.platform}-${process.arch}.tar.gz`;
    const building = packProgram(programFolder(), join(this.#folder, name));
    this.#built = building;
    building.catch(() => (this.#built = null));
    return building;
  }
}

const threadEntry = new URL('./pack-thread.js', import.meta.url);

/**
 * Packs a program beside the calling thread. Sources that are not compiled have no thread: they
 * pack on this one. Errors: AppError not_packable, and those of the disk.
 */
export async function packProgram(folder: string, path: string): Promise<BuiltPackage> {
  if (!existsSync(threadEntry)) return buildPackage(folder, path);
  const worker = new Worker(threadEntry, { workerData: { folder, path } });
  try {
    return await new Promise<BuiltPackage>((resolve, reject) => {
      worker.on('message', resolve);
      // Errors lose their class on the way, not their message.
      worker.on('error', ({ message }) => reject(notPacked(message)));
      worker.on('exit', () => reject(notPacked('the thread that packs the program ended')));
    });
  } finally {
    await worker.terminate();
  }
}

function notPacked(message: string): AppError {
  return new AppError('not_packable', message, { source: 'internal' });
}

/** The folder that holds package.json. */
function programFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) || folder === dirname(folder)) return folder;
  }
}
