/** Proves what a node says of its load: rates, shares in bounds, slow inspections, a new start. */

import { connect, createServer, type AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { FrontCounters } from '../front/facts/counters.ts';
import type { RequestEvent } from '../contract/events.ts';
import { notOverloaded, type OverloadStatus } from '../contract/overload.ts';
import { interfaceBytes, LoadMeter } from './load-meter.ts';

const shedding: OverloadStatus = {
  state: 'shedding',
  action: 'fail_policy',
  probePercent: 25,
  cause: 'event_loop',
};

test('traffic counts once, and the slowest hundredth of inspections is named', () => {
  const meter = new LoadMeter(2);
  const counters = new FrontCounters();
  for (let at = 0; at < 100; at++) counters.add(inspected(at < 98 ? 300 : 20_000), 'p');
  meter.count(counters.drain());
  const load = meter.read(7, shedding, {});
  expect(load).toMatchObject({ activeConnections: 7n, wafPhaseP99Millis: 25n });
  expect(load).toMatchObject({ wafOverloadState: 'shedding', wafProbePercent: 25 });
  expect(load.wafOverloadAction).toBe('fail_policy');
  expect(load.requestsPerSecond).toBeGreaterThan(0n);
  expect(load.blockedPerSecond).toBe(load.requestsPerSecond);
  const rss = process.memoryUsage.rss();
  const difference = Math.abs(Number(load.memoryUsedBytes) - rss) / rss;
  expect(difference).toBeLessThan(0.5);
  expect(load.memoryUsedBytes <= load.memoryTotalBytes).toBe(true);
  for (const share of [load.cpuPercent, load.memoryPercent, load.wafAgentCpuPercent]) {
    expect(share).toBeGreaterThanOrEqual(0);
    expect(share).toBeLessThanOrEqual(100);
  }
  expect(load.goroutines).toBeGreaterThan(1);
  expect(meter.read(0, notOverloaded, {})).toMatchObject({
    requestsPerSecond: 0n,
    wafPhaseP99Millis: 0n,
  });
});

test('bandwidth is what the interfaces counted, in bytes', async () => {
  const text = [
    'Inter-|   Receive                                                |  Transmit',
    ' face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs',
    '    lo:    1000      10    0    0    0     0          0         0     1000      10    0',
    '  eth0: 70000      20    0    0    0     0          0         0     300      10    0',
    'veth9@x:5 1 0 0 0 0 0 0 7 1 0',
  ].join('\n');
  expect(interfaceBytes(text)).toEqual({ received: 71_005, sent: 1_307 });
  expect(interfaceBytes('')).toEqual({ received: 0, sent: 0 });

  // Taken first, so that it is never less than what the meter divides by.
  const started = performance.now();
  const meter = new LoadMeter(1);
  await sendOverLoopback(4_000_000);
  const { bandwidthInBps } = meter.read(0, notOverloaded, {});
  const seconds = (performance.now() - started) / 1000;
  // At least what this test sent; others may send, too, and the kernel adds its headers.
  expect(Number(bandwidthInBps) * seconds).toBeGreaterThan(3_900_000);
});

function sendOverLoopback(bytes: number): Promise<void> {
  return new Promise((resolve) => {
    const server = createServer((socket) => {
      socket.resume().on('end', () => {
        server.close();
        resolve();
      });
    });
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      connect(port, '127.0.0.1').end(Buffer.alloc(bytes));
    });
  });
}

function inspected(inspectionUs: number): RequestEvent {
  const verdict = { action: 'deny' };
  const transaction = { inspectionUs, verdict, detectionOnly: false, matchedRules: [] };
  const event = { siteId: 's', outcome: 'blocked', blocked: true, status: 403, refusal: null };
  return {
    ...event,
    bytesIn: 100,
    bytesOut: 10,
    durationUs: 1,
    transaction,
  } as unknown as RequestEvent;
}

test('where the kernel does not say what the process holds, the rest is reported', () => {
  const silent = vi.spyOn(process.memoryUsage, 'rss').mockImplementation(() => {
    throw new Error('ENOENT: no such file or directory, uv_resident_set_memory');
  });
  const load = new LoadMeter(1).read(3, notOverloaded, {});
  silent.mockRestore();
  expect(load).toMatchObject({ memoryUsedBytes: 0n, activeConnections: 3n });
  expect(load.memoryTotalBytes).toBeGreaterThan(0n);
});
