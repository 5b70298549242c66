/**
 * Whether an address is in a list. Cost: a binary search within the ranges that share 16 bits, well
 * under a microsecond for a million ranges; allocates nothing.
 */

import type { IpRanges, IpSet } from '../contract/access.ts';
import { sixteenBits, type AddressBits } from '../../base/ip-address.ts';

/** True when the list holds the address at `nowMs`, milliseconds since the Unix epoch. */
export function holdsAddress({ v4, v6 }: IpSet, address: AddressBits, nowMs: number): boolean {
  if (address.family === 0) return false;
  const ranges = address.family === 4 ? v4 : v6;
  const at = lastStartingBy(ranges, address.words);
  if (at < 0 || isAfterEnd(ranges, at, address.words)) return false;
  return ranges.expiresAtMs === null || nowMs < ranges.expiresAtMs[at]!;
}

/** The last range that starts at the address or before it; -1 for none. */
function lastStartingBy(ranges: IpRanges, words: Uint32Array): number {
  const { starts, width, index, indexBit } = ranges;
  let low = 0;
  let high = ranges.count;
  if (index !== null && sharesBits(starts, words, indexBit)) {
    const value = sixteenBits(words, 0, indexBit);
    low = index[value]!;
    high = index[value + 1]!;
  }
  // All before `low` start before the address, all from `high` on after it.
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (startsAfter(starts, middle * width, width, words)) high = middle;
    else low = middle + 1;
  }
  return low - 1;
}

/** True when the first `bits` bits of the address are those of the first range. */
function sharesBits(starts: Uint32Array, words: Uint32Array, bits: number): boolean {
  const whole = bits >>> 5;
  for (let word = 0; word < whole; word++) if (starts[word] !== words[word]) return false;
  const rest = bits & 31;
  return rest === 0 || (starts[whole]! ^ words[whole]!) >>> (32 - rest) === 0;
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
