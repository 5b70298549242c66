/**
 * Counts how many examples of a kind and window a node has kept, in memory that its front threads
 * share: whichever thread asks, no more than the log policy allows are given. Without locks, since
 * a thread that dies must not hold up the others. A full set gives nothing: a flood of kinds costs
 * examples, never memory, and never more than the bound.
 *
 * An entry is one word of 64 bits: a hash of 32 that stands for kind and window beside its place,
 * the step of time at which it ends (20), and the count (12).
 */

import { loggingLimits } from '../../base/observation-limits.ts';
import { HalfSipHash, type HashKey } from '../../base/half-sip-hash.ts';

/** What threads are given of a quota; cloning it shares the memory. */
export interface SharedQuota {
  readonly memory: SharedArrayBuffer;
  readonly seed: HashKey;
}

/** Which area a kind is counted in: a flood of paths must not take the room of statuses. */
export const AREA = { FEW: 0, MANY: 1 } as const;

const { quotaSets, quotaWays, quotaStepMs } = loggingLimits;
const steps = 2 ** 20;
const countMask = 0xfffn;

/** Makes the memory of one node. Its pages are taken when they are written to. */
export function shareQuota(): SharedQuota {
  const seed = new Int32Array(2);
  crypto.getRandomValues(seed);
  const words = 2 * quotaSets * quotaWays;
  return { memory: new SharedArrayBuffer(8 * words), seed: [seed[0]!, seed[1]!] };
}

/** One thread's view of the counts. */
export class ExemplarQuota {
  private readonly words: BigInt64Array;
  private readonly hash: HalfSipHash;

  constructor({ memory, seed }: SharedQuota = shareQuota()) {
    this.words = new BigInt64Array(memory);
    this.hash = new HalfSipHash(seed);
  }

  /**
   * Takes one of `most` places of a kind; false when there is none left. `key` names kind and
   * window; it is forgotten after `endsAtMs`. Cost: under 2 µs, and nobody asks again for a kind
   * that is full.
   */
  take(area: number, key: string, most: number, endsAtMs: number, nowMs: number): boolean {
    const { low, high } = this.hash.hash(key);
    const first = (area * quotaSets + ((low >>> 0) % quotaSets)) * quotaWays;
    const tag = BigInt(high >>> 0);
    for (let tries = 0; tries < loggingLimits.quotaTries; tries++) {
      const at = this.find(first, tag, stepOf(nowMs));
      if (at < 0) return false;
      const before = Atomics.load(this.words, at);
      const ours = isOf(before, tag) && isLive(before, stepOf(nowMs));
      if (ours && Number(before & countMask) >= most) return false;
      const next = ours ? before + 1n : entryOf(tag, endsAtMs);
      // Another thread may have changed it meanwhile.
      if (Atomics.compareExchange(this.words, at, before, next) === before) return true;
    }
    return false;
  }

  /** Where the entry of a tag is, or has room; -1 for nowhere. */
  private find(first: number, tag: bigint, step: number): number {
    let free = -1;
    for (let at = first; at < first + quotaWays; at++) {
      const word = Atomics.load(this.words, at);
      const live = isLive(word, step);
      if (live && isOf(word, tag)) return at;
      if (!live && free < 0) free = at;
    }
    return free;
  }
}

function stepOf(ms: number): number {
  return Math.floor(ms / quotaStepMs) % steps;
}

function entryOf(tag: bigint, endsAtMs: number): bigint {
  const ends = BigInt(stepOf(endsAtMs + quotaStepMs));
  return BigInt.asIntN(64, (tag << 32n) | (ends << 12n) | 1n);
}

function isOf(word: bigint, tag: bigint): boolean {
  return BigInt.asUintN(32, word >> 32n) === tag;
}

/** Steps go round; what ends within half of them is to come. An empty word has no count. */
function isLive(word: bigint, step: number): boolean {
  if ((word & countMask) === 0n) return false;
  const ends = Number((word >> 12n) & 0xfffffn);
  return (ends - step + steps) % steps < steps / 2;
}
