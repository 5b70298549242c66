/** Decides which rows of a long list are drawn. Knows no element and no scrolling. */

/** Rows that are drawn, as indexes, and the pixels that stand for all others. */
export interface RowRange {
  readonly from: number;
  /** The first row after the drawn ones. */
  readonly to: number;
  readonly above: number;
  readonly below: number;
}

/** Rows that meet the pixels from `top` to `bottom`; one row at least where there is any. */
export function rowRange(heights: readonly number[], top: number, bottom: number): RowRange {
  let from = 0;
  let above = 0;
  while (from < heights.length - 1 && above + heights[from]! <= top) {
    above += heights[from]!;
    from += 1;
  }
  let to = from;
  let at = above;
  while (to < heights.length && (at < bottom || to === from)) {
    at += heights[to]!;
    to += 1;
  }
  let below = 0;
  for (let index = to; index < heights.length; index += 1) below += heights[index]!;
  return { from, to, above, below };
}
