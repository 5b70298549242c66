/**
 * The persistent collections of rules (IP, GLOBAL, SESSION, USER, RESOURCE) in LMDB: shared by all
 * threads of the engine, changed in batches, so that what threads do at the same time adds up.
 * Expired values are dropped when read, forgotten collections swept while writing. Losing the last
 * moments at a power cut is accepted; a torn write is not possible.
 */

import { createHash } from 'node:crypto';
import { open } from 'lmdb';
import type { RootDatabase } from 'lmdb';
import { AppError } from '../../base/errors.ts';
import { stateLimits } from '../base/limits.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import {
  applyChange,
  joinChanges,
  type StoredChange,
  type StoredText,
} from '../base/stored-change.ts';
import { setAsideDamaged } from './damaged-file.ts';
import { openPrivately } from './private-environment.ts';

/**
 * On disk: an array of [name, value, expiresAtMs]. The row without a name says when the collection
 * is forgotten.
 */
type StoredRow = readonly [string, string, number];

/** What is to be done to one collection. */
interface Waiting {
  readonly changes: Map<string, StoredChange>;
  expiresAtMs: number;
}

/** Persistent collections in LMDB. */
export class Collections {
  private readonly database: RootDatabase<readonly StoredRow[], string>;
  private readonly clock: Clock;
  private readonly log: Logger;
  private failing = false;
  /** What is to be written, by key; reading applies it to what the database has. */
  private readonly waiting = new Map<string, Waiting>();
  /** Where the next sweep continues; null: at the beginning. */
  private sweptTo: string | null = null;
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
      const mapSize = stateLimits.collectionsBytesMax;
      this.database = openPrivately(path, () =>
        open({ path, compression: false, noSubdir: false, mapSize }),
      );
    } catch (thrown) {
      throw new AppError('state_unavailable', `cannot open the state store at ${path}`, {
        source: 'storage',
        cause: thrown,
      });
    }
  }

  /** Values that are live; null when nothing is stored. */
  load(collection: string, key: string): Map<string, StoredText> | null {
    const id = keyOf(collection, key);
    const values = this.liveValues(this.database.get(id));
    const waiting = this.waiting.get(id);
    if (waiting !== undefined) applyAll(values, waiting.changes);
    return values.size === 0 ? null : values;
  }

  /** Queues changes for the next batch; the collection is forgotten at `expiresAtMs`. */
  update(
    collection: string,
    key: string,
    changes: ReadonlyMap<string, StoredChange>,
    expiresAtMs: number,
  ): void {
    const id = keyOf(collection, key);
    const waiting = this.waiting.get(id) ?? { changes: new Map(), expiresAtMs };
    waiting.expiresAtMs = expiresAtMs;
    for (const [name, change] of changes) {
      waiting.changes.set(name, joinChanges(waiting.changes.get(name), change));
    }
    this.waiting.delete(id);
    this.waiting.set(id, waiting);
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
        for (const [id, waiting] of this.waiting) this.writeOne(id, waiting);
        this.sweep(2 * this.waiting.size);
      });
      this.waiting.clear();
      this.failing = false;
    } catch (thrown) {
      this.noteFailure(thrown);
      this.timer = setTimeout(() => this.write(), stateLimits.collectionsRetryMs).unref();
    }
  }

  /** Applies changes to what other threads have stored meanwhile. */
  private writeOne(id: string, { changes, expiresAtMs }: Waiting): void {
    const values = this.liveValues(this.database.get(id));
    applyAll(values, changes);
    const rows = [...values].map(([name, { value, expiresAtMs: ends }]): StoredRow => [
      name,
      value,
      ends,
    ]);
    this.database.putSync(id, [['', '', expiresAtMs], ...rows]);
  }

  /** Removes forgotten collections, of at most `count` that it looks at: more than are written. */
  private sweep(count: number): void {
    const seen: string[] = [];
    const forgotten: string[] = [];
    const start = this.sweptTo === null ? {} : { start: this.sweptTo };
    for (const { key, value } of this.database.getRange({ ...start, limit: count })) {
      seen.push(key);
      if (this.liveValues(value).size === 0) forgotten.push(key);
    }
    for (const key of forgotten) this.database.removeSync(key);
    this.sweptTo = seen.length < count ? null : (seen.at(-1) ?? null);
  }

  private liveValues(rows: readonly StoredRow[] | undefined): Map<string, StoredText> {
    const now = this.clock.nowMs();
    const values = new Map<string, StoredText>();
    for (const [name, value, expiresAtMs] of rows ?? []) {
      const live = expiresAtMs === 0 || expiresAtMs > now;
      if (name !== '') {
        if (live) values.set(name, { value, expiresAtMs });
      } else if (!live) return new Map();
    }
    return values;
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
    this.log.error('could not store persistent collections; rules use the values in memory', {
      reason: thrown instanceof Error ? thrown.message : 'unknown',
    });
  }
}

function applyAll(
  values: Map<string, StoredText>,
  changes: ReadonlyMap<string, StoredChange>,
): void {
  for (const [name, change] of changes) {
    const old = values.get(name);
    const after = applyChange(old, change);
    if (after === undefined) values.delete(name);
    else if (old || values.size < stateLimits.collectionValuesMax) values.set(name, after);
  }
}

/** LMDB keys hold at most 1978 bytes; longer ones end in their hash. */
function keyOf(collection: string, key: string): string {
  const id = `${collection}\u0000${key}`;
  const charsMax = stateLimits.collectionKeyCharsMax;
  if (id.length <= charsMax) return id;
  const hash = createHash('sha256').update(id, 'latin1').digest('hex');
  return `${id.slice(0, charsMax - hash.length)}${hash}`;
}
