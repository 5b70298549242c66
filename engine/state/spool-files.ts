/**
 * Owns the LMDB environment in which observations wait for control. A batch that was written
 * survives the process at once and a power cut after moments; a torn write is not possible. What
 * entries mean is their owner's business.
 */

import { open } from 'lmdb';
import type { Database, RootDatabase } from 'lmdb';
import { AppError, toAppError } from '../../base/errors.ts';
import { stateLimits } from '../base/limits.ts';
import type { Logger } from '../../base/log.ts';
import type { SpoolStore } from '../contract/spool.ts';
import { setAsideDamaged } from './damaged-file.ts';
import { openPrivately } from './private-environment.ts';

/** The spools of one engine. */
export interface SpoolFiles {
  /** The spool of a name; made when missing. */
  store(name: string): SpoolStore;
  close(): Promise<void>;
}

/** Opens the folder; made when missing. Errors: `state_unavailable`. */
export function openSpoolFiles(path: string, log: Logger): SpoolFiles {
  let root: RootDatabase<Buffer, number>;
  let notes: Database<Buffer, string>;
  try {
    setAsideDamaged(path, 'the spool of observations', log);
    root = openPrivately(path, () =>
      open<Buffer, number>({
        path,
        compression: false,
        encoding: 'binary',
        noSubdir: false,
        mapSize: stateLimits.spoolMapBytesMax,
      }),
    );
    // Apart from the entries: earlier versions take everything there for batches.
    notes = root.openDB<Buffer, string>({ name: 'notes', encoding: 'binary' });
  } catch (cause) {
    throw new AppError('state_unavailable', `cannot open the spool at ${path}`, {
      source: 'storage',
      cause,
    });
  }
  return {
    store: (name) => {
      const database = root.openDB<Buffer, number>({ name, encoding: 'binary' });
      return new LmdbSpool(name, database, notes, log);
    },
    close: async () => {
      await root.flushed;
      await root.close();
    },
  };
}

/** As `openSpoolFiles`; null, with a line in the log, when the disk has no room for it. */
export function tryOpenSpoolFiles(path: string, log: Logger): SpoolFiles | null {
  try {
    return openSpoolFiles(path, log);
  } catch (thrown) {
    const { message } = toAppError(thrown);
    log.error('observations wait in memory only', { reason: message });
    return null;
  }
}

class LmdbSpool implements SpoolStore {
  private readonly name: string;
  private readonly database: Database<Buffer, number>;
  private readonly notes: Database<Buffer, string>;
  private readonly log: Logger;
  private failing = false;

  constructor(
    name: string,
    database: Database<Buffer, number>,
    notes: Database<Buffer, string>,
    log: Logger,
  ) {
    this.name = name;
    this.database = database;
    this.notes = notes;
    this.log = log;
  }

  *load(): Generator<readonly [number, Uint8Array]> {
    for (const { key, value } of this.database.getRange()) yield [key, value];
  }

  read(position: number): Uint8Array | null {
    return this.database.get(position) ?? null;
  }

  readNote(): Uint8Array | null {
    return this.notes.get(this.name) ?? null;
  }

  change(
    puts: Iterable<readonly [number, Uint8Array]>,
    removes: readonly number[],
    note: Uint8Array | null = null,
  ): boolean {
    try {
      this.database.transactionSync(() => {
        for (const position of removes) this.database.removeSync(position);
        for (const [position, bytes] of puts) this.database.putSync(position, asBuffer(bytes));
        if (note !== null) this.notes.putSync(this.name, asBuffer(note));
      });
      this.failing = false;
      return true;
    } catch (thrown) {
      if (!this.failing) {
        this.log.error('observations cannot be written to disk; they wait in memory', {
          reason: thrown instanceof Error ? thrown.message : 'unknown',
        });
      }
      this.failing = true;
      return false;
    }
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
