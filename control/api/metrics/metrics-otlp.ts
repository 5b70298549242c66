/**
 * The families of `/metrics` as metrics of OTLP, cumulative: most counts outlive the process and
 * begin with the installation. Source: opentelemetry-proto 1.x, metrics.proto. Pure.
 */

import { otlpAttributes, otlpTime, type OtlpAttribute } from '../../export/otlp/otlp-values.ts';
import type { MetricFamily, MetricSample } from './metrics-text.ts';

const cumulative = 2;

/** When counting began, milliseconds since the Unix epoch. */
export interface CountedSince {
  /** Of what is kept. */
  readonly installationMs: number;
  readonly processMs: number;
}

/** The request that carries all families. */
export function metricsRequest(
  families: readonly MetricFamily[],
  resource: readonly OtlpAttribute[],
  version: string,
  since: CountedSince,
  nowMs: number,
): object {
  const metrics = families
    .filter(({ samples }) => samples.length > 0)
    .map((family) => {
      const { name, help, ofProcess = false } = family;
      const startMs = ofProcess ? since.processMs : since.installationMs;
      // A clock that was set back must not make an end before the beginning.
      const startTimeUnixNano = otlpTime(Math.min(startMs, nowMs));
      const times = { startTimeUnixNano, timeUnixNano: otlpTime(nowMs) };
      return { name, description: help, ...dataOf(family, times) };
    });
  const scopeMetrics = [{ scope: { name: 'waf', version }, metrics }];
  return { resourceMetrics: [{ resource: { attributes: resource }, scopeMetrics }] };
}

/** Nanoseconds since the Unix epoch, as text. */
interface PointTimes {
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
}

function dataOf({ type, samples }: MetricFamily, times: PointTimes): object {
  if (type === 'histogram') {
    const dataPoints = histogramPoints(samples, times);
    return { histogram: { aggregationTemporality: cumulative, dataPoints } };
  }
  const { timeUnixNano } = times;
  const dataPoints = samples.map(({ labels, value }) => ({
    attributes: otlpAttributes(labels),
    ...(type === 'gauge' ? { timeUnixNano } : times),
    asDouble: value,
  }));
  if (type === 'gauge') return { gauge: { dataPoints } };
  return { sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints } };
}

interface Histogram {
  readonly labels: Readonly<Record<string, string>>;
  readonly bounds: number[];
  /** Counts up to each bound, as OpenMetrics has them. */
  readonly below: number[];
  count: number;
  sum: number;
}

function histogramPoints(samples: readonly MetricSample[], times: PointTimes): object[] {
  const found = new Map<string, Histogram>();
  for (const { suffix, labels: all, value } of samples) {
    const { le = '', ...labels } = all;
    const key = JSON.stringify(labels);
    const one = found.get(key) ?? { labels, bounds: [], below: [], count: 0, sum: 0 };
    found.set(key, one);
    if (suffix === '_count') one.count = value;
    else if (suffix === '_sum') one.sum = value;
    else {
      if (le !== '+Inf') one.bounds.push(Number(le));
      one.below.push(value);
    }
  }
  return [...found.values()].map(({ labels, bounds, below, count, sum }) => ({
    attributes: otlpAttributes(labels),
    ...times,
    count: String(count),
    sum,
    explicitBounds: bounds,
    bucketCounts: below.map((value, at) => String(value - (below[at - 1] ?? 0))),
  }));
}
