/** Owns bars over time: one bar a step, what was blocked as its lower part. */

import { timestampMs, type Timestamp } from '@bufbuild/protobuf/wkt';
import type { JSX } from 'preact';
import { exactNumber, localTime } from '../text/text.ts';

/** One step; steps without anything may be missing. */
export interface TimeBar {
  readonly at: Timestamp | undefined;
  readonly total: bigint;
  readonly blocked: bigint;
}

const width = 720;
const height = 120;
/** Bars that a span has at most: narrower ones cannot be told apart. */
const barsMax = 180;

/** The chart from `startMs` to `endMs`; `label` says in words what it shows. */
export function TimeBars({
  bars,
  startMs,
  endMs,
  label,
}: {
  readonly bars: readonly TimeBar[];
  readonly startMs: number;
  readonly endMs: number;
  readonly label: string;
}): JSX.Element {
  const most = Math.max(1, ...bars.map(({ total }) => Number(total)));
  const spanMs = Math.max(1, endMs - startMs);
  const bar = Math.max(1, (width * stepOf(bars, spanMs)) / spanMs - 1);
  return (
    <svg class="bars" viewBox={`0 0 ${width} ${height}`} role="img" preserveAspectRatio="none">
      <title>{label}</title>
      {bars.map(({ at, total, blocked }) => {
        const x = at === undefined ? 0 : (width * (timestampMs(at) - startMs)) / spanMs;
        const all = (Number(total) / most) * height;
        const red = (Number(blocked) / most) * height;
        return (
          <g>
            <title>{`${localTime(at)}: ${exactNumber(total)}, ${exactNumber(blocked)}`}</title>
            <rect class="bar-all" x={x} y={height - all} width={bar} height={all} />
            <rect class="bar-blocked" x={x} y={height - red} width={bar} height={red} />
          </g>
        );
      })}
    </svg>
  );
}

/** The least distance of two bars: what one of them stands for. */
function stepOf(bars: readonly TimeBar[], spanMs: number): number {
  const times = bars.flatMap(({ at }) => (at === undefined ? [] : [timestampMs(at)]));
  const gaps = times.toSorted((a, b) => a - b).map((at, index, all) => at - (all[index - 1] ?? 0));
  return Math.max(spanMs / barsMax, Math.min(spanMs / 24, ...gaps.slice(1)));
}
