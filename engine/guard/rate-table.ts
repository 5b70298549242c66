/**
 * Counts of requests by key, in memory that all threads share. A key is counted in one set of rows,
 * under that set's lock, so that what threads do at the same time adds up exactly. A full set gives
 * up the row that ends first.
 *
 * A row is 64 bytes: a hash of 64 bits that stands for the key, when the row ends, until when a
 * mitigation holds, and ten counters of a ninth of the window each. Each counter remembers its
 * latest request to 1/4096 of its span and counts until that one is a window old: never are more
 * requests let through in a window than the limit; after requests that came together it forgets
 * them together, after requests that were spread it is late by a ninth of the window at most.
 */

import type { HashKey } from '../base/half-sip-hash.ts';
import { rateLimits } from '../../base/guard-limits.ts';
import { rateSpanMs, rateSpans } from '../base/rate-spans.ts';
import type {
  KeyHash,
  RateBudget,
  RateNote,
  SavedSets,
  SharedCounts,
} from '../contract/rate-limit.ts';
import { RateJournal, shareJournal } from './rate-journal.ts';

/** What threads are given of a table; cloning it shares the memory. */
export interface SharedRates {
  readonly memory: SharedArrayBuffer;
  readonly sets: number;
  /** Of all hashes; kept with the counts. */
  readonly seed: HashKey;
  /** Notes for other nodes; null where counts stay here. */
  readonly journal: SharedArrayBuffer | null;
}

/** What asking for a key comes to. */
export type RateAnswer = 'pass' | 'over' | 'mitigated';

const { waysPerSet } = rateLimits;
/** Words of a row beside its tag. */
const ROW = 15;
const [HIGH, ENDS, UNTIL, LAST, PLACE, COUNTS] = [0, 1, 2, 3, 4, 5];
const COUNTERS = rateSpans;
const steps = 4096;
const stepBits = 12;
/** What a counter holds at most. */
const countMax = 2 ** (32 - stepBits) - 1;
/** Stands in a row that has no counts yet. */
const uncounted = -1;

/** Memory of the header: rows that were given up, and whether there was ever a ban. */
const HEADER = 16;
const [EVICTED, BANS] = [0, 1];

/** Makes the memory of a table. Its pages are taken when they are written to. */
export function shareRates(
  seed: HashKey,
  sets: number = rateLimits.sets,
  journalled = false,
): SharedRates {
  const words = HEADER + 2 * sets + sets * waysPerSet * (1 + ROW);
  const journal = journalled ? shareJournal() : null;
  return { memory: new SharedArrayBuffer(4 * words), sets, seed, journal };
}

/** A seed for counts that are not kept. */
export function randomSeed(): HashKey {
  const words = new Int32Array(2);
  crypto.getRandomValues(words);
  return [words[0]!, words[1]!];
}

/** One thread's view of the table. */
export class RateTable implements SavedSets, SharedCounts {
  readonly seed: HashKey;
  /** After `over` and `mitigated`: milliseconds until the key may pass again. */
  retryAfterMs = 0;
  /** Requests that count now, without the one that was asked for. */
  used = 0;
  private readonly sets: number;
  private readonly header: Int32Array;
  private readonly locks: Int32Array;
  private readonly changed: Int32Array;
  private readonly tags: Int32Array;
  private readonly rows: Int32Array;
  private readonly journal: RateJournal | null;
  /** Where `takeChanged` continues. */
  private nextSet = 0;

  constructor({ memory, sets, seed, journal }: SharedRates) {
    this.seed = seed;
    this.journal = journal && new RateJournal(journal);
    this.sets = sets;
    let at = 0;
    const take = (words: number): Int32Array => {
      const view = new Int32Array(memory, 4 * at, words);
      at += words;
      return view;
    };
    this.header = take(HEADER);
    this.locks = take(sets);
    this.changed = take(sets);
    this.tags = take(sets * waysPerSet);
    this.rows = take(sets * waysPerSet * ROW);
  }

  /** Rows that were given up for others before they ended. */
  get evicted(): number {
    return Atomics.load(this.header, EVICTED!);
  }

  /** False as long as no ban was ever made: nobody need ask for one. */
  get hasBans(): boolean {
    return Atomics.load(this.header, BANS!) !== 0;
  }

  /**
   * Asks whether one more request of a key passes, and counts it if so. Past the limit the key is
   * mitigated for `mitigationMs`; what is turned away does not count. `dry` changes nothing.
   */
  ask(
    key: KeyHash,
    { requests, windowSeconds }: RateBudget,
    mitigationMs: number,
    nowMs: number,
    dry: boolean,
  ): RateAnswer {
    const set = this.setOf(key);
    this.lock(set);
    const row = this.find(set, key, dry ? -1 : nowMs);
    const answer = row < 0 ? 'pass' : this.askRow(row, requests, windowSeconds * 1000, nowMs);
    if (row < 0) this.used = 0;
    if (row >= 0 && !dry) {
      if (answer === 'pass') this.count(row, windowSeconds * 1000, nowMs);
      else if (answer === 'over' && mitigationMs > 0) this.mitigate(row, nowMs + mitigationMs);
      Atomics.store(this.changed, set, 1);
    }
    this.unlock(set);
    if (this.journal !== null && !dry) {
      const { low, high } = key;
      if (answer === 'pass') this.journal.counted(low, high, windowSeconds, nowMs);
      else if (answer === 'over' && mitigationMs > 0) {
        this.journal.held(low, high, nowMs + mitigationMs);
      }
    }
    if (answer === 'over' && mitigationMs > 0) this.retryAfterMs = mitigationMs;
    return answer;
  }

  /** Turns a key away for some time. */
  ban(key: KeyHash, forMs: number, nowMs: number): void {
    const set = this.setOf(key);
    this.lock(set);
    this.mitigate(this.find(set, key, nowMs), nowMs + forMs);
    Atomics.store(this.changed, set, 1);
    this.unlock(set);
    Atomics.store(this.header, BANS!, 1);
    this.journal?.held(key.low, key.high, nowMs + forMs);
  }

  takeNotes(most: number, nowMs: number): { readonly notes: RateNote[]; readonly lost: number } {
    return this.journal?.take(most, nowMs) ?? { notes: [], lost: 0 };
  }

  addOthers(key: KeyHash, windowSeconds: number, span: number, count: number, nowMs: number): void {
    const set = this.setOf(key);
    const windowMs = windowSeconds * 1000;
    this.lock(set);
    const row = this.find(set, key, nowMs);
    this.roll(row, windowMs, nowMs);
    // A clock that is ahead of ours counts into our latest span.
    const back = Math.max(0, (this.rows[row + LAST!]! - span) | 0);
    if (back < COUNTERS) {
      const place = row + COUNTS! + ((this.rows[row + PLACE!]! + COUNTERS - back) % COUNTERS);
      const sum = Math.min(countMax, (this.rows[place]! >>> stepBits) + count);
      // Their latest request may have come at the end of the span.
      this.rows[place] = (sum << stepBits) | (steps - 1);
      this.extend(row, nowMs + windowMs + spanOf(windowMs));
    }
    Atomics.store(this.changed, set, 1);
    this.unlock(set);
  }

  holdAsOthers(key: KeyHash, untilS: number, nowMs: number): void {
    if (untilS * 1000 <= nowMs) return;
    const set = this.setOf(key);
    this.lock(set);
    const row = this.find(set, key, nowMs);
    if (this.rows[row + UNTIL!]! >>> 0 < untilS) this.mitigate(row, untilS * 1000);
    Atomics.store(this.changed, set, 1);
    this.unlock(set);
    Atomics.store(this.header, BANS!, 1);
  }

  /** True while a key is banned; see `retryAfterMs`. */
  isBanned(key: KeyHash, nowMs: number): boolean {
    const set = this.setOf(key);
    this.lock(set);
    const row = this.find(set, key, -1);
    const leftMs = row < 0 ? 0 : (this.rows[row + UNTIL!]! >>> 0) * 1000 - nowMs;
    this.unlock(set);
    if (leftMs <= 0) return false;
    this.retryAfterMs = leftMs;
    return true;
  }

  takeChanged(most: number): number[] {
    const taken: number[] = [];
    for (let seen = 0; seen < this.sets && taken.length < most; seen++) {
      const set = this.nextSet;
      this.nextSet = (set + 1) % this.sets;
      if (this.changed[set] !== 0 && Atomics.exchange(this.changed, set, 0) !== 0) taken.push(set);
    }
    return taken;
  }

  readSet(set: number, nowMs: number): Uint8Array {
    const kept: number[] = [];
    this.lock(set);
    for (let way = set * waysPerSet; way < (set + 1) * waysPerSet; way++) {
      if (this.tags[way] === 0 || this.hasEnded(way * ROW, nowMs)) continue;
      kept.push(this.tags[way]!, ...this.rows.subarray(way * ROW, (way + 1) * ROW));
    }
    this.unlock(set);
    return new Uint8Array(Int32Array.from(kept).buffer);
  }

  restoreSet(set: number, saved: Uint8Array, nowMs: number): boolean {
    const count = saved.length / (4 * (1 + ROW));
    if (set < 0 || set >= this.sets || !Number.isInteger(count) || count > waysPerSet) return false;
    const words = new Int32Array(saved.slice().buffer);
    this.lock(set);
    for (let at = 0; at < count; at++) {
      const from = at * (1 + ROW);
      const way = set * waysPerSet + at;
      this.rows.set(words.subarray(from + 1, from + 1 + ROW), way * ROW);
      const ended = this.hasEnded(way * ROW, nowMs);
      this.tags[way] = ended ? 0 : words[from]!;
      if (!ended && this.rows[way * ROW + UNTIL!] !== 0) Atomics.store(this.header, BANS!, 1);
    }
    this.unlock(set);
    return true;
  }

  private setOf({ high }: KeyHash): number {
    return (high >>> 0) % this.sets;
  }

  /** The row of a key; a new one unless `newAtMs` is negative, then -1. */
  private find(set: number, { low, high }: KeyHash, newAtMs: number): number {
    const { tags, rows } = this;
    const tag = low === 0 ? 1 : low;
    const first = set * waysPerSet;
    let [free, soonest] = [-1, first];
    for (let way = first; way < first + waysPerSet; way++) {
      if (tags[way] === tag && rows[way * ROW + HIGH!] === high) return way * ROW;
      if (free >= 0 || newAtMs < 0) continue;
      if (tags[way] === 0 || this.hasEnded(way * ROW, newAtMs)) free = way;
      else if (this.endOf(way * ROW) < this.endOf(soonest * ROW)) soonest = way;
    }
    if (newAtMs < 0) return -1;
    if (free < 0) Atomics.add(this.header, EVICTED!, 1);
    const way = free < 0 ? soonest : free;
    tags[way] = tag;
    rows.fill(0, way * ROW, (way + 1) * ROW);
    rows[way * ROW + HIGH!] = high;
    rows[way * ROW + PLACE!] = uncounted;
    return way * ROW;
  }

  private endOf(row: number): number {
    return this.rows[row + ENDS!]! >>> 0;
  }

  private hasEnded(row: number, nowMs: number): boolean {
    return this.endOf(row) * 1000 <= nowMs;
  }

  private askRow(row: number, limit: number, windowMs: number, nowMs: number): RateAnswer {
    const { rows } = this;
    const untilMs = (rows[row + UNTIL!]! >>> 0) * 1000;
    if (untilMs > nowMs) {
      this.used = limit;
      this.retryAfterMs = untilMs - nowMs;
      return 'mitigated';
    }
    this.used = 0;
    if (rows[row + PLACE!] === uncounted) return 'pass';
    const spanMs = spanOf(windowMs);
    const age = ageOf(rows[row + LAST!]!, nowMs, spanMs);
    const last = Math.floor(nowMs / spanMs) - age;
    let [used, oldestMs] = [0, 0];
    for (let back = COUNTERS - 1; back >= 0; back--) {
      const entry = rows[row + COUNTS! + ((rows[row + PLACE!]! + COUNTERS - back) % COUNTERS)]!;
      const count = entry >>> stepBits;
      if (count === 0) continue;
      const latestMs = (last - back) * spanMs + (((entry & (steps - 1)) + 1) * spanMs) / steps;
      if (latestMs + windowMs <= nowMs) continue;
      if (used === 0) oldestMs = latestMs;
      used += count;
    }
    this.used = used;
    if (used < limit) return 'pass';
    this.retryAfterMs = Math.max(1, oldestMs + windowMs - nowMs);
    return 'over';
  }

  private count(row: number, windowMs: number, nowMs: number): void {
    const { rows } = this;
    const spanMs = spanOf(windowMs);
    const age = this.roll(row, windowMs, nowMs);
    const place = row + COUNTS! + rows[row + PLACE!]!;
    const entry = rows[place]!;
    const step = age < 0 ? steps - 1 : Math.floor(((nowMs % spanMs) * steps) / spanMs);
    const latest = Math.max(step, entry & (steps - 1));
    rows[place] = (((entry >>> stepBits) + 1) << stepBits) | latest;
    this.extend(row, nowMs + windowMs + spanMs);
  }

  /** Makes the span of now the latest; answers how many spans later it is. */
  private roll(row: number, windowMs: number, nowMs: number): number {
    const { rows } = this;
    const spanMs = spanOf(windowMs);
    if (rows[row + PLACE!] === uncounted) {
      rows[row + PLACE!] = 0;
      rows[row + LAST!] = Math.floor(nowMs / spanMs) | 0;
    }
    const age = ageOf(rows[row + LAST!]!, nowMs, spanMs);
    // A clock that went back counts into the latest span.
    for (let at = 1; at <= Math.min(age, COUNTERS); at++) {
      rows[row + COUNTS! + ((rows[row + PLACE!]! + at) % COUNTERS)] = 0;
    }
    if (age > 0) {
      rows[row + PLACE!] = (rows[row + PLACE!]! + age) % COUNTERS;
      rows[row + LAST!] = Math.floor(nowMs / spanMs) | 0;
    }
    return age;
  }

  private mitigate(row: number, untilMs: number): void {
    this.rows[row + UNTIL!] = Math.ceil(untilMs / 1000) | 0;
    this.extend(row, untilMs);
  }

  private extend(row: number, endMs: number): void {
    const ends = Math.ceil(endMs / 1000);
    if (ends > this.endOf(row)) this.rows[row + ENDS!] = ends | 0;
  }

  private lock(set: number): void {
    const { locks } = this;
    for (let tries = 0; Atomics.compareExchange(locks, set, 0, 1) !== 0; tries++) {
      if (tries < rateLimits.lockSpins) continue;
      // Whoever holds it is not running; a thread that ended in between never gives it back.
      Atomics.wait(locks, set, 1, 1);
      if (tries > rateLimits.lockSpins + rateLimits.lockWaitsMax) break;
    }
  }

  private unlock(set: number): void {
    Atomics.store(this.locks, set, 0);
    Atomics.notify(this.locks, set, 1);
  }
}

function spanOf(windowMs: number): number {
  return rateSpanMs(windowMs / 1000);
}

/** Spans between the last counted request and now; kept spans wrap at 32 bits. */
function ageOf(last: number, nowMs: number, spanMs: number): number {
  return (Math.floor(nowMs / spanMs) - last) | 0;
}
