/**
 * The folder of compiled rule databases and plans: one file a key, written aside and renamed, the
 * least recently used removed beyond a bound. What the bytes mean is the planner's business.
 */

import { mkdirSync, readdirSync, readFileSync, renameSync, statSync, unlinkSync } from 'node:fs';
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stateLimits } from '../base/limits.ts';
import type { Logger } from '../../base/log.ts';

/** Serialized databases and plans as files, by key. */
export class DatabaseFiles {
  private readonly folder: string;
  private readonly log: Logger;
  private toldUnstored = false;

  /** Makes `folder` when it does not exist. */
  constructor(folder: string, log: Logger) {
    this.folder = folder;
    this.log = log;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** The entry's bytes, or null when there is none or it cannot be read. */
  get(key: string): Uint8Array | null {
    const path = this.path(key);
    try {
      const bytes = readFileSync(path);
      const now = new Date();
      utimesSync(path, now, now);
      return bytes;
    } catch (thrown) {
      if (codeOf(thrown) !== 'ENOENT') this.warn('cannot read a cached database', thrown);
      return null;
    }
  }

  /** Stores an entry; a full disk costs only the next start's time. */
  put(key: string, bytes: Uint8Array): void {
    const path = this.path(key);
    const aside = `${path}.${process.pid}.${Math.random().toString(36).slice(2)}`;
    try {
      writeFileSync(aside, bytes, { mode: 0o600 });
      renameSync(aside, path);
      this.trim();
      this.toldUnstored = false;
    } catch (thrown) {
      // A full disk would say it for each of a hundred.
      if (!this.toldUnstored)
        this.warn('cannot store a compiled database; the next start compiles it again', thrown);
      this.toldUnstored = true;
      removeQuietly(aside);
    }
  }

  private trim(): void {
    const entries = readdirSync(this.folder)
      .filter((name) => name.endsWith('.hsdb'))
      .map((name) => {
        const path = join(this.folder, name);
        const { size, mtimeMs } = statSync(path);
        return { path, size, mtimeMs };
      })
      .sort((a, b) => b.mtimeMs - a.mtimeMs);
    let total = 0;
    for (const { path, size } of entries) {
      total += size;
      if (total > stateLimits.databaseCacheBytesMax) removeQuietly(path);
    }
  }

  private path(key: string): string {
    return join(this.folder, `${key}.hsdb`);
  }

  private warn(message: string, thrown: unknown): void {
    this.log.warn(message, { folder: this.folder, code: codeOf(thrown) });
  }
}

/** A leftover is harmless: it is trimmed later or overwritten. */
function removeQuietly(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It is gone, or the folder cannot be written: the caller reports that itself.
  }
}

function codeOf(thrown: unknown): string {
  return (thrown as NodeJS.ErrnoException).code ?? 'unknown';
}
