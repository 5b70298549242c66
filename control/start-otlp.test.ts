/** Metrics at regular times, whatever becomes of the ones before. */

import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { readOtlpSettings } from './export/otlp/otlp-settings.ts';
import { startOtlp, type OtlpExports } from './start-otlp.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const warnings: string[] = [];
const installedAt = '2026-01-02T03:04:05Z';

function start(): OtlpExports {
  const log = (): void => undefined;
  const warn = (text: string, facts?: object): void => {
    warnings.push(`${text} ${JSON.stringify(facts)}`);
  };
  return startOtlp({
    settings: readOtlpSettings({
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://127.0.0.1:9/v1/metrics',
      OTEL_METRIC_EXPORT_INTERVAL: '1000',
    }),
    events: { onFacts: () => () => undefined },
    clock: systemClock,
    logger: { debug: log, info: log, warn, error: log },
    version: '1',
  });
}

test('a collector that is slower than the interval gets no backlog', async () => {
  vi.useFakeTimers();
  const answers: ((response: Response) => void)[] = [];
  vi.stubGlobal('fetch', () => new Promise((resolve) => answers.push(resolve)));
  const otlp = start();
  otlp.sendMetrics(() => [], installedAt);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(answers).toHaveLength(1);
  answers[0]!(new Response('{}'));
  await vi.advanceTimersByTimeAsync(500);
  expect(answers).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(answers).toHaveLength(2);
  answers[1]!(new Response('{}'));
  await otlp.close();
});

test('metrics that cannot be read are logged, and read again later', async () => {
  vi.useFakeTimers();
  let sent = 0;
  vi.stubGlobal('fetch', () => {
    sent++;
    return Promise.resolve(new Response('{}'));
  });
  const otlp = start();
  let reads = 0;
  otlp.sendMetrics(() => {
    if (++reads === 1) throw new Error('the disk is gone');
    return [];
  }, installedAt);
  await vi.advanceTimersByTimeAsync(2_500);
  expect([reads, sent]).toEqual([2, 1]);
  expect(warnings.join()).toContain('the disk is gone');
  await otlp.close();
});
