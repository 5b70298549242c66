/**
 * The running program as one file. It is packed once for the files that it has, in a process of
 * its own: ahead where nodes are expected, some time after the start, or when one asks for it.
 */

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { AppError, toAppError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { releaseLimits } from '../limits/release-limits.ts';
import { buildPackage, type BuiltPackage } from './build-package.ts';
import { keepPackage } from './kept-package.ts';

/** Whether nodes will ask for the program: packing it costs 8 s of CPU and 77 MB of disk. */
export interface ExpectedNodes {
  areExpected(): boolean;
  /** Calls back whenever that may have changed; returns what ends it. */
  onChange(listener: () => void): () => void;
}

/** The running program as one file. */
export class ProgramPackage {
  readonly #folder: string;
  readonly #program: string;
  #built: Promise<BuiltPackage> | null = null;
  readonly #closed = new AbortController();
  downloads = 0;

  /** `folder` is where the file is kept; `program` is packed, the running one by default. */
  constructor(folder: string, program = programFolder()) {
    this.#folder = folder;
    this.#program = program;
  }

  /** Packs it when it is not there. Errors: AppError not_packable, and those of the disk. */
  file(): Promise<BuiltPackage> {
    if (this.#built !== null) return this.#built;
    const building = existsSync(packEntry)
      ? packBeside('keep', this.#program, this.#folder, this.#closed.signal)
      : keepPackage(this.#program, this.#folder);
    this.#built = building;
    building.catch(() => (this.#built = null));
    return building;
  }

  /**
   * Packs it ahead once nodes are expected, `delayMs` after the start at the earliest, so that the
   * first that asks need not wait; not where the disk has little room. `close` ends the waiting and
   * a packing that runs.
   */
  packAhead(
    logger: Logger,
    nodes: ExpectedNodes,
    delayMs: number = releaseLimits.packAheadMs,
  ): { close(): void } {
    const pack = async (): Promise<void> => {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const { bavail, bsize } = await statfs(this.#folder);
      if (bavail * bsize < releaseLimits.packAheadFreeBytesMin) return;
      await this.file();
    };
    let stopListening = (): void => undefined;
    const packOnceExpected = (): void => {
      if (!nodes.areExpected()) return;
      stopListening();
      pack().catch((error: unknown) => {
        if (this.#closed.signal.aborted) return;
        logger.warn('the program could not be packed ahead', { reason: toAppError(error).message });
      });
    };
    const timer = setTimeout(() => {
      stopListening = nodes.onChange(packOnceExpected);
      packOnceExpected();
    }, delayMs);
    timer.unref();
    return {
      close: () => {
        clearTimeout(timer);
        stopListening();
        this.#closed.abort();
      },
    };
  }
}

const packEntry = fileURLToPath(new URL('./pack-process.js', import.meta.url));

/**
 * Packs a program beside the calling process. Sources that are not compiled pack in this one.
 * Errors: AppError not_packable, and those of the disk.
 */
export function packProgram(folder: string, path: string): Promise<BuiltPackage> {
  return existsSync(packEntry) ? packBeside('build', folder, path) : buildPackage(folder, path);
}

async function packBeside(
  how: 'keep' | 'build',
  folder: string,
  path: string,
  signal?: AbortSignal,
): Promise<BuiltPackage> {
  try {
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, [packEntry, how, folder, path], { signal });
    return JSON.parse(stdout) as BuiltPackage;
  } catch (error) {
    // A failed process says why in its last lines.
    const { stderr = '', message } = error as { stderr?: string; message: string };
    const said = /^\w*Error[^\n]*: (.*)$/m.exec(stderr)?.[1] ?? message;
    throw new AppError('not_packable', said, { source: 'internal', cause: error });
  }
}

/** The folder that holds package.json. */
function programFolder(): string {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json')) || folder === dirname(folder)) return folder;
  }
}
