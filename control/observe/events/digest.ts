/**
 * Which values the events of a segment may have, over all index fields: a Bloom filter in chunks,
 * each a value of its own in the store, so that a question reads one chunk for a value instead of a
 * column. A value that is there is always found; one that is not is found about once in a hundred
 * times, and then the column decides. Source: Bloom (1970); blocks: Putze, Sanders, Singler (2007).
 * Pure.
 */

import { hashOfTerm } from './term-places.ts';

const chunkBytes = 512;
/** Bits of a chunk as a power of two. */
const chunkBitsLog = 12;
const bitsPerValue = 10;
const bitsSet = 6;

/** Where a value of a field is looked for, whatever the number of chunks. */
export interface Probe {
  readonly place: number;
  readonly first: number;
  readonly step: number;
}

/** The probe of a value by its hash in columns. */
export function probeOf(field: string, hash: number): Probe {
  const place = mix(hash ^ hashOfTerm(field));
  return { place, first: mix(place ^ 0x9e3779b9), step: mix(place ^ 0x7f4a7c15) | 1 };
}

/** The chunk that a probe looks into, of `chunks`. */
export function chunkOf({ place }: Probe, chunks: number): number {
  return Math.floor((place * chunks) / 2 ** 32);
}

/** False when no event of the segment has the value. */
export function chunkMayHold(chunk: Uint8Array, { first, step }: Probe): boolean {
  for (let at = 0, next = first; at < bitsSet; at++, next = (next + step) | 0) {
    const bit = next >>> (32 - chunkBitsLog);
    if ((chunk[bit >>> 3]! & (1 << (bit & 7))) === 0) return false;
  }
  return true;
}

/** Chunks that hold the hashes of the values of fields. Cost: about 0.1 us a value. */
export function buildDigest(
  columns: readonly { readonly field: string; readonly hashes: ArrayLike<number> }[],
): Uint8Array[] {
  const values = columns.reduce((sum, { hashes }) => sum + hashes.length, 0);
  const count = Math.max(1, Math.ceil((values * bitsPerValue) / (chunkBytes * 8)));
  const chunks = Array.from({ length: count }, () => new Uint8Array(chunkBytes));
  for (const { field, hashes } of columns) {
    for (let at = 0; at < hashes.length; at++) {
      const probe = probeOf(field, hashes[at]!);
      addTo(chunks[chunkOf(probe, count)]!, probe);
    }
  }
  return chunks;
}

function addTo(chunk: Uint8Array, { first, step }: Probe): void {
  for (let at = 0, next = first; at < bitsSet; at++, next = (next + step) | 0) {
    const bit = next >>> (32 - chunkBitsLog);
    chunk[bit >>> 3]! |= 1 << (bit & 7);
  }
}

/** Spreads a hash over all its bits. Source: the finalizer of MurmurHash3. */
function mix(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
