/**
 * How long tables stay short in the page: rows outside the window are one empty row of their
 * height. Heights are measured as rows are drawn, since texts of clients wrap.
 */

import type { JSX, RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { rowRange, type RowRange } from './row-range.ts';

/**
 * Pixels above and below the window in which rows are drawn, so that scrolling meets rows. Lists of
 * up to a fifth as many rows are drawn whole: so the browser's own search finds all of them.
 */
const marginPx = 600;
/** Scrolling by less changes nothing. */
const stepPx = 200;
/** The height of a row that was never drawn, until one was. */
const usualPx = 37;
/** Heights of rows that left the list are kept up to this many. */
const heightsMax = 20_000;

/** What a table needs to draw some of its rows. */
export interface RowWindow extends RowRange {
  readonly body: RefObject<HTMLTableSectionElement | null>;
}

/** Which rows of a list with these keys are drawn, as the page scrolls. */
export function useRowWindow(keys: readonly string[], margin = marginPx): RowWindow {
  const body = useRef<HTMLTableSectionElement>(null);
  const heights = useRef(new Map<string, number>());
  const [view, setView] = useState({ top: 0, height: 0 });
  const [, draw] = useState(0);
  const range = rangeOf(keys, heights.current, view, margin);
  useEffect(() => watchWindow(body, heights.current, setView), []);
  useLayoutEffect(() => {
    if (keys.length <= margin / 5) return;
    measure(body.current, keys.slice(range.from, range.to), heights.current);
    const next = rangeOf(keys, heights.current, view, margin);
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
  heights: ReadonlyMap<string, number>,
  { top, height }: View,
  margin: number,
): RowRange {
  if (keys.length <= margin / 5) return { from: 0, to: keys.length, above: 0, below: 0 };
  const all = keys.map((key) => heights.get(key) ?? usualPx);
  const bottom = top + (height === 0 ? window.innerHeight : height);
  return rowRange(all, top - margin, bottom + margin);
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
