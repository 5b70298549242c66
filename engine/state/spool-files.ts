/**
 * The LMDB environment in which observations wait for control. A batch that was written survives
 * the process at once and a power cut after moments; a torn write is not possible. What is only
 * removed waits for the next batch: a commit costs more than all that is in it, and what comes back
 * after a kill has its old number. What entries mean is their owner's business.
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
  const environment = new SpoolEnvironment(root, notes, log);
  return {
    store: (name) => new LmdbSpool(environment, name),
    close: () => environment.close(),
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

/** Changes of one stream. */
interface Changes {
  readonly database: Database<Buffer, number>;
  puts: readonly (readonly [number, Uint8Array])[];
  removes: number[];
  note: Uint8Array | null;
}

/** What all streams share: its transactions, and removals that wait for one. */
class SpoolEnvironment {
  private readonly root: RootDatabase<Buffer, number>;
  private readonly notes: Database<Buffer, string>;
  private readonly log: Logger;
  /** By the name of the stream. */
  private readonly changes = new Map<string, Changes>();
  private timer: NodeJS.Timeout | null = null;
  private failing = false;

  constructor(root: RootDatabase<Buffer, number>, notes: Database<Buffer, string>, log: Logger) {
    this.root = root;
    this.notes = notes;
    this.log = log;
  }

  open(name: string): Database<Buffer, number> {
    const database = this.root.openDB<Buffer, number>({ name, encoding: 'binary' });
    this.changes.set(name, { database, puts: [], removes: [], note: null });
    return database;
  }

  readNote(name: string): Uint8Array | null {
    return this.changes.get(name)?.note ?? this.notes.get(name) ?? null;
  }

  /** True when the disk has it, or it only removes: that is done sooner or later. */
  change(
    name: string,
    puts: readonly (readonly [number, Uint8Array])[],
    removes: readonly number[],
    note: Uint8Array | null,
  ): boolean {
    const changes = this.changes.get(name)!;
    for (const position of removes) changes.removes.push(position);
    changes.note = note ?? changes.note;
    if (puts.length === 0 && removes.length > 0) {
      this.timer ??= setTimeout(() => this.commit(), stateLimits.spoolRemovesDelayMs).unref();
      return true;
    }
    changes.puts = puts;
    const written = this.commit();
    // What was refused is its owner's to bring again, with a note of its own.
    changes.puts = [];
    changes.note = null;
    return written;
  }

  async close(): Promise<void> {
    this.commit();
    await this.root.flushed;
    await this.root.close();
  }

  /** Brings all changes to the disk; false when it refuses: removals continue to wait. */
  private commit(): boolean {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    try {
      this.root.transactionSync(() => {
        for (const [name, changes] of this.changes) this.write(name, changes);
      });
    } catch (thrown) {
      if (!this.failing) {
        this.log.error('observations cannot be written to disk; they wait in memory', {
          reason: thrown instanceof Error ? thrown.message : 'unknown',
        });
      }
      this.failing = true;
      return false;
    }
    this.failing = false;
    for (const changes of this.changes.values()) {
      changes.removes = [];
      changes.note = null;
    }
    return true;
  }

  private write(name: string, { database, puts, removes, note }: Changes): void {
    for (const position of removes) database.removeSync(position);
    for (const [position, bytes] of puts) database.putSync(position, asBuffer(bytes));
    if (note !== null) this.notes.putSync(name, asBuffer(note));
  }
}

class LmdbSpool implements SpoolStore {
  private readonly environment: SpoolEnvironment;
  private readonly name: string;
  private readonly database: Database<Buffer, number>;

  constructor(environment: SpoolEnvironment, name: string) {
    this.environment = environment;
    this.name = name;
    this.database = environment.open(name);
  }

  *load(): Generator<readonly [number, Uint8Array]> {
    for (const { key, value } of this.database.getRange()) yield [key, value];
  }

  read(position: number): Uint8Array | null {
    return this.database.get(position) ?? null;
  }

  readNote(): Uint8Array | null {
    return this.environment.readNote(this.name);
  }

  change(
    puts: Iterable<readonly [number, Uint8Array]>,
    removes: readonly number[],
    note: Uint8Array | null = null,
  ): boolean {
    return this.environment.change(this.name, [...puts], removes, note);
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
