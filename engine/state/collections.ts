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
  /** Writes that LMDB refused since the start (disk full, map full). */
  failedWrites = 0;

  /** Errors: `state_unavailable` when the folder cannot be opened. */
  constructor(path: string, clock: Clock, log: Logger) {
    this.clock = clock;
    this.log = log;
    try {
      this.database = open({ path, compression: false, mapSize: stateLimits.collectionsBytesMax });
    } catch (thrown) {
      throw new AppError('state_unavailable', `cannot open the state store at ${path}`, {
        source: 'storage',
        cause: thrown,
      });
    }
  }

  load(collection: string, key: string): Map<string, StoredText> | null {
    const rows = this.database.get(keyOf(collection, key));
    if (!rows) return null;
    const now = this.clock.nowMs();
    const values = new Map<string, StoredText>();
    for (const [name, value, expiresAtMs] of rows) {
      if (expiresAtMs === 0 || expiresAtMs > now) values.set(name, { value, expiresAtMs });
    }
    return values.size === 0 ? null : values;
  }

  /** Queues the write; a failed one is counted and logged once until one succeeds again. */
  save(collection: string, key: string, values: ReadonlyMap<string, StoredText>): void {
    const id = keyOf(collection, key);
    const rows = [...values]
      .slice(0, stateLimits.collectionValuesMax)
      .map(([name, { value, expiresAtMs }]): StoredRow => [name, value, expiresAtMs]);
    const write = rows.length === 0 ? this.database.remove(id) : this.database.put(id, rows);
    write.then(
      () => {
        this.failing = false;
      },
      (thrown: unknown) => this.noteFailure(thrown),
    );
  }

  async close(): Promise<void> {
    await this.database.flushed;
    await this.database.close();
  }

  private noteFailure(thrown: unknown): void {
    this.failedWrites++;
    if (this.failing) return;
    this.failing = true;
    this.log.error('a persistent collection was not stored; rules go on with what is there', {
      reason: thrown instanceof Error ? thrown.message : 'unknown',
    });
  }
}

/** LMDB keys hold at most 1978 bytes; longer ones are cut, which merges only absurd keys. */
function keyOf(collection: string, key: string): string {
  return `${collection}\u0000${key}`.slice(0, stateLimits.collectionKeyCharsMax);
}
