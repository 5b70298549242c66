/** Tests of the origin client alone: pools, queues, weights, failures, TLS. */

import net from 'node:net';
import tls from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { Deadlines } from '../base/deadlines.ts';
import { upstreamLimits } from '../../base/delivery-limits.ts';
import type { UpstreamConfig } from '../contract/site.ts';
import { EndpointPool } from './endpoint-pool.ts';
import type { OriginTimes } from '../contract/request-times.ts';
import type { OriginConnection } from './origin-connection.ts';
import { OriginNames, type FoundAddress } from './origin-names.ts';
import { ORIGIN_FAILURE, type OriginFailure, type OriginSink } from './origin-sink.ts';
import { connectAddress } from './probe-address.ts';
import { makeCertificate } from './test-certificate.ts';
import { Upstream, UpstreamRegistry } from './upstream.ts';

const { certificatePem, privateKeyPem } = makeCertificate('origin.test');

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

function deadlines(): Deadlines {
  const made = new Deadlines(systemClock, 10);
  cleanups.push(() => made.close());
  return made;
}

function listen(server: net.Server): Promise<number> {
  cleanups.push(() => server.close());
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as net.AddressInfo).port));
  });
}

/** Answers every request with `answer`, and counts connections. */
async function origin(answer: string): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write(answer));
  });
  cleanups.push(() => sockets.forEach((socket) => socket.destroy()));
  return { port: await listen(server), connections: () => connections };
}

/** A request that collects its answer. */
class Collector implements OriginSink {
  originTimes: OriginTimes = upstreamLimits;
  body = '';
  status = 0;
  failure: string | null = null;
  connection: OriginConnection | null = null;
  readonly done: Promise<this>;
  private finish: () => void = () => undefined;
  private readonly wire: string;

  constructor(wire = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n') {
    this.wire = wire;
    this.done = new Promise((resolve) => (this.finish = () => resolve(this)));
  }

  originReady(connection: OriginConnection): void {
    this.connection = connection;
    connection.endRequest();
    connection.write(Buffer.from(this.wire));
  }

  originHead(connection: OriginConnection): void {
    this.status = connection.head.status;
  }

  originBody(bytes: Uint8Array, start: number, end: number): void {
    this.body += Buffer.from(bytes.subarray(start, end)).toString('latin1');
  }

  originEnd(): void {
    this.finish();
  }

  originInterim(): void {}

  originTurnEnd(): void {}

  originDrain(): void {}

  originFailed(failure: OriginFailure): void {
    this.failure = failure.code;
    this.finish();
  }
}

/** A client that reads nothing of its answer. */
class SlowReader extends Collector {
  override originHead(connection: OriginConnection): void {
    super.originHead(connection);
    connection.pauseRead();
    this.begun();
  }

  readonly began: Promise<void>;
  private begun: () => void = () => undefined;

  constructor() {
    super();
    this.began = new Promise((resolve) => (this.begun = resolve));
  }
}

const hello = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello';

describe('a pool', () => {
  test('serves others while slow readers hold as many connections as there may be', async () => {
    const long = `HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(1000)}`;
    const { port } = await origin(long);
    const pool = new EndpointPool(deadlines(), { host: '127.0.0.1', port, weight: 1 }, null);
    const count = upstreamLimits.connectionsPerEndpointMax + 3;
    const readers = Array.from({ length: count }, () => new SlowReader());
    for (const reader of readers) pool.acquire(reader, false, false);
    await Promise.all(readers.map(({ began }) => began));
    expect(readers.map(({ failure }) => failure)).toEqual(readers.map(() => null));
    expect(readers.at(-1)?.status).toBe(200);
    for (const { connection } of readers) connection?.abandon();
  });

  test('a request waits for a connection as long as its own path says', async () => {
    let nowUs = 0;
    const clock = { nowMs: () => 0, monotonicUs: () => nowUs };
    // A step of this length is no pause of the thread; the interval itself never comes.
    const time = new Deadlines(clock, 60_000);
    cleanups.push(() => time.close());
    const port = await listen(net.createServer((socket) => void socket.on('error', () => {})));
    const pool = new EndpointPool(time, { host: '127.0.0.1', port, weight: 1 }, {});
    const [patient, hasty] = [new Collector(), new Collector()];
    patient.originTimes = { ...upstreamLimits, connectTimeoutMs: 20_000 };
    hasty.originTimes = { ...upstreamLimits, connectTimeoutMs: 1_000 };
    for (const sink of [patient, hasty]) pool.acquire(sink, false, false);
    const failuresAt = (ms: number): (string | null)[] => {
      nowUs = ms * 1000;
      time.sweep();
      return [patient.failure, hasty.failure];
    };
    expect(failuresAt(900)).toEqual([null, null]);
    expect(failuresAt(1_100)).toEqual([null, 'origin_connect_timeout']);
    // Longer than the wait for room among its connections.
    expect(failuresAt(upstreamLimits.queueTimeoutMs + 1_000)).toEqual([
      null,
      'origin_connect_timeout',
    ]);
    expect(failuresAt(20_100)).toEqual(['origin_connect_timeout', 'origin_connect_timeout']);
    pool.close();
  });

  test('keeps connections and uses them again', async () => {
    const { port, connections } = await origin(hello);
    const pool = new EndpointPool(deadlines(), { host: '127.0.0.1', port, weight: 1 }, null);
    for (let i = 0; i < 5; i++) {
      const request = new Collector();
      pool.acquire(request, false, false);
      expect((await request.done).body).toBe('hello');
    }
    expect(connections()).toBe(1);
    const fresh = new Collector();
    pool.acquire(fresh, false, true);
    await fresh.done;
    expect(connections()).toBe(2);
    pool.close();
  });

  test('follows a name to another address, and leaves connections to the one before', async () => {
    const { port, connections } = await origin(hello);
    let address = '127.0.0.1';
    let nowMs = 0;
    const names = new OriginNames({
      lookup: async (): Promise<FoundAddress[]> => [{ address, family: 4 }],
      ttlSeconds: async () => 1,
      nowMs: () => nowMs,
    });
    const config = { host: 'origin.test', port, weight: 1 };
    const pool = new EndpointPool(deadlines(), config, null, undefined, names);
    const ask = async (): Promise<string> => {
      const request = new Collector();
      pool.acquire(request, false, false);
      const { body, failure } = await request.done;
      return failure ?? body;
    };
    expect([await ask(), await ask(), connections()]).toEqual(['hello', 'hello', 1]);
    // Nobody listens there.
    address = '127.0.0.2';
    nowMs = 2_000;
    await ask();
    await new Promise((resolve) => setImmediate(resolve));
    expect(await ask()).toBe('origin_connect');
    pool.close();
  });

  test('who asks for a new connection gets no other that becomes free', async () => {
    const { port, connections } = await origin(hello);
    const pool = new EndpointPool(deadlines(), { host: '127.0.0.1', port, weight: 1 }, null);
    const first = new Collector();
    const [fresh, usual] = [new Collector(), new Collector()];
    const end = first.originEnd.bind(first);
    first.originEnd = () => {
      pool.acquire(fresh, false, true);
      pool.acquire(usual, false, false);
      end();
    };
    pool.acquire(first, false, false);
    await first.done;
    await Promise.all([fresh.done, usual.done]);
    expect(fresh.connection).not.toBe(first.connection);
    expect(usual.connection).toBe(first.connection);
    expect(connections()).toBeGreaterThan(1);
    pool.close();
  });

  test('closes idle connections before the time that the origin names', async () => {
    const used = async (seconds: number, pauseMs: number): Promise<number> => {
      let ms = 0;
      const clock = { ...systemClock, monotonicUs: () => ms * 1000 };
      const sweeps = new Deadlines(clock, 100_000);
      cleanups.push(() => sweeps.close());
      const said = hello.replace('\r\n', `\r\nKeep-Alive: timeout=${seconds}, max=9\r\n`);
      const { port, connections } = await origin(said);
      const pool = new EndpointPool(sweeps, { host: '127.0.0.1', port, weight: 1 }, null);
      for (let i = 0; i < 2; i++) {
        const request = new Collector();
        pool.acquire(request, false, false);
        expect((await request.done).body).toBe('hello');
        ms += pauseMs;
        sweeps.sweep();
      }
      pool.close();
      return connections();
    };
    expect(await used(5, 3_900)).toBe(1);
    expect(await used(5, 4_100)).toBe(2);
    expect(await used(1, 400)).toBe(1);
    expect(await used(1, 600)).toBe(2);
    expect(await used(0, 0)).toBe(2);
    expect(await used(900, 29_000)).toBe(1);
    expect(await used(900, 31_000)).toBe(2);
  });

  test('queues past its bound and refuses past the queue', async () => {
    const { port, connections } = await origin(hello);
    const pool = new EndpointPool(deadlines(), { host: '127.0.0.1', port, weight: 1 }, null);
    const count = upstreamLimits.waitingPerEndpointMax + 5;
    const requests = Array.from({ length: count }, () => new Collector());
    for (const request of requests) pool.acquire(request, false, false);
    const done = await Promise.all(requests.map((request) => request.done));
    expect(done.filter((request) => request.failure === 'origin_busy')).toHaveLength(5);
    expect(done.filter((request) => request.body === 'hello')).toHaveLength(count - 5);
    expect(connections()).toBeLessThanOrEqual(upstreamLimits.connectionsPerEndpointMax);
    pool.close();
  });

  test('a request that is given up leaves the queue', async () => {
    const { port } = await origin(hello);
    const pool = new EndpointPool(deadlines(), { host: '127.0.0.1', port, weight: 1 }, null);
    const given = new Collector();
    const kept = new Collector();
    pool.acquire(given, false, false);
    pool.acquire(kept, false, false);
    pool.cancel(given);
    expect((await kept.done).body).toBe('hello');
    expect(given.connection).toBe(null);
    pool.close();
  });

  test('bytes that nobody asked for end the connection', async () => {
    const { port, connections } = await origin(`${hello}surplus`);
    const pool = new EndpointPool(deadlines(), { host: '127.0.0.1', port, weight: 1 }, null);
    for (let i = 1; i <= 2; i++) {
      const request = new Collector();
      pool.acquire(request, false, false);
      expect((await request.done).body).toBe('hello');
      expect(connections()).toBe(i);
    }
    pool.close();
  });
});

describe('an upstream', () => {
  const config = (ports: readonly number[], weights: readonly number[]): UpstreamConfig => ({
    id: 'u',
    scheme: 'http',
    endpoints: ports.map((port, i) => ({ host: '127.0.0.1', port, weight: weights[i] ?? 1 })),
  });

  test('spreads by weight', () => {
    const upstream = new Upstream(deadlines(), config([1, 2], [3, 1]));
    const picks = Array.from({ length: 8 }, () => upstream.pick(0, null)!.name.slice(-1));
    expect(picks.join('')).toBe('11211121');
  });

  test('what comes back from failing gets its share step by step', () => {
    const sweeps = deadlines();
    const upstream = new Upstream(sweeps, config([1, 2], [1, 1]));
    const first = upstream.pick(sweeps.nowMs, null)!;
    first.requestFailed(ORIGIN_FAILURE.connect);
    const back = first.downUntilMs;
    const sharePerCent = (nowMs: number): number =>
      Array.from({ length: 200 }, () => upstream.pick(nowMs, null)).filter((one) => one === first)
        .length / 2;
    expect(sharePerCent(back - 1)).toBe(0);
    const shares = [0, 0.25, 0.5, 1].map((part) =>
      sharePerCent(back + part * upstreamLimits.slowReturnMs),
    );
    const wanted = [0.1, 0.25, 0.5, 1].map((part) => (100 * part) / (part + 1));
    for (const [at, share] of shares.entries()) {
      expect(Math.abs(share - wanted[at]!)).toBeLessThanOrEqual(1.5);
    }
  });

  test('so does what probes found unhealthy before', () => {
    const sweeps = deadlines();
    const upstream = new Upstream(sweeps, config([1, 2], [1, 1]));
    upstream.setUnhealthy(new Set(['127.0.0.1:1']));
    upstream.setUnhealthy(new Set());
    const picks = Array.from({ length: 22 }, () => upstream.pick(sweeps.nowMs, null)!.name);
    expect(picks.filter((name) => name === '127.0.0.1:1').length).toBeLessThanOrEqual(3);
    const later = sweeps.nowMs + upstreamLimits.slowReturnMs;
    const settled = Array.from({ length: 20 }, () => upstream.pick(later, null)!.name);
    expect(settled.filter((name) => name === '127.0.0.1:1').length).toBeGreaterThanOrEqual(9);
  });

  test('asks last what just refused', () => {
    const upstream = new Upstream(deadlines(), config([1, 2], [1, 1]));
    const first = upstream.pick(0, null)!;
    first.downUntilMs = 100;
    const others = Array.from({ length: 4 }, () => upstream.pick(50, null));
    expect(others.every((pool) => pool !== first)).toBe(true);
    expect([upstream.pick(200, null), upstream.pick(200, null)]).toContain(first);
  });

  test('survives a change of configuration that leaves it as it was', () => {
    const registry = new UpstreamRegistry(deadlines());
    const first = registry.hold(config([1], [1]));
    expect(registry.hold(config([1], [1]))).toBe(first);
    registry.release(config([1], [1]));
    expect(registry.hold(config([1], [1]))).toBe(first);
    registry.release(config([1], [1]));
    registry.release(config([1], [1]));
    expect(registry.hold(config([1], [1]))).not.toBe(first);
    registry.close();
  });
});

describe('TLS origins', () => {
  const valid = { certificatePem, privateKeyPem };

  async function tlsOrigin(identity = valid): Promise<number> {
    const options = { key: identity.privateKeyPem, cert: identity.certificatePem };
    const server = tls.createServer(options, (socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => socket.write(hello));
    });
    return listen(server);
  }

  async function ask(change: Partial<UpstreamConfig>, to?: number): Promise<Collector> {
    const port = to ?? (await tlsOrigin());
    const endpoints = [{ host: '127.0.0.1', port, weight: 1 }];
    const upstream = new Upstream(deadlines(), { id: 'u', scheme: 'https', endpoints, ...change });
    cleanups.push(() => upstream.close());
    const request = new Collector();
    upstream.pick(0, null)!.acquire(request, false, false);
    return request.done;
  }

  test('a certificate is verified against the name and the authorities', async () => {
    expect((await ask({})).failure).toBe('origin_tls_authority');
    const trusted = { caPem: certificatePem, serverName: 'origin.test' };
    expect((await ask(trusted)).body).toBe('hello');
    expect((await ask({ ...trusted, serverName: 'other.test' })).failure).toBe('origin_tls_name');
    expect((await ask({ verifyTls: false })).body).toBe('hello');
  });

  function poolOf(port: number): [UpstreamConfig, string] {
    const endpoints = [{ host: '127.0.0.1', port, weight: 1 }];
    return [{ id: 'u', scheme: 'https', endpoints }, `127.0.0.1:${port}`];
  }

  test('a failure names its cause in TLS, a probe says it to people', async () => {
    const old = makeCertificate('origin.test', '210101');
    const expired = await tlsOrigin(old);
    const trustsOld = { caPem: old.certificatePem, serverName: 'origin.test' };
    expect((await ask(trustsOld, expired)).failure).toBe('origin_tls_expired');
    const { port: plain } = await origin('HTTP/1.1 400 Bad Request\r\n\r\n');
    expect((await ask({}, plain)).failure).toBe('origin_tls');
    const [upstream, name] = poolOf(await tlsOrigin());
    const [lapsed, lapsedName] = poolOf(expired);
    expect(await connectAddress(upstream, name, 3_000)).toEqual({
      healthy: false,
      code: 'origin_tls_authority',
      error: 'TLS: the certificate is of an unknown authority; give the pool its CA certificate',
    });
    const found = await connectAddress({ ...lapsed, ...trustsOld }, lapsedName, 3_000);
    expect(found.error).toBe('TLS: the certificate is expired or not yet valid');
    const blind = await connectAddress({ ...upstream, verifyTls: false }, name, 3_000);
    expect(blind).toEqual({ healthy: true, code: '', error: '' });
  });
});
