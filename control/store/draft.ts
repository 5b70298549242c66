/**
 * Owns changes that are not in the storage below yet: a layer of keys over a reader, looked at
 * first. Transactions write into one, and it stays over the storage until the disk has it.
 */

import type { KvEntry, KvRange, KvReader } from './kv.ts';

/** A key's new value; null where it is removed. */
export type DraftValue = Uint8Array | null;

const noValue = new Uint8Array();

/** Changed keys in the order of the storage. */
export class Draft {
  private readonly values = new Map<string, DraftValue>();
  /** Keys in order; null until a range asks for them. */
  private sorted: string[] | null = null;

  get size(): number {
    return this.values.size;
  }

  get(key: string): DraftValue | undefined {
    return this.values.get(key);
  }

  /** Cost: constant, or a shift of the keys where a range was read from it. */
  set(key: string, value: DraftValue): void {
    const { sorted } = this;
    if (sorted !== null && !this.values.has(key)) sorted.splice(placeOf(sorted, key), 0, key);
    this.values.set(key, value);
  }

  delete(key: string): void {
    if (this.values.delete(key)) this.sorted = null;
  }

  clear(): void {
    this.values.clear();
    this.sorted = null;
  }

  entries(): Iterable<[string, DraftValue]> {
    return this.values.entries();
  }

  /** Keys from `start` up to `end`, without it. Cost: sorts all keys once after a removal. */
  keysIn(start: string, end: string): string[] {
    if (this.values.size === 0) return [];
    const sorted = (this.sorted ??= [...this.values.keys()].sort(compareKeys));
    return sorted.slice(placeOf(sorted, start), placeOf(sorted, end));
  }
}

/** Reads through a draft what lies below. */
export function readThrough(draft: Draft, below: KvReader): KvReader {
  return {
    get: (key) => {
      const changed = draft.get(key);
      return changed === undefined ? below.get(key) : (changed ?? undefined);
    },
    range: (range) => {
      const keys = draft.keysIn(range.start, range.end);
      return keys.length === 0 ? below.range(range) : merged(draft, keys, below, range);
    },
  };
}

/** Entries of both in order; those of the draft stand for those below. */
function* merged(
  draft: Draft,
  keys: readonly string[],
  below: KvReader,
  range: KvRange,
): Generator<KvEntry> {
  const limit = range.limit ?? Number.POSITIVE_INFINITY;
  if (limit <= 0) return;
  const { limit: _limit, ...unbounded } = range;
  const way = range.reverse === true ? -1 : 1;
  const own = way === 1 ? keys : keys.toReversed();
  let given = 0;
  for (const entry of inOrder(own, below.range(unbounded), way)) {
    const changed = draft.get(entry.key);
    // A key that came into the draft meanwhile stands for the one below, too.
    const value = changed === undefined ? entry.value : changed;
    if (value === null) continue;
    yield { key: entry.key, value: range.keysOnly === true ? noValue : value };
    if (++given >= limit) return;
  }
}

function* inOrder(
  keys: readonly string[],
  below: Iterable<KvEntry>,
  way: 1 | -1,
): Generator<KvEntry> {
  let at = 0;
  for (const entry of below) {
    let order = -1;
    while (at < keys.length && (order = way * compareKeys(keys[at]!, entry.key)) < 0) {
      yield { key: keys[at++]!, value: noValue };
    }
    if (order === 0) at++;
    yield entry;
  }
  while (at < keys.length) yield { key: keys[at++]!, value: noValue };
}

/** Where a key stands, or would stand. */
function placeOf(sorted: readonly string[], key: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (compareKeys(sorted[middle]!, key) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The order of UTF-8 bytes, which differs from that of code units where surrogates stand. */
export function compareKeys(left: string, right: string): number {
  const length = Math.min(left.length, right.length);
  for (let at = 0; at < length; at++) {
    const [one, other] = [left.charCodeAt(at), right.charCodeAt(at)];
    if (one !== other) return rankOf(one) - rankOf(other);
  }
  return left.length - right.length;
}

/** Surrogates stand for code points above all others. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}
