/**
 * How long tables stay short in the page: rows outside the window are one empty row of their
 * height. Heights are measured as rows are drawn, since texts of clients wrap.
 */

import type { JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { rowRange, type RowRange } from './row-range.ts';

/** How much of a list is drawn. */
interface Drawn {
  /** Lists up to this length are drawn whole, so that the browser's own search finds all of it. */
  readonly wholeMax: number;
  /** Pixels above and below the window in which rows are drawn, so that scrolling meets rows. */
  readonly marginPx: number;
}

const resting: Drawn = { wholeMax: 120, marginPx: 600 };
/** Where all rows change at once, each that is out of sight costs as much as one in it. */
const changing: Drawn = { wholeMax: 30, marginPx: 100 };
/** Scrolling by less changes nothing. */
const stepPx = 200;
/** The height of a row that was never drawn, until one was. */
const firstPx = 37;
/** Heights of rows that left the list are kept up to this many. */
const heightsMax = 20_000;

/** What a table needs to draw some of its rows. */
export interface RowWindow extends RowRange {
  readonly body: RefObject<HTMLTableSectionElement | null>;
}

/** Heights of rows in pixels. */
interface Heights {
  readonly of: Map<string, number>;
  /**
   * Of a row that was never drawn. Where all rows change it is the mean of those before; elsewhere
   * it stays, as rows out of sight that change their height would move what is read.
   */
  usual: number;
}

/** Which rows of a list with these keys are drawn, as the page scrolls; `live` where all change. */
export function useRowWindow(keys: readonly string[], live = false): RowWindow {
  const body = useRef<HTMLTableSectionElement>(null);
  const { current: heights } = useRef<Heights>({ of: new Map(), usual: firstPx });
  const [view, setView] = useState({ top: 0, height: 0 });
  const [, draw] = useState(0);
  const much = live ? changing : resting;
  const range = rangeOf(keys, heights, view, much);
  useEffect(() => watchWindow(body, heights.of, setView), []);
  useLayoutEffect(() => {
    if (keys.length <= much.wholeMax) return;
    const drawn = keys.slice(range.from, range.to);
    measure(body.current, drawn, heights.of);
    if (live) heights.usual = meanOf(drawn.map((key) => heights.of.get(key) ?? firstPx));
    const next = rangeOf(keys, heights, view, much);
    // Rows too many are not worth another drawing.
    if (next.from < range.from || next.to > range.to) draw((count) => count + 1);
  });
  return { ...range, body };
}

interface View {
  readonly top: number;
  readonly height: number;
}

function rangeOf(
  keys: readonly string[],
  { of, usual }: Heights,
  { top, height }: View,
  { wholeMax, marginPx }: Drawn,
): RowRange {
  if (keys.length <= wholeMax) return { from: 0, to: keys.length, above: 0, below: 0 };
  const all = keys.map((key) => of.get(key) ?? usual);
  const bottom = top + (height === 0 ? window.innerHeight : height);
  return rowRange(all, top - marginPx, bottom + marginPx);
}

function measure(
  body: HTMLTableSectionElement | null,
  drawn: readonly string[],
  heights: Map<string, number>,
): void {
  if (body === null) return;
  if (heights.size > heightsMax) heights.clear();
  const rows = [...body.rows].filter((row) => !row.classList.contains('space'));
  for (const [index, key] of drawn.entries()) {
    const height = rows[index]?.offsetHeight;
    if (height !== undefined) heights.set(key, height);
  }
}

function meanOf(heights: readonly number[]): number {
  return heights.reduce((sum, one) => sum + one, 0) / heights.length;
}

/** Reports where the window stands over the rows; once a frame at most. */
function watchWindow(
  body: RefObject<HTMLTableSectionElement | null>,
  heights: Map<string, number>,
  report: (next: (before: View) => View) => void,
): () => void {
  let frame = 0;
  const look = (): void => {
    frame = 0;
    if (body.current === null) return;
    const top = Math.floor(-body.current.getBoundingClientRect().top / stepPx) * stepPx;
    const height = window.innerHeight + stepPx;
    report((before) => (before.top === top && before.height === height ? before : { top, height }));
  };
  const later = (): void => {
    if (frame === 0) frame = window.requestAnimationFrame(look);
  };
  const resized = (): void => {
    heights.clear();
    later();
  };
  // What stands above the table may change its height at any time.
  const moved = new ResizeObserver(later);
  moved.observe(document.body);
  window.addEventListener('scroll', later, { passive: true });
  window.addEventListener('resize', resized);
  return () => {
    window.cancelAnimationFrame(frame);
    moved.disconnect();
    window.removeEventListener('scroll', later);
    window.removeEventListener('resize', resized);
  };
}

/** The row that stands for rows which are not drawn. */
export function Space({
  pixels,
  columns,
}: {
  readonly pixels: number;
  readonly columns: number;
}): JSX.Element | null {
  if (pixels === 0) return null;
  return (
    <tr class="space" aria-hidden="true">
      <td colSpan={columns} style={{ height: `${pixels}px` }} />
    </tr>
  );
}
