/** Tests that targets and runs with wrong answers are found out. */

import { createServer, type AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { checkStatuses, faultsOfRun, type StatusCheck } from './status-check.ts';
import type { Target } from './target.ts';
import type { Workload } from './workload.ts';
import type { LoadReport } from './wrk.ts';

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Answers 403 to requests that hold "attack", else 200. */
async function listen(): Promise<number> {
  const server = createServer((socket) => {
    socket.on('data', (chunk) => {
      const status = chunk.toString().includes('attack') ? '403 Forbidden' : '200 OK';
      socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`);
    });
  });
  closers.push(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const workload: Workload = {
  name: 'w',
  title: 'w',
  fresh: false,
  requests: [
    { bytes: Buffer.from('GET /a'), expect: { plain: 200, waf: 200 }, source: 0 },
    { bytes: Buffer.from('GET /attack'), expect: { plain: 200, waf: 403 }, source: 1 },
    { bytes: Buffer.from('GET /a'), expect: { plain: 200, waf: 200 }, source: 0 },
  ],
};

function targetAt(port: number, expectation: Target['expectation']): Target {
  return { name: 't', title: 't', expectation, baseline: null, host: '127.0.0.1', port, pid: 1 };
}

test('a blocking target passes as WAF, not as plain proxy, and alone by what it does', async () => {
  const port = await listen();
  const asWaf = await checkStatuses(targetAt(port, 'waf'), workload);
  expect([...asWaf.statuses]).toEqual([
    [0, 200],
    [1, 403],
  ]);
  expect(asWaf.faults).toEqual([]);
  const asPlain = await checkStatuses(targetAt(port, 'plain'), workload);
  expect(asPlain.faults).toEqual(['request 1: 403 instead of 200']);
  expect((await checkStatuses(targetAt(port, null), workload)).faults).toEqual([]);
});

const check: StatusCheck = {
  statuses: new Map([
    [0, 200],
    [1, 403],
  ]),
  meanMs: 1,
  faults: [],
};

function report(statuses: Record<string, number>, sent: Record<string, number>): LoadReport {
  const errors = { connect: 0, read: 0, write: 0, timeout: 0, status: 0 };
  const requests = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  return { requests, durationUs: 1, p50Us: 1, p99Us: 1, p999Us: 1, errors, statuses, sent };
}

test('statuses must come in the shares in which requests were sent', () => {
  expect(faultsOfRun(report({ 200: 900, 403: 98 }, { 0: 910, 1: 100 }), check, 16)).toEqual([]);
  expect(faultsOfRun(report({ 200: 960, 403: 40 }, { 0: 910, 1: 100 }), check, 16)).toEqual([
    '960 answers 200 to 910 requests for it',
    '40 answers 403 to 100 requests for it',
  ]);
  expect(faultsOfRun(report({ 200: 900, 502: 98 }, { 0: 910 }), check, 16)).toEqual([
    '98 answers 502',
  ]);
});

test('errors, time-outs and silence do not count', () => {
  const good = report({}, {});
  expect(faultsOfRun(good, check, 16)).toEqual(['no answer at all']);
  const late = { ...good, requests: 9, errors: { ...good.errors, timeout: 1, status: 2 } };
  expect(faultsOfRun(late, check, 16)).toEqual([
    '1 connection errors or time-outs',
    '2 answers above 399',
  ]);
});
