/** Tests of held bodies: order, and what byte-wise bodies cost. */

import { expect, test } from 'vitest';
import { frontLimits } from '../../../base/delivery-limits.ts';
import { HeldBytes } from './held-bytes.ts';

test('pieces of all sizes stay in order', () => {
  const held = new HeldBytes();
  const sizes = [1, 5000, 3, 4096, 4097, 16_384, 1, 1, 9000, 2];
  const all = Buffer.concat(sizes.map((size, index) => Buffer.alloc(size, 65 + index)));
  let at = 0;
  for (const [index, size] of sizes.entries()) {
    held.add(all, at, (at += size), index === sizes.length - 1);
  }
  expect(held.join().equals(all)).toBe(true);
  held.add(Buffer.from('x'), 0, 1, false);
  expect(Buffer.concat(held.take()).equals(Buffer.concat([all, Buffer.from('x')]))).toBe(true);
  expect(held.take()).toEqual([]);
});

test('of a long body no more is joined than asked for, and all of it stays', () => {
  const held = new HeldBytes();
  const all = Buffer.from(Uint8Array.from({ length: 1_000_000 }, (_, at) => at % 251));
  for (let at = 0; at < all.length; at += 50_000) held.add(all, at, at + 50_000, false);
  const joined = held.join(120_000);
  expect(joined.length).toBeGreaterThanOrEqual(120_000);
  expect(joined.length).toBeLessThan(240_000);
  expect(joined.equals(all.subarray(0, joined.length))).toBe(true);
  expect(held.join(0)).toHaveLength(0);
  expect(held.join(2_000_000).equals(all)).toBe(true);
  expect(Buffer.concat(held.take()).equals(all)).toBe(true);
});

test('a body that comes byte by byte is a few slabs', () => {
  const held = new HeldBytes();
  for (let i = 0; i < 100_000; i++) held.add(Buffer.alloc(1, 97), 0, 1, false);
  const pieces = held.take();
  expect(pieces.reduce((sum, piece) => sum + piece.length, 0)).toBe(100_000);
  expect(pieces.length).toBeLessThan(10);
});

test('what is added may change afterwards', () => {
  for (const size of [5, 5000, 70_000]) {
    const held = new HeldBytes();
    const piece = Buffer.alloc(size, 97);
    held.add(piece, 0, size, true);
    piece.fill(98);
    expect(held.join().equals(Buffer.alloc(size, 97))).toBe(true);
  }
});

test('an announced body is one piece from the start, unless little of it is there', () => {
  const piece = Buffer.alloc(60_000, 97);
  const held = new HeldBytes(64_000);
  held.add(piece, 0, 60_000, false);
  held.add(piece, 0, 4_000, true);
  expect(held.take().map(({ length }) => length)).toEqual([64_000]);
  const slow = new HeldBytes(64_000);
  slow.add(piece, 0, 10, false);
  expect(slow.join().buffer.byteLength).toBeLessThan(32_768);
});

/** Takes what other files of tests left to this thread. */
function takeFreeSlabs(): void {
  const { heldSlabBytes, heldFreeBytesMax } = frontLimits;
  const bytes = Buffer.alloc(heldFreeBytesMax);
  for (let size = heldSlabBytes; size <= heldFreeBytesMax; size *= 2) {
    for (let count = 0; count < heldFreeBytesMax / size; count++) {
      new HeldBytes().add(bytes, 0, size, true);
    }
  }
}

test('a slab serves again once nobody reads it, and not before', () => {
  takeFreeSlabs();
  const piece = Buffer.alloc(30_000, 97);
  const first = new HeldBytes(30_000);
  first.add(piece, 0, 30_000, true);
  const { buffer } = first.join();
  const beside = new HeldBytes(30_000);
  beside.add(piece, 0, 30_000, true);
  expect(beside.join().buffer).not.toBe(buffer);
  first.take();
  const taken = new HeldBytes(30_000);
  taken.add(piece, 0, 30_000, true);
  expect(taken.join().buffer).not.toBe(buffer);
  first.recycle();
  first.recycle();
  const after = [new HeldBytes(30_000), new HeldBytes(30_000)].map((held) => {
    held.add(piece, 0, 30_000, true);
    return held.join().buffer;
  });
  expect(after[0]).toBe(buffer);
  expect(after[1]).not.toBe(buffer);
});

test('a thread keeps no more slabs than its limit', () => {
  const many = Array.from({ length: 20 }, () => new HeldBytes(131_072));
  const piece = Buffer.alloc(131_072, 97);
  const fill = (held: HeldBytes): ArrayBufferLike => {
    held.add(piece, 0, piece.length, true);
    return held.join().buffer;
  };
  const before = new Set(many.map(fill));
  many.forEach((held) => held.recycle());
  const kept = many.map(fill).filter((buffer) => before.has(buffer));
  expect(kept.length * 131_072).toBeLessThanOrEqual(frontLimits.heldFreeBytesMax);
  expect(kept.length).toBeGreaterThan(0);
});
