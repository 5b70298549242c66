/**
 * How the entries of an IP list are laid out: chunks of sorted keys that are never changed, only
 * replaced, and a directory of them. A million entries are some 490 chunks and one directory; a
 * look-up reads a few chunks, an edit rewrites those that it touches. Never reads the store.
 */

import { createHash } from 'node:crypto';
import { familyOf, keyWidth, maskKey, prefixOf } from '../../../base/ip-address.ts';

/** What an operator said of an entry. */
export interface EntryDetail {
  readonly note?: string;
  /** RFC 3339 with milliseconds, UTC; texts of it sort by time. */
  readonly expiresAt?: string;
}

/** One entry: its key, see base/ip-address.ts, and what was said of it. */
export interface IpEntry extends EntryDetail {
  readonly key: string;
}

/** Entries of one family in the order of their keys. */
export interface IpListChunk {
  readonly id: string;
  /** Keys one after another; all have the width of the family. */
  readonly keys: string;
  /** Details by key; most entries have none. */
  readonly details?: Readonly<Record<string, EntryDetail>>;
}

/** What a directory knows of a chunk. */
export interface ChunkRef {
  readonly id: string;
  /** First key. */
  readonly first: string;
  readonly count: number;
  readonly digest: string;
  /** When the first of its entries lapses; absent for never. */
  readonly expiresAt?: string;
}

/** The directory of a list. */
export interface IpListContent {
  /** The list's id, with a suffix for an update that is held back. */
  readonly id: string;
  /** Identity of the content. */
  readonly etag: string;
  readonly ipv4Count: number;
  readonly ipv6Count: number;
  /** How many entries have which family and prefix, for example {'4/32': 10}. */
  readonly prefixes: Readonly<Record<string, number>>;
  /** In the order of their keys. */
  readonly chunks: readonly ChunkRef[];
  /** When the content last changed, RFC 3339; absent before it is kept. */
  readonly changedAt?: string;
}

/** Finds a chunk. */
export type ReadChunk = (id: string) => IpListChunk | undefined;

/** A directory with chunks that are to be kept, and those that nothing needs any more. */
export interface ContentChange {
  readonly content: IpListContent;
  readonly added: readonly IpListChunk[];
  readonly removed: readonly string[];
}

/** Entries of one chunk; an edit that makes more splits it. */
export const chunkEntriesMax = 2048;

/** The directory of no entries. */
export function emptyContent(id: string): IpListContent {
  return { id, etag: etagOf([]), ipv4Count: 0, ipv6Count: 0, prefixes: {}, chunks: [] };
}

/** Number of entries. */
export function countOf({ ipv4Count, ipv6Count }: IpListContent): number {
  return ipv4Count + ipv6Count;
}

/** Entries of a chunk, in order. Cost: one small string an entry. */
export function* entriesOf(chunk: IpListChunk): Generator<IpEntry> {
  for (const key of keysOf(chunk)) {
    const detail = chunk.details?.[key];
    yield detail === undefined ? { key } : { key, ...detail };
  }
}

/** Keys of a chunk, in order. */
export function keysOf({ keys }: IpListChunk): string[] {
  if (keys === '') return [];
  const width = keyWidth[familyOf(keys)];
  const found: string[] = new Array(keys.length / width);
  for (let at = 0, start = 0; start < keys.length; at++, start += width) {
    found[at] = keys.slice(start, start + width);
  }
  return found;
}

/** Takes sorted entries, each key once, and makes chunks and their directory of them. */
export class ContentBuilder {
  private readonly id: string;
  private readonly makeId: () => string;
  private readonly refs: ChunkRef[] = [];
  private readonly counts = { '4': 0, '6': 0 };
  private readonly prefixes: Record<string, number> = {};
  private waiting: IpEntry[] = [];

  /** `makeId` gives ids that no chunk ever had; `before` is what an edit goes out from. */
  constructor(id: string, makeId: () => string, before?: IpListContent) {
    this.id = id;
    this.makeId = makeId;
    if (before === undefined) return;
    this.counts['4'] = before.ipv4Count;
    this.counts['6'] = before.ipv6Count;
    Object.assign(this.prefixes, before.prefixes);
  }

  /** Takes the next entry; a chunk that became full with it, or null. */
  add(entry: IpEntry): IpListChunk | null {
    const first = this.waiting[0];
    const full =
      first !== undefined &&
      (this.waiting.length >= chunkEntriesMax || first.key[0] !== entry.key[0])
        ? this.flush()
        : null;
    this.waiting.push(entry);
    return full;
  }

  /** Keeps a chunk of the directory before as it is; only between `flush` and `add`. */
  keep(ref: ChunkRef): void {
    this.refs.push(ref);
  }

  /** Takes a chunk of the directory before out. */
  drop(chunk: IpListChunk): void {
    for (const key of keysOf(chunk)) this.count(key, -1);
  }

  /** The chunk of what was added since the last; null when nothing was. */
  flush(): IpListChunk | null {
    const entries = this.waiting;
    const first = entries[0];
    if (first === undefined) return null;
    this.waiting = [];
    const details: Record<string, EntryDetail> = {};
    let expiresAt = '';
    for (const { key, note, expiresAt: ends } of entries) {
      this.count(key, 1);
      if (note === undefined && ends === undefined) continue;
      details[key] = {
        ...(note === undefined ? {} : { note }),
        ...(ends === undefined ? {} : { expiresAt: ends }),
      };
      if (ends !== undefined && (expiresAt === '' || ends < expiresAt)) expiresAt = ends;
    }
    const keys = entries.map(({ key }) => key).join('');
    const described = Object.keys(details).length > 0;
    const chunk = { id: this.makeId(), keys, ...(described ? { details } : {}) };
    const digest = createHash('sha256').update(keys).update(JSON.stringify(details)).digest('hex');
    const { id } = chunk;
    const ends = expiresAt === '' ? {} : { expiresAt };
    this.refs.push({ id, first: first.key, count: entries.length, digest, ...ends });
    return chunk;
  }

  /** The directory; after `flush`. */
  content(): IpListContent {
    return {
      id: this.id,
      etag: etagOf(this.refs),
      ipv4Count: this.counts['4'],
      ipv6Count: this.counts['6'],
      prefixes: this.prefixes,
      chunks: this.refs,
    };
  }

  private count(key: string, by: 1 | -1): void {
    const family = familyOf(key);
    this.counts[family] += by;
    const name = `${family}/${prefixOf(key)}`;
    const count = (this.prefixes[name] ?? 0) + by;
    if (count === 0) delete this.prefixes[name];
    else this.prefixes[name] = count;
  }
}

/** A directory of sorted entries, each key once. */
export function buildContent(
  id: string,
  entries: Iterable<IpEntry>,
  makeId: () => string,
): ContentChange {
  const builder = new ContentBuilder(id, makeId);
  const added: IpListChunk[] = [];
  const take = (chunk: IpListChunk | null): void => {
    if (chunk !== null) added.push(chunk);
  };
  for (const entry of entries) take(builder.add(entry));
  take(builder.flush());
  return { content: builder.content(), added, removed: [] };
}

/**
 * The content with entries set and keys removed; unknown keys to remove are passed over. Cost: the
 * chunks that are touched are read and written anew, the others stay.
 */
export function editContent(
  before: IpListContent,
  readChunk: ReadChunk,
  set: ReadonlyMap<string, IpEntry>,
  remove: ReadonlySet<string>,
  makeId: () => string,
): ContentChange {
  const touched = [...new Set([...set.keys(), ...remove])].sort();
  const builder = new ContentBuilder(before.id, makeId, before);
  const added: IpListChunk[] = [];
  const removed: string[] = [];
  const take = (chunk: IpListChunk | null): void => {
    if (chunk !== null) added.push(chunk);
  };
  let at = 0;
  const addAll = (entries: readonly IpEntry[]): void => {
    // Even pieces: a full chunk that grows would else shed chunks of one entry again and again.
    const pieces = Math.ceil(entries.length / chunkEntriesMax);
    const size = Math.ceil(entries.length / pieces);
    entries.forEach((entry, index) => {
      if (index % size === 0) take(builder.flush());
      take(builder.add(entry));
    });
    take(builder.flush());
  };
  if (before.chunks.length === 0) addAll(merged([], touched, set));
  before.chunks.forEach((ref, index) => {
    const next = before.chunks[index + 1];
    const start = at;
    while (at < touched.length && (next === undefined || touched[at]! < next.first)) at++;
    const mine = touched.slice(start, at);
    if (mine.length === 0) return builder.keep(ref);
    const chunk = readChunk(ref.id);
    if (chunk !== undefined) builder.drop(chunk);
    removed.push(ref.id);
    addAll(merged(chunk === undefined ? [] : [...entriesOf(chunk)], mine, set));
  });
  return { content: builder.content(), added, removed };
}

/** Entries of a chunk with the touched keys (sorted, each once) set or left out. */
function merged(
  old: readonly IpEntry[],
  touched: readonly string[],
  set: ReadonlyMap<string, IpEntry>,
): IpEntry[] {
  const result: IpEntry[] = [];
  const takeTouched = (key: string): void => {
    const fresh = set.get(key);
    if (fresh !== undefined) result.push(fresh);
  };
  let at = 0;
  for (const entry of old) {
    while (at < touched.length && touched[at]! < entry.key) takeTouched(touched[at++]!);
    if (touched[at] === entry.key) takeTouched(touched[at++]!);
    else result.push(entry);
  }
  while (at < touched.length) takeTouched(touched[at++]!);
  return result;
}

/** Every entry in order. Who reads across turns may find chunks gone: `onGone` then throws. */
export function* allEntries(
  content: IpListContent,
  readChunk: ReadChunk,
  onGone: () => void = () => undefined,
): Generator<IpEntry> {
  for (const { id } of content.chunks) {
    const chunk = readChunk(id);
    if (chunk === undefined) onGone();
    else yield* entriesOf(chunk);
  }
}

/** Entries that hold the address or network of `key`, widest first. Lapsed ones count. */
export function entriesHolding(
  content: IpListContent,
  readChunk: ReadChunk,
  key: string,
): IpEntry[] {
  const family = familyOf(key);
  const found: IpEntry[] = [];
  for (let prefix = 0; prefix <= prefixOf(key); prefix++) {
    if (content.prefixes[`${family}/${prefix}`] === undefined) continue;
    const wanted = maskKey(key, prefix);
    const ref = chunkFor(content, wanted);
    const chunk = ref === undefined ? undefined : readChunk(ref.id);
    if (chunk === undefined || !holdsKey(chunk, wanted)) continue;
    found.push({ key: wanted, ...chunk.details?.[wanted] });
  }
  return found;
}

/** Whether an entry no longer counts. */
export function hasLapsed(entry: EntryDetail, now: string): boolean {
  return entry.expiresAt !== undefined && entry.expiresAt <= now;
}

/** When the first entry lapses; '' for never. */
export function nextExpiry({ chunks }: IpListContent): string {
  let first = '';
  for (const { expiresAt } of chunks) {
    if (expiresAt !== undefined && (first === '' || expiresAt < first)) first = expiresAt;
  }
  return first;
}

function chunkFor({ chunks }: IpListContent, key: string): ChunkRef | undefined {
  let low = 0;
  let high = chunks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (chunks[middle]!.first <= key) low = middle + 1;
    else high = middle;
  }
  return chunks[low - 1];
}

function holdsKey({ keys }: IpListChunk, key: string): boolean {
  const width = key.length;
  if (keys.charAt(0) !== key.charAt(0)) return false;
  let low = 0;
  let high = keys.length / width;
  while (low < high) {
    const middle = (low + high) >> 1;
    const found = keys.slice(middle * width, (middle + 1) * width);
    if (found === key) return true;
    if (found < key) low = middle + 1;
    else high = middle;
  }
  return false;
}

function etagOf(refs: readonly ChunkRef[]): string {
  const hash = createHash('sha256');
  for (const { digest } of refs) hash.update(digest);
  return hash.digest('hex').slice(0, 32);
}
