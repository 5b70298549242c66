/**
 * The families of `/metrics` as metrics of OTLP, cumulative. Counts outlive the process, so that
 * points have no start time. Source: opentelemetry-proto 1.x, metrics.proto. Pure.
 */

import { otlpAttributes, otlpTime, type OtlpAttribute } from '../export/otlp/otlp-values.ts';
import type { MetricFamily, MetricSample } from './metrics-text.ts';

const cumulative = 2;

/** The request that carries all families. */
export function metricsRequest(
  families: readonly MetricFamily[],
  resource: readonly OtlpAttribute[],
  version: string,
  nowMs: number,
): object {
  const timeUnixNano = otlpTime(nowMs);
  const metrics = families
    .filter(({ samples }) => samples.length > 0)
    .map((family) => {
      const { name, help } = family;
      return { name, description: help, ...dataOf(family, timeUnixNano) };
    });
  const scopeMetrics = [{ scope: { name: 'waf', version }, metrics }];
  return { resourceMetrics: [{ resource: { attributes: resource }, scopeMetrics }] };
}

function dataOf({ type, samples }: MetricFamily, timeUnixNano: string): object {
  if (type === 'histogram') {
    const dataPoints = histogramPoints(samples, timeUnixNano);
    return { histogram: { aggregationTemporality: cumulative, dataPoints } };
  }
  const dataPoints = samples.map(({ labels, value }) => ({
    attributes: otlpAttributes(labels),
    timeUnixNano,
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

function histogramPoints(samples: readonly MetricSample[], timeUnixNano: string): object[] {
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
    timeUnixNano,
    count: String(count),
    sum,
    explicitBounds: bounds,
    bucketCounts: below.map((value, at) => String(value - (below[at - 1] ?? 0))),
  }));
}
