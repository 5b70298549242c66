/**
 * Makes the entries of an IP list into ranges that a look-up searches: nested networks become one
 * range, and a part of a network keeps the latest time at which an entry that holds it lapses.
 * Pure. Cost: linear; about 0.1 s for a million entries, 1 s where entries lapse.
 */

import type { RuntimeIpList } from '../../proto/gen/waf/runtime/v1/access_pb.ts';
import { AppError } from '../../base/errors.ts';
import { guardLimits } from '../../base/guard-limits.ts';
import { sixteenBits } from '../../base/ip-address.ts';
import type { IpRanges, IpSet } from '../contract/access.ts';

/** Short lists are searched as fast without an index. */
const indexedFrom = 256;
const indexPlaces = 65_537;

/** The ranges of a list. Errors: AppError bundle_invalid for entries that are not in order. */
export function makeIpSet(list: RuntimeIpList): IpSet {
  const ipv4 = new Entries(list, list.ipv4, 1);
  const ipv6 = new Entries(list, list.ipv6, 4);
  if (ipv4.count + ipv6.count > guardLimits.listEntriesMax) {
    throw invalid(list, `has more than ${guardLimits.listEntriesMax} entries`);
  }
  if (list.expiries.length === 0) return { v4: joinRanges(ipv4), v6: joinRanges(ipv6) };
  const lapses = new Map(list.expiries.map(({ index, atMs }) => [index, Number(atMs)]));
  return { v4: layRanges(ipv4, lapses, 0), v6: layRanges(ipv6, lapses, ipv4.count) };
}

/** Sets by list and content: a publication that changes no list makes none. */
export class IpSets {
  private readonly made = new Map<string, { readonly etag: string; readonly set: IpSet }>();

  /** The ranges of a list; those made before where the content is the same. */
  of(list: RuntimeIpList): IpSet {
    const known = this.made.get(list.id);
    if (known !== undefined && list.etag !== '' && known.etag === list.etag) return known.set;
    const set = makeIpSet(list);
    this.made.set(list.id, { etag: list.etag, set });
    return set;
  }

  /** Forgets the lists that are not among those of the bundle that came last. */
  keep(ids: ReadonlySet<string>): void {
    for (const id of this.made.keys()) if (!ids.has(id)) this.made.delete(id);
  }
}

/** Packed entries of one family: address and prefix length, sorted. */
class Entries {
  readonly count: number;
  readonly width: 1 | 4;
  private readonly list: RuntimeIpList;
  private readonly bytes: DataView;
  private readonly stride: number;

  constructor(list: RuntimeIpList, bytes: Uint8Array, width: 1 | 4) {
    this.list = list;
    this.bytes = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.width = width;
    this.stride = width * 4 + 1;
    this.count = bytes.length / this.stride;
    if (!Number.isInteger(this.count)) throw invalid(list, 'ends within an entry');
    this.check();
  }

  word(entry: number, word: number): number {
    return this.bytes.getUint32(entry * this.stride + word * 4);
  }

  /** A word of the last address of the network. */
  endWord(entry: number, word: number): number {
    const free = 32 - Math.min(32, Math.max(0, this.prefix(entry) - word * 32));
    const ones = free === 32 ? 0xffffffff : 2 ** free - 1;
    return (this.word(entry, word) | ones) >>> 0;
  }

  private prefix(entry: number): number {
    return this.bytes.getUint8(entry * this.stride + this.stride - 1);
  }

  private check(): void {
    for (let entry = 0; entry < this.count; entry++) {
      if (this.prefix(entry) > this.width * 32) throw invalid(this.list, 'has a bad prefix length');
      if (entry > 0 && this.compare(entry - 1, entry) > 0) {
        throw invalid(this.list, 'has entries that are not in order');
      }
    }
  }

  private compare(left: number, right: number): number {
    for (let word = 0; word < this.width; word++) {
      const difference = this.word(left, word) - this.word(right, word);
      if (difference !== 0) return difference;
    }
    return this.prefix(left) - this.prefix(right);
  }
}

/** Ranges that never lapse: a network within another one adds nothing. */
function joinRanges(entries: Entries): IpRanges {
  const { width } = entries;
  const outer: number[] = [];
  for (let entry = 0; entry < entries.count; entry++) {
    const last = outer.at(-1);
    if (last === undefined || endsBefore(entries, last, entry)) outer.push(entry);
  }
  const starts = words(outer.length * width);
  const ends = words(outer.length * width);
  outer.forEach((entry, at) => {
    for (let word = 0; word < width; word++) {
      starts[at * width + word] = entries.word(entry, word);
      ends[at * width + word] = entries.endWord(entry, word);
    }
  });
  return { width, count: outer.length, starts, ends, expiresAtMs: null, ...indexOf(starts, width) };
}

/** True when the network of `left` ends before that of `right` begins. */
function endsBefore(entries: Entries, left: number, right: number): boolean {
  for (let word = 0; word < entries.width; word++) {
    const [end, start] = [entries.endWord(left, word), entries.word(right, word)];
    if (end !== start) return end < start;
  }
  return false;
}

interface Range {
  readonly start: bigint;
  readonly end: bigint;
  readonly expiresAtMs: number;
}

/** Ranges that lapse: each part has the latest time of the networks that hold it. */
function layRanges(entries: Entries, lapses: ReadonlyMap<number, number>, first: number): IpRanges {
  const laid: Range[] = [];
  const open: Range[] = [];
  let cursor = 0n;
  const close = (before: bigint): void => {
    for (let top = open.at(-1); top !== undefined && top.end < before; top = open.at(-1)) {
      open.pop();
      if (cursor <= top.end) laid.push({ ...top, start: cursor });
      if (top.end >= cursor) cursor = top.end + 1n;
    }
  };
  for (let entry = 0; entry < entries.count; entry++) {
    const [start, end] = [boundOf(entries, entry, 'word'), boundOf(entries, entry, 'endWord')];
    close(start);
    const outer = open.at(-1);
    if (outer !== undefined && cursor < start)
      laid.push({ ...outer, start: cursor, end: start - 1n });
    const own = lapses.get(first + entry) ?? Infinity;
    open.push({ start, end, expiresAtMs: Math.max(own, outer?.expiresAtMs ?? 0) });
    cursor = start;
  }
  close(1n << 128n);
  return packRanges(laid, entries.width);
}

function boundOf(entries: Entries, entry: number, bound: 'word' | 'endWord'): bigint {
  let value = 0n;
  for (let word = 0; word < entries.width; word++) {
    value = (value << 32n) | BigInt(entries[bound](entry, word));
  }
  return value;
}

function packRanges(laid: readonly Range[], width: 1 | 4): IpRanges {
  const starts = words(laid.length * width);
  const ends = words(laid.length * width);
  const expiresAtMs = new Float64Array(new SharedArrayBuffer(laid.length * 8));
  laid.forEach((range, at) => {
    expiresAtMs[at] = range.expiresAtMs;
    for (let word = 0; word < width; word++) {
      const shift = BigInt(32 * (width - 1 - word));
      starts[at * width + word] = Number((range.start >> shift) & 0xffffffffn);
      ends[at * width + word] = Number((range.end >> shift) & 0xffffffffn);
    }
  });
  return { width, count: laid.length, starts, ends, expiresAtMs, ...indexOf(starts, width) };
}

/** By 16 bits after those that all starts share: how many ranges start below. */
function indexOf(starts: Uint32Array, width: 1 | 4): Pick<IpRanges, 'index' | 'indexBit'> {
  const count = starts.length / width;
  if (count < indexedFrom) return { index: null, indexBit: 0 };
  const indexBit = Math.min(sharedBits(starts, width), width * 32 - 16);
  const index = words(indexPlaces);
  let range = 0;
  for (let value = 0; value < indexPlaces; value++) {
    while (range < count && sixteenBits(starts, range * width, indexBit) < value) range++;
    index[value] = range;
  }
  return { index, indexBit };
}

/** Bits that the first start and the last one have in common: all others have them, too. */
function sharedBits(starts: Uint32Array, width: number): number {
  const last = starts.length - width;
  for (let word = 0; word < width; word++) {
    const difference = (starts[word]! ^ starts[last + word]!) >>> 0;
    if (difference !== 0) return word * 32 + Math.clz32(difference);
  }
  return width * 32;
}

function words(count: number): Uint32Array {
  return new Uint32Array(new SharedArrayBuffer(count * 4));
}

function invalid({ id }: RuntimeIpList, what: string): AppError {
  return new AppError('bundle_invalid', `IP list ${id} ${what}`, { source: 'config' });
}
