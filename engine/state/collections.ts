/**
 * Owns the persistent collections of rules (IP, GLOBAL, SESSION, USER, RESOURCE) in LMDB: shared by
 * all threads of the engine, written in batches, expired values dropped when read. Losing the last
 * moments at a power cut is accepted; a torn write is not possible.
 */

import { open } from 'lmdb';
import type { RootDatabase } from 'lmdb';
import { AppError } from '../base/errors.ts';
import { stateLimits } from '../base/limits.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { setAsideDamaged } from './damaged-file.ts';

/** As the rules see it; the same shape as the rule ports' stored value. */
export interface StoredText {
  readonly value: string;
  readonly expiresAtMs: number;
}

/** On disk: an array of [name, value, expiresAtMs]. */
type StoredRow = readonly [string, string, number];

/** Persistent collections in LMDB. */
export class Collections {
  private readonly database: RootDatabase<readonly StoredRow[], string>;
  private readonly clock: Clock;
  private readonly log: Logger;
  private failing = false;
  /** What is to be written, by key; read before the database is. */
  private readonly waiting = new Map<string, readonly StoredRow[]>();
  private timer: NodeJS.Timeout | null = null;
  /** Batches that LMDB refused since the start (disk full, map full); they are tried again. */
  failedWrites = 0;
  /** Collections that were given up because too many waited. */
  droppedWrites = 0;

  /** Errors: `state_unavailable` when the folder cannot be opened. */
  constructor(path: string, clock: Clock, log: Logger) {
    this.clock = clock;
    this.log = log;
    try {
      setAsideDamaged(path, 'the store of persistent collections', log);
      this.database = open({ path, compression: false, mapSize: stateLimits.collectionsBytesMax });
    } catch (thrown) {
      throw new AppError('state_unavailable', `cannot open the state store at ${path}`, {
        source: 'storage',
        cause: thrown,
      });
    }
  }

  load(collection: string, key: string): Map<string, StoredText> | null {
    const id = keyOf(collection, key);
    const rows = this.waiting.get(id) ?? this.database.get(id);
    if (!rows) return null;
    const now = this.clock.nowMs();
    const values = new Map<string, StoredText>();
    for (const [name, value, expiresAtMs] of rows) {
      if (expiresAtMs === 0 || expiresAtMs > now) values.set(name, { value, expiresAtMs });
    }
    return values.size === 0 ? null : values;
  }

  /** Queues the write for the next batch; the newest of one collection counts. */
  save(collection: string, key: string, values: ReadonlyMap<string, StoredText>): void {
    const id = keyOf(collection, key);
    const rows = [...values]
      .slice(0, stateLimits.collectionValuesMax)
      .map(([name, { value, expiresAtMs }]): StoredRow => [name, value, expiresAtMs]);
    this.waiting.delete(id);
    this.waiting.set(id, rows);
    if (this.waiting.size > stateLimits.collectionsWaitingMax) this.dropOldest();
    this.timer ??= setTimeout(() => this.write(), stateLimits.collectionsBatchMs).unref();
  }

  async close(): Promise<void> {
    if (this.waiting.size > 0) this.write();
    if (this.timer) clearTimeout(this.timer);
    await this.database.flushed;
    await this.database.close();
  }

  /**
   * Writes what waits, in one transaction: all or nothing. LMDB's own queue is not used, because a
   * full disk makes it reject promises that nobody can catch.
   */
  private write(): void {
    this.timer = null;
    try {
      this.database.transactionSync(() => {
        for (const [id, rows] of this.waiting) {
          if (rows.length === 0) this.database.removeSync(id);
          else this.database.putSync(id, rows);
        }
      });
      this.waiting.clear();
      this.failing = false;
    } catch (thrown) {
      this.noteFailure(thrown);
      this.timer = setTimeout(() => this.write(), stateLimits.collectionsRetryMs).unref();
    }
  }

  private dropOldest(): void {
    const [oldest] = this.waiting.keys();
    if (oldest !== undefined) this.waiting.delete(oldest);
    this.droppedWrites++;
  }

  private noteFailure(thrown: unknown): void {
    this.failedWrites++;
    if (this.failing) return;
    this.failing = true;
    this.log.error('persistent collections are not stored; rules go on with what is in memory', {
      reason: thrown instanceof Error ? thrown.message : 'unknown',
    });
  }
}

/** LMDB keys hold at most 1978 bytes; longer ones are cut, which merges only absurd keys. */
function keyOf(collection: string, key: string): string {
  return `${collection}\u0000${key}`.slice(0, stateLimits.collectionKeyCharsMax);
}
