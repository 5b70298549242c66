/** Digests find every value that is there, and few of those that are not. */

import { expect, test } from 'vitest';
import { buildDigest, chunkMayHold, chunkOf, probeOf } from './digest.ts';
import { hashOfTerm } from './term-places.ts';

const namesOf = (count: number, prefix: string): number[] =>
  Array.from({ length: count }, (_, at) => hashOfTerm(`${prefix}${at}`));

const holds = (chunks: readonly Uint8Array[], field: string, hash: number): boolean => {
  const probe = probeOf(field, hash);
  return chunkMayHold(chunks[chunkOf(probe, chunks.length)]!, probe);
};

test.each([0, 1, 5, 300, 20_000])('of %i values all are found, of others about one in 100', (n) => {
  const hashes = namesOf(n, 'r-');
  const chunks = buildDigest([
    { field: 'request', hashes },
    { field: 'site', hashes: [hashOfTerm('site-1')] },
  ]);
  expect(hashes.every((hash) => holds(chunks, 'request', hash))).toBe(true);
  expect(holds(chunks, 'site', hashOfTerm('site-1'))).toBe(true);
  const others = namesOf(20_000, 'other-').filter((hash) => holds(chunks, 'request', hash));
  expect(others.length).toBeLessThan(20_000 * 0.02);
  const elsewhere = hashes.filter((hash) => holds(chunks, 'client', hash));
  expect(elsewhere.length).toBeLessThan(Math.max(5, n * 0.02));
  // 10 bits a value, rounded up to a chunk.
  const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
  expect(bytes).toBeLessThanOrEqual(((n + 1) * 10) / 8 + 512);
});
