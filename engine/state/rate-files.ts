/**
 * Keeps the counts of rate limits and their bans in LMDB, so that a restart forgets neither. What
 * was counted within a second before a kill is lost.
 */

import { randomBytes } from 'node:crypto';
import { open, type RootDatabase } from 'lmdb';
import type { Clock } from '../../base/clock.ts';
import { AppError, toAppError } from '../../base/errors.ts';
import type { HashKey } from '../base/half-sip-hash.ts';
import { rateLimits } from '../../base/guard-limits.ts';
import type { Logger } from '../../base/log.ts';
import type { SavedSets } from '../contract/rate-limit.ts';
import { setAsideDamaged } from './damaged-file.ts';
import { openPrivately } from './private-environment.ts';

/** Under which the key of all hashes stands; sets stand under their numbers. */
const seedName = 'seed';
const seedBytes = 8;
/** What other nodes know this one by. */
const nodeName = 'node';
/** Rows of another arrangement would stand in the wrong sets. */
const layoutName = 'layout';
const layout = `${rateLimits.sets}x${rateLimits.waysPerSet}`;

/** The file of one engine. */
export class RateFiles {
  /** Of all hashes; made once, so that what is kept can be found again. */
  readonly seed: HashKey;
  /** Stands for this node where counts are shared; kept as long as they are. */
  readonly nodeId: string;
  private readonly database: RootDatabase<Uint8Array, string | number>;
  private readonly clock: Clock;
  private readonly log: Logger;
  private failing = false;
  private timer: NodeJS.Timeout | null = null;
  private sets: SavedSets | null = null;

  /**
   * With `sharedSeed`, what was kept under another is forgotten: nobody would find it again.
   * Errors: `state_unavailable` when the folder cannot be opened.
   */
  constructor(path: string, clock: Clock, log: Logger, sharedSeed: HashKey | null = null) {
    this.clock = clock;
    this.log = log;
    try {
      setAsideDamaged(path, 'the store of rate limits', log);
      const mapSize = rateLimits.savedBytesMax;
      this.database = openPrivately(path, () =>
        open({ path, encoding: 'binary', compression: false, noSubdir: false, mapSize }),
      );
      this.clearOtherLayout();
      if (sharedSeed !== null) this.useSeed(sharedSeed);
      this.seed = this.readSeed();
      this.nodeId = this.readNodeId();
    } catch (cause) {
      const message = `cannot open the store of rate limits at ${path}`;
      throw new AppError('state_unavailable', message, { source: 'storage', cause });
    }
  }

  /** Restores what is kept, then keeps what changes, every second. */
  follow(sets: SavedSets): void {
    const nowMs = this.clock.nowMs();
    for (const { key, value } of this.database.getRange({})) {
      if (typeof key === 'number') sets.restoreSet(key, value, nowMs);
    }
    this.sets = sets;
    this.timer = setInterval(() => this.save(), rateLimits.saveEveryMs).unref();
  }

  /** Writes what changed; sets that could not be written are tried again with their next change. */
  save(): void {
    const changed = this.sets?.takeChanged(rateLimits.savedSetsMax) ?? [];
    if (changed.length === 0) return;
    const nowMs = this.clock.nowMs();
    try {
      this.database.transactionSync(() => {
        for (const set of changed) {
          const rows = this.sets!.readSet(set, nowMs);
          if (rows.length === 0) this.database.removeSync(set);
          else this.database.putSync(set, Buffer.from(rows.buffer));
        }
      });
      this.failing = false;
    } catch (thrown) {
      if (this.failing) return;
      this.failing = true;
      this.log.error('counts of rate limits cannot be saved; a restart will forget them', {
        reason: thrown instanceof Error ? thrown.message : String(thrown),
      });
    }
  }

  async close(): Promise<void> {
    if (this.timer !== null) clearInterval(this.timer);
    // Threads are gone by now: a few rounds take all that is left.
    const rounds = Math.ceil(rateLimits.sets / rateLimits.savedSetsMax);
    for (let round = 0; round < rounds; round++) this.save();
    await this.database.flushed;
    await this.database.close();
  }

  private clearOtherLayout(): void {
    const kept = this.database.get(layoutName);
    if (kept !== undefined && Buffer.from(kept).toString() === layout) return;
    this.database.clearSync();
    this.database.putSync(layoutName, Buffer.from(layout));
  }

  private useSeed(seed: HashKey): void {
    const bytes = Buffer.alloc(seedBytes);
    seed.forEach((word, at) => bytes.writeInt32LE(word, 4 * at));
    const kept = this.database.get(seedName);
    if (kept !== undefined && bytes.equals(kept)) return;
    this.database.clearSync();
    this.database.putSync(layoutName, Buffer.from(layout));
    this.database.putSync(seedName, bytes);
  }

  private readNodeId(): string {
    const kept = this.database.get(nodeName);
    if (kept !== undefined) return Buffer.from(kept).toString();
    const made = randomBytes(seedBytes).toString('hex');
    this.database.putSync(nodeName, Buffer.from(made));
    return made;
  }

  private readSeed(): HashKey {
    const kept = this.database.get(seedName);
    const bytes = kept?.length === seedBytes ? Buffer.from(kept) : randomBytes(seedBytes);
    if (bytes.length !== kept?.length) this.database.putSync(seedName, bytes);
    return [bytes.readInt32LE(0), bytes.readInt32LE(4)];
  }
}

/** Null where they cannot be kept: limits still hold, until the next start. */
export function tryOpenRateFiles(
  folder: string,
  clock: Clock,
  log: Logger,
  sharedSeed: HashKey | null = null,
): RateFiles | null {
  try {
    return new RateFiles(folder, clock, log, sharedSeed);
  } catch (thrown) {
    log.error('counts of rate limits are not kept', { reason: toAppError(thrown).message });
    return null;
  }
}
