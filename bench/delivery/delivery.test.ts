/** Tests of what is read of h2load, and of the ratios made of it. */

import { expect, test } from 'vitest';
import { loads, readCounts } from './h2load.ts';
import { deliveryTable, medianRatio, type DeliveryRun } from './report.ts';

const output = `starting benchmark...
TLS Protocol: TLSv1.3
Cipher: TLS_AES_256_GCM_SHA384
Application protocol: h2

finished in 204.51ms, 4889.75 req/s, 732.11KB/s
requests: 1000 total, 1000 started, 1000 done, 990 succeeded, 10 failed, 0 errored, 0 timeout
status codes: 990 2xx, 0 3xx, 10 4xx, 0 5xx
`;

test('counts, time and protocols of a run are read', () => {
  const seconds = expect.closeTo(0.20451, 6) as number;
  const read = { requests: 1000, good: 990, seconds, tls: 'TLSv1.3', protocol: 'h2' };
  expect(readCounts(output)).toEqual(read);
  expect(readCounts('connect() failed')).toBeNull();
});

test('ratios are taken within rounds, and runs with a fault do not count', () => {
  const run = (target: string, round: number, cpuUs: number, fault = ''): DeliveryRun => ({
    ...{ load: 'http2', target, round, cpuUs, perSecond: 1, rssBytes: 2 ** 20, fault },
  });
  const runs = [
    ...[run('nginx', 1, 10), run('nginx', 2, 20), run('nginx', 3, 1, 'a status')],
    ...[run('waf-off', 1, 15), run('waf-off', 2, 40), run('waf-off', 3, 100)],
  ];
  expect(medianRatio(runs, 'http2', 'waf-off')).toBe(1.75);
  expect(medianRatio(runs, 'http1', 'waf-off')).toBeNaN();
  const targets = [{ name: 'waf-off', title: 'waf' }];
  const table = deliveryTable(runs, loads, targets);
  expect(table).toContain('| 40 (1.75) | 15 | 100 | 1 | 1 | met: at most 2 |');
  expect(table).toContain('not measured');
});
