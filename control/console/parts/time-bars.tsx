/** Bars over time with both axes: one bar a step, what was blocked as its lower part. */

import { timestampMs, type Timestamp } from '@bufbuild/protobuf/wkt';
import type { JSX } from 'preact';
import { exactNumber, language, shortNumber, t } from '../text/text.ts';
import { stepsOf, type Steps } from './time-steps.ts';

/** What was counted from a time on; times without anything may be missing. */
export interface TimeBar {
  readonly at: Timestamp | undefined;
  readonly total: bigint;
  readonly blocked: bigint;
}

interface TimeBarsProps {
  readonly bars: readonly TimeBar[];
  readonly startMs: number;
  readonly endMs: number;
  /** What one bar of the answer stands for; 0 where the answer does not say it. */
  readonly leastMs?: number;
  /** What is counted, as the value axis names it. */
  readonly unit: string;
  /** Says in words what the chart shows. */
  readonly label: string;
}

const width = 720;
const height = 120;
const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;
/** Times under the bars. */
const ticks = 4;

/** The chart from `startMs` to `endMs`. */
export function TimeBars(props: TimeBarsProps): JSX.Element {
  const { bars, startMs, endMs, leastMs = 0, unit, label } = props;
  const amounts = bars.flatMap(({ at, total, blocked }) =>
    at === undefined
      ? []
      : [{ atMs: timestampMs(at), total: Number(total), blocked: Number(blocked) }],
  );
  const shown = stepsOf(amounts, startMs, endMs, leastMs);
  const { stepMs, top } = shown;
  return (
    <figure class="chart">
      <figcaption>
        <span>{t('chart.per', { unit, time: lengthText(stepMs) })}</span>
        <span class="key-all">{t('common.all')}</span>
        <span class="key-blocked">{t('attacks.blocked')}</span>
      </figcaption>
      <div class="values" aria-hidden="true">
        <span>{shortNumber(top)}</span>
        {top > 1 && <span>{shortNumber(top / 2)}</span>}
        <span>0</span>
      </div>
      <Bars of={shown} unit={unit} label={label} />
      <div class="times" aria-hidden="true">
        {timesOf(shown).map((text) => (
          <span>{text}</span>
        ))}
      </div>
    </figure>
  );
}

function Bars({
  of: { steps, stepMs, top },
  unit,
  label,
}: {
  readonly of: Steps;
  readonly unit: string;
  readonly label: string;
}): JSX.Element {
  const bar = width / steps.length;
  return (
    <svg class="bars" viewBox={`0 0 ${width} ${height}`} role="img" preserveAspectRatio="none">
      <title>{label}</title>
      {[0, height / 2, height].map((y) => (
        <line class="grid" x1={0} x2={width} y1={y} y2={y} />
      ))}
      {steps.map(({ atMs, total, blocked }, index) => {
        if (total === 0) return null;
        const all = (total / top) * height;
        const red = (blocked / top) * height;
        const x = index * bar;
        const text = t('chart.bar', {
          ...{ from: timeText(atMs, 0), to: timeText(atMs + stepMs, 0), unit },
          ...{ total: exactNumber(total), blocked: exactNumber(blocked) },
        });
        return (
          <g>
            <title>{text}</title>
            <rect class="bar-all" x={x} y={height - all} width={bar - 1} height={all} />
            <rect class="bar-blocked" x={x} y={height - red} width={bar - 1} height={red} />
          </g>
        );
      })}
    </svg>
  );
}

/** Times at equal distances, from the left edge to the right one. */
function timesOf({ startMs, stepMs, steps }: Steps): string[] {
  const spanMs = stepMs * steps.length;
  return Array.from({ length: ticks + 1 }, (_, index) =>
    timeText(startMs + (spanMs * index) / ticks, spanMs),
  );
}

/** A time of day within two days, else a day; with `spanMs` 0 both. */
function timeText(atMs: number, spanMs: number): string {
  const day = { month: 'short', day: 'numeric' } as const;
  const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const format = spanMs === 0 ? { ...day, ...time } : spanMs > 2 * dayMs ? day : time;
  return new Intl.DateTimeFormat(language.value, format).format(atMs);
}

/** How long a step is, in words. */
function lengthText(stepMs: number): string {
  const minutes = stepMs / minuteMs;
  const [value, unit] =
    minutes < 60
      ? ([minutes, 'minute'] as const)
      : minutes < 1440
        ? ([minutes / 60, 'hour'] as const)
        : ([minutes / 1440, 'day'] as const);
  const format = { style: 'unit', unit, unitDisplay: 'long' } as const;
  // One minute is "per minute".
  if (value === 1) return t(`chart.${unit}`);
  return new Intl.NumberFormat(language.value, format).format(value);
}
