/** Families of metrics in the form of OTLP. */

import { expect, test } from 'vitest';
import { metricsRequest } from './metrics-otlp.ts';
import type { MetricFamily } from './metrics-text.ts';

const nowMs = 1_700_000_000_123;
const timeUnixNano = '1700000000123000000';
const since = { installationMs: 1_600_000_000_000, processMs: 1_700_000_000_000 };
const startTimeUnixNano = '1600000000000000000';

function metricsOf(...families: MetricFamily[]): unknown {
  const request = metricsRequest(families, [], '1.2.3', since, nowMs) as {
    readonly resourceMetrics: { readonly scopeMetrics: { readonly metrics: unknown }[] }[];
  };
  return request.resourceMetrics[0]?.scopeMetrics[0]?.metrics;
}

test('counters are cumulative sums, gauges are gauges, and a family without values is left out', () => {
  const labels = { site: 'shop' };
  const attributes = [{ key: 'site', value: { stringValue: 'shop' } }];
  const counter = { name: 'waf_requests', type: 'counter', help: 'Requests.' } as const;
  const gauge = { name: 'waf_up', type: 'gauge', help: 'Up.' } as const;
  const found = metricsOf(
    { ...counter, samples: [{ suffix: '_total', labels, value: 7 }] },
    { ...gauge, samples: [{ suffix: '', labels: {}, value: 0.5 }] },
    { name: 'waf_nothing', type: 'gauge', help: 'Nothing.', samples: [] },
  );
  const sum = { aggregationTemporality: 2, isMonotonic: true };
  expect(found).toEqual([
    {
      ...{ name: 'waf_requests', description: 'Requests.' },
      sum: { ...sum, dataPoints: [{ attributes, startTimeUnixNano, timeUnixNano, asDouble: 7 }] },
    },
    {
      ...{ name: 'waf_up', description: 'Up.' },
      gauge: { dataPoints: [{ attributes: [], timeUnixNano, asDouble: 0.5 }] },
    },
  ]);
});

test('buckets are counted apart from each other, by the labels beside their bound', () => {
  const sample = (suffix: string, value: number, le?: string) => {
    return { suffix, value, labels: { site: 'shop', ...(le === undefined ? {} : { le }) } };
  };
  const samples = [
    ...[sample('_bucket', 2, '0.1'), sample('_bucket', 5, '1'), sample('_bucket', 6, '+Inf')],
    ...[sample('_count', 6), sample('_sum', 3.5)],
  ];
  const help = 'Time.';
  expect(metricsOf({ name: 'waf_seconds', type: 'histogram', help, samples })).toMatchObject([
    {
      histogram: {
        aggregationTemporality: 2,
        dataPoints: [
          {
            attributes: [{ key: 'site', value: { stringValue: 'shop' } }],
            ...{ startTimeUnixNano, timeUnixNano },
            ...{ count: '6', sum: 3.5, explicitBounds: [0.1, 1], bucketCounts: ['2', '3', '1'] },
          },
        ],
      },
    },
  ]);
});

test('counts of the process begin with it, and no count begins after it is sent', () => {
  const samples = [{ suffix: '_total', labels: {}, value: 7 }];
  const family = { name: 'waf_cpu', type: 'counter', help: 'Time.', samples } as const;
  const started = (one: MetricFamily, startTime: string): object => ({
    sum: { dataPoints: [{ startTimeUnixNano: startTime }] },
    name: one.name,
  });
  const found = metricsOf({ ...family, ofProcess: true }, family);
  expect(found).toMatchObject([
    started(family, '1700000000000000000'),
    started(family, startTimeUnixNano),
  ]);
  const late = { installationMs: nowMs + 1, processMs: nowMs + 1 };
  const request = metricsRequest([family], [], '1', late, nowMs);
  expect(JSON.stringify(request)).toContain(`"startTimeUnixNano":"${timeUnixNano}"`);
});
