/** Proves what a node says of its load: rates, shares in bounds, slow inspections, a new start. */

import { expect, test } from 'vitest';
import { FrontCounters } from '../front/counters.ts';
import type { RequestEvent } from '../contract/events.ts';
import { LoadMeter } from './load-meter.ts';

test('traffic counts once, and the slowest hundredth of inspections is named', () => {
  const meter = new LoadMeter(2);
  const counters = new FrontCounters();
  for (let at = 0; at < 100; at++) counters.add(inspected(at < 98 ? 300 : 20_000), 'p');
  meter.count(counters.take());
  const load = meter.read(7, {});
  expect(load).toMatchObject({ activeConnections: 7n, wafPhaseP99Millis: 25n });
  expect(load.requestsPerSecond).toBeGreaterThan(0n);
  expect(load.blockedPerSecond).toBe(load.requestsPerSecond);
  expect(load.bandwidthInBps).toBeGreaterThan(load.requestsPerSecond);
  expect(load.memoryUsedBytes).toBeGreaterThan(0n);
  expect(load.memoryUsedBytes <= load.memoryTotalBytes).toBe(true);
  for (const share of [load.cpuPercent, load.memoryPercent, load.wafAgentCpuPercent]) {
    expect(share).toBeGreaterThanOrEqual(0);
    expect(share).toBeLessThanOrEqual(100);
  }
  expect(load.goroutines).toBeGreaterThan(1);
  expect(meter.read(0, {})).toMatchObject({ requestsPerSecond: 0n, wafPhaseP99Millis: 0n });
});

function inspected(inspectionUs: number): RequestEvent {
  const verdict = { action: 'deny' };
  const transaction = { inspectionUs, verdict, detectionOnly: false };
  const event = { siteId: 's', outcome: 'blocked', blocked: true, status: 403, refusal: null };
  return {
    ...event,
    bytesIn: 100,
    bytesOut: 10,
    durationUs: 1,
    transaction,
  } as unknown as RequestEvent;
}
