/** Tests of held bodies: order, and what byte-wise bodies cost. */

import { expect, test } from 'vitest';
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
