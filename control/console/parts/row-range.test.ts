/** Tests which rows of a long list are drawn, and what stands for the others. */

import { expect, test } from 'vitest';
import { rowRange } from './row-range.ts';

test('rows that meet the window are drawn, all others are pixels of the same height', () => {
  const heights = Array.from({ length: 100_000 }, (_, index) => 20 + (index % 3) * 10);
  const all = heights.reduce((sum, height) => sum + height, 0);
  for (const top of [-500, 0, 17, 1_000_000, all - 300, all + 900]) {
    const { from, to, above, below } = rowRange(heights, top, top + 900);
    const drawn = heights.slice(from, to).reduce((sum, height) => sum + height, 0);
    expect(above + drawn + below).toBe(all);
    expect(to - from).toBeGreaterThan(0);
    expect(to - from).toBeLessThan(50);
    if (top >= 0 && top < all) {
      expect(above).toBeLessThanOrEqual(top);
      expect(above + drawn).toBeGreaterThanOrEqual(Math.min(all, top + 900));
    }
  }
});

test('no rows, one row, and rows without height', () => {
  expect(rowRange([], 0, 900)).toEqual({ from: 0, to: 0, above: 0, below: 0 });
  expect(rowRange([37], 5_000, 5_900)).toEqual({ from: 0, to: 1, above: 0, below: 0 });
  expect(rowRange([0, 0, 0], 0, 900)).toEqual({ from: 2, to: 3, above: 0, below: 0 });
});
