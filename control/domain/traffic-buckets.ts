/** Which steps a series of traffic has: the span, the length of a step, the resolution. */

import { observationLimits } from '../limits/observation-limits.ts';
import { invalidField } from './errors.ts';

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };
const dayMs = 86_400_000;
const minuteSeconds = 60;
const hourSeconds = 3600;
/** The approximate number of points of a series without a stated step. */
const pointsWanted = 120;
const niceSeconds = [60, 300, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400];

/** The steps of a series. */
export interface Buckets {
  /** Start of the first step; a whole number of steps since the epoch. */
  readonly startMs: number;
  /** End of the span, not of the last step. */
  readonly endMs: number;
  readonly stepSeconds: number;
  readonly resolution: 'minute' | 'hour';
}

/** A span of milliseconds; either end may be missing. */
export interface Span {
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
}

/**
 * The steps for a span, default the last day; `size` is a step such as 1m, 5m or 1h, '' for a
 * fitting one. Steps below a minute are rounded up, and to hours where minutes are no longer kept.
 * Errors: invalid_argument at timeRange, bucketSize.
 */
export function bucketsOf({ startMs, endMs }: Span, size: string, nowMs: number): Buckets {
  const end = endMs ?? nowMs;
  const start = startMs ?? end - dayMs;
  if (end <= start) throw invalidField('timeRange', 'must end after it starts');
  const recent = start >= nowMs - observationLimits.trafficMinutesKeptMs;
  const least = recent ? minuteSeconds : hourSeconds;
  const asked = size === '' ? fitting((end - start) / 1000) : secondsOf(size);
  const stepSeconds = Math.ceil(Math.max(asked, least) / least) * least;
  const stepMs = stepSeconds * 1000;
  const first = Math.floor(start / stepMs) * stepMs;
  if ((end - first) / stepMs > observationLimits.seriesPointsMax) {
    const most = observationLimits.seriesPointsMax;
    throw invalidField('bucketSize', `gives more than ${most} points: take a longer step`);
  }
  const resolution = stepSeconds % hourSeconds === 0 ? 'hour' : 'minute';
  return { startMs: first, endMs: end, stepSeconds, resolution };
}

function fitting(spanSeconds: number): number {
  return niceSeconds.find((one) => spanSeconds / one <= pointsWanted) ?? 86_400;
}

function secondsOf(size: string): number {
  const [, count = '', unit = ''] = /^([1-9]\d{0,5})([smhd])$/.exec(size) ?? [];
  const seconds = Number(count) * (units[unit] ?? 0);
  if (seconds > 0) return seconds;
  throw invalidField('bucketSize', 'must be a number with s, m, h or d, for example 5m');
}
