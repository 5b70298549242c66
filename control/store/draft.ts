/**
 * Changes that are not in the storage below yet: a layer of keys over a reader, looked at first.
 * Transactions write into one, and it stays over the storage until the disk has it.
 */

import type { KvEntry, KvRange, KvReader } from './kv.ts';

/** A key's new value; null where it is removed. */
export type DraftValue = Uint8Array | null;

type DraftEntry = readonly [key: string, value: DraftValue];

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
  entriesIn(start: string, end: string): DraftEntry[] {
    if (this.values.size === 0) return [];
    const sorted = (this.sorted ??= [...this.values.keys()].sort(compareKeys));
    return sorted
      .slice(placeOf(sorted, start), placeOf(sorted, end))
      .map((key) => [key, this.values.get(key) ?? null]);
  }
}

/** Reads through a draft what lies below. */
export function readThrough(draft: Draft, below: KvReader): KvReader {
  return {
    get: (key) => {
      const changed = draft.get(key);
      return changed === undefined ? below.get(key) : (changed ?? undefined);
    },
    peek: (key) => {
      const changed = draft.get(key);
      return changed === undefined ? below.peek(key) : (changed ?? undefined);
    },
    range: (range) => {
      const own = draft.entriesIn(range.start, range.end);
      return own.length === 0 ? below.range(range) : merged(draft, own, below, range);
    },
  };
}

/**
 * Entries of both in order; those of the draft stand for those below. Both are read as they are
 * when the first is asked for: what the draft forgets meanwhile is not in the state below yet.
 */
function* merged(
  draft: Draft,
  entries: readonly DraftEntry[],
  below: KvReader,
  range: KvRange,
): Generator<KvEntry> {
  const limit = range.limit ?? Number.POSITIVE_INFINITY;
  if (limit <= 0) return;
  const { limit: _limit, ...unbounded } = range;
  const way = range.reverse === true ? -1 : 1;
  const own = way === 1 ? entries : entries.toReversed();
  let given = 0;
  for (const [key, known] of inOrder(own, below.range(unbounded), way)) {
    const changed = draft.get(key);
    // A key that came into the draft meanwhile stands for the one below, too.
    const value = changed === undefined ? known : changed;
    if (value === null) continue;
    yield { key, value: range.keysOnly === true ? noValue : value };
    if (++given >= limit) return;
  }
}

function* inOrder(
  own: readonly DraftEntry[],
  below: Iterable<KvEntry>,
  way: 1 | -1,
): Generator<DraftEntry> {
  let at = 0;
  for (const { key, value } of below) {
    let order = -1;
    while (at < own.length && (order = way * compareKeys(own[at]![0], key)) < 0) yield own[at++]!;
    yield order === 0 ? own[at++]! : [key, value];
  }
  while (at < own.length) yield own[at++]!;
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
