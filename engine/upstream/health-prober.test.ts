/** Tests of probes: what an answer must be, when an opinion turns, what a new generation keeps. */

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import type { AddressHealth } from '../contract/health.ts';
import type { HealthCheckConfig, UpstreamConfig } from '../contract/site.ts';
import { HealthProber, unhealthyOf } from './health-prober.ts';
import { probeAddress } from './probe-address.ts';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

const standard: HealthCheckConfig = {
  path: '/health',
  method: 'GET',
  expectedStatus: 200,
  intervalSeconds: 0.02,
  timeoutSeconds: 5,
  unhealthyThreshold: 3,
  healthyThreshold: 2,
  followRedirects: false,
  expectedBody: '',
  host: '',
};

async function origin(handler: http.RequestListener): Promise<number> {
  const server = http.createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function upstreamOf(port: number, change: Partial<HealthCheckConfig> = {}): UpstreamConfig {
  const endpoints = [{ host: '127.0.0.1', port, weight: 1 }];
  return { id: 'u', scheme: 'http', endpoints, healthCheck: { ...standard, ...change } };
}

async function probe(port: number, change: Partial<HealthCheckConfig> = {}): Promise<boolean> {
  const upstream = upstreamOf(port, change);
  const finding = await probeAddress(upstream, `127.0.0.1:${port}`, upstream.healthCheck!);
  // Whatever is wrong has a code and a text.
  expect([finding.code !== '', finding.error !== '']).toEqual([!finding.healthy, !finding.healthy]);
  return finding.healthy;
}

test('an answer is well by its status, its text, its time and its host', async () => {
  const port = await origin((request, response) => {
    if (request.url === '/slow') return;
    if (request.url === '/away') {
      response.writeHead(302, { location: 'http://127.0.0.1:1/health' }).end();
    } else if (request.url === '/moved') response.writeHead(302, { location: '/health' }).end();
    else if (request.url === '/loop') response.writeHead(302, { location: '/loop' }).end();
    else if (request.method === 'HEAD') response.writeHead(204).end();
    else response.end(`ok for ${request.headers.host}`);
  });
  expect(await probe(port)).toBe(true);
  expect(await probe(port, { expectedStatus: 204 })).toBe(false);
  expect(await probe(port, { method: 'HEAD', expectedStatus: 204 })).toBe(true);
  expect(await probe(port, { expectedBody: 'ok for' })).toBe(true);
  expect(await probe(port, { expectedBody: 'fine' })).toBe(false);
  expect(await probe(port, { host: 'app.example', expectedBody: 'for app.example' })).toBe(true);
  expect(await probe(port, { path: '/slow', timeoutSeconds: 0.05 })).toBe(false);
  expect(await probe(port, { path: '/moved' })).toBe(false);
  expect(await probe(port, { path: '/moved', expectedStatus: 302 })).toBe(true);
  expect(await probe(port, { path: '/moved', followRedirects: true })).toBe(true);
  expect(await probe(port, { path: '/away', followRedirects: true })).toBe(false);
  expect(await probe(port, { path: '/loop', followRedirects: true })).toBe(false);
  expect(await probe(1)).toBe(false);
});

test('the first answer decides; later changes need several in a row', async () => {
  const answers = [200, 500, 500, 200, 500, 500, 500, 200, 500, 200, 200];
  let asked = 0;
  const port = await origin((_, response) => {
    response.writeHead(answers[asked++] ?? 200).end();
  });
  const changes: { asked: number; status: string }[] = [];
  let finished = (): void => undefined;
  const over = new Promise<void>((resolve) => (finished = resolve));
  const prober = new HealthProber({
    onChange: ([one]) => {
      if (one === undefined || one.status === 'unknown') return;
      changes.push({ asked, status: one.status });
      if (changes.length === 3) finished();
    },
  });
  cleanups.push(() => prober.close());
  prober.watch([upstreamOf(port)]);
  expect(prober.health()).toMatchObject([{ status: 'unknown', url: `http://127.0.0.1:${port}` }]);
  await over;
  expect(changes).toEqual([
    { asked: 1, status: 'healthy' },
    { asked: 7, status: 'unhealthy' },
    { asked: 11, status: 'healthy' },
  ]);
});

test('a new generation keeps what is known of addresses that stay, and forgets the others', async () => {
  const port = await origin((_, response) => void response.writeHead(500).end());
  let last: readonly AddressHealth[] = [];
  let heard = (): void => undefined;
  const first = new Promise<void>((resolve) => (heard = resolve));
  const prober = new HealthProber({
    onChange: (health) => {
      last = health;
      if (health.some(({ status }) => status === 'unhealthy')) heard();
    },
  });
  cleanups.push(() => prober.close());
  prober.watch([upstreamOf(port)]);
  await first;
  expect([...unhealthyOf(last).entries()]).toEqual([['u', new Set([`127.0.0.1:${port}`])]]);
  prober.watch([upstreamOf(port), { ...upstreamOf(port), id: 'v' }]);
  expect(prober.health().map(({ status }) => status)).toEqual(['unhealthy', 'unknown']);
  prober.watch([]);
  expect([prober.health(), unhealthyOf(last).size]).toEqual([[], 0]);
});
