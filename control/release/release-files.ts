/**
 * The files of imported releases, by digest, in a private folder. A file is under its name only
 * when it is whole, on disk and accepted; what a crash leaves is removed at the next start.
 */

import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { AppError } from '../../base/errors.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { refusal } from '../domain/errors.ts';

/** What was written, before it is accepted. */
interface WrittenFile {
  /** Hex. */
  readonly sha256: string;
  readonly blake2b512: Uint8Array;
  readonly bytes: number;
}

/** A file that is written but not kept yet. */
export interface StagedFile extends WrittenFile {
  /** Gives it its name; on disk when this returns. */
  keep(): Promise<void>;
}

const fileName = /^[0-9a-f]{64}\.tar\.gz$/;
const gzipMark = [0x1f, 0x8b];

/** The files. */
export class ReleaseFiles {
  readonly #folder: string;
  #last: Promise<unknown> = Promise.resolve();

  /** Nothing is made before the first release comes. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Removes what no release needs: half files, and files whose release was not recorded. */
  sweep(needed: ReadonlySet<string>): string[] {
    const removed: string[] = [];
    for (const name of this.#names()) {
      if (fileName.test(name) && needed.has(name.slice(0, 64))) continue;
      rmSync(join(this.#folder, name), { force: true });
      removed.push(name);
    }
    return removed;
  }

  /**
   * Writes a file of at most `bytesMax` under a name of its own and hands it to `use`; removes it
   * afterwards unless `use` keeps it. The content is on disk before `use` is called.
   * Errors: AppError resource_exhausted, invalid_argument; those of `use` and `body`.
   */
  async stage<T>(
    body: AsyncIterable<Uint8Array>,
    bytesMax: number,
    use: (file: StagedFile) => Promise<T>,
  ): Promise<T> {
    makeFolder(this.#folder);
    const scratch = join(this.#folder, `${randomUUID()}.new`);
    try {
      const written = await writeSynced(scratch, body, bytesMax);
      const keep = async (): Promise<void> => {
        await rename(scratch, this.pathOf(written.sha256));
        await syncFolder(this.#folder);
      };
      return await use({ ...written, keep });
    } catch (error) {
      throw diskFull(error);
    } finally {
      await rm(scratch, { force: true });
    }
  }

  /** Runs steps that change files and their records together, one after the other. */
  exclusive<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  /** Removes a file that no release needs any more. */
  async remove(sha256: string): Promise<void> {
    await rm(this.pathOf(sha256), { force: true });
  }

  /** Its size; null where it is missing, as after restoring a backup, which holds no releases. */
  bytesOf(sha256: string): number | null {
    return statSync(this.pathOf(sha256), { throwIfNoEntry: false })?.size ?? null;
  }

  /** Where a file is, once it is kept. */
  pathOf(sha256: string): string {
    const name = `${sha256}.tar.gz`;
    if (!fileName.test(name)) throw new Error('a release file is named by its SHA-256');
    return join(this.#folder, name);
  }

  #names(): string[] {
    const found = statSync(this.#folder, { throwIfNoEntry: false });
    return found?.isDirectory() === true ? readdirSync(this.#folder) : [];
  }
}

async function writeSynced(
  path: string,
  body: AsyncIterable<Uint8Array>,
  bytesMax: number,
): Promise<WrittenFile> {
  const [sha256, blake2b512] = [createHash('sha256'), createHash('blake2b512')];
  const head: number[] = [];
  let bytes = 0;
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const piece of body) {
      bytes += piece.length;
      if (bytes > bytesMax) throw tooLarge(bytesMax);
      if (head.length < gzipMark.length) head.push(...piece.subarray(0, gzipMark.length));
      sha256.update(piece);
      blake2b512.update(piece);
      await writeAll(file, piece);
    }
    if (gzipMark.some((byte, index) => head[index] !== byte)) throw notGzip();
    await file.sync();
  } finally {
    await file.close();
  }
  return { sha256: sha256.digest('hex'), blake2b512: blake2b512.digest(), bytes };
}

async function writeAll(file: FileHandle, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.length;) {
    const { bytesWritten } = await file.write(piece, at, piece.length - at);
    at += bytesWritten;
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function tooLarge(bytesMax: number): AppError {
  return refusal('resource_exhausted', `tarball: is larger than ${bytesMax} bytes`);
}

function notGzip(): AppError {
  return refusal('invalid_argument', 'tarball: is no .tar.gz file');
}

function diskFull(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException | null)?.code ?? '';
  if (code !== 'ENOSPC' && code !== 'EDQUOT') return error;
  const text = 'tarball: the disk of the data folder is full; free space and import again';
  return refusal('resource_exhausted', text);
}
