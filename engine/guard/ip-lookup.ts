/**
 * Owns whether an address is in a list. Cost: a binary search within the ranges that share the top
 * 16 bits, well under a microsecond for a million ranges; allocates nothing.
 */

import type { IpRanges, IpSet } from '../contract/access.ts';
import type { AddressBits } from '../base/ip-address.ts';

/** True when the list holds the address at `nowMs`, milliseconds since the Unix epoch. */
export function holdsAddress({ v4, v6 }: IpSet, address: AddressBits, nowMs: number): boolean {
  if (address.family === 0) return false;
  const ranges = address.family === 4 ? v4 : v6;
  const at = lastStartingBy(ranges, address.words);
  if (at < 0 || isAfterEnd(ranges, at, address.words)) return false;
  return ranges.expiresAtMs === null || nowMs < ranges.expiresAtMs[at]!;
}

/** The last range that starts at the address or before it; -1 for none. */
function lastStartingBy({ starts, width, count, index }: IpRanges, words: Uint32Array): number {
  let low = 0;
  let high = count;
  if (index !== null) {
    const top = words[0]! >>> 16;
    low = index[top]!;
    high = index[top + 1]!;
  }
  // All before `low` start before the address, all from `high` on after it.
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (startsAfter(starts, middle * width, width, words)) high = middle;
    else low = middle + 1;
  }
  return low - 1;
}

function startsAfter(starts: Uint32Array, at: number, width: number, words: Uint32Array): boolean {
  for (let word = 0; word < width; word++) {
    const [start, own] = [starts[at + word]!, words[word]!];
    if (start !== own) return start > own;
  }
  return false;
}

function isAfterEnd({ ends, width }: IpRanges, range: number, words: Uint32Array): boolean {
  for (let word = 0; word < width; word++) {
    const [end, own] = [ends[range * width + word]!, words[word]!];
    if (end !== own) return own > end;
  }
  return false;
}
