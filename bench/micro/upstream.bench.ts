/**
 * Measures the origin client against undici: CPU microseconds of this process per small GET on kept
 * connections, 16 at a time, in interleaved rounds. The origin is a process of its own, so that its
 * cost is not counted. Run: `node .build/bench/micro/upstream.bench.js [requests] [rounds]`.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Pool, type Dispatcher } from 'undici';
import { systemClock } from '../../base/clock.ts';
import { upstreamLimits } from '../../base/delivery-limits.ts';
import { Deadlines } from '../../engine/base/deadlines.ts';
import { EndpointPool } from '../../engine/upstream/endpoint-pool.ts';
import type { OriginConnection } from '../../engine/upstream/origin-connection.ts';
import type { OriginFailure, OriginSink } from '../../engine/upstream/origin-sink.ts';

const requests = Number(process.argv[2] ?? 20_000);
const rounds = Number(process.argv[3] ?? 3);
const concurrency = 16;

const originSource = `
  const answer = Buffer.from('HTTP/1.1 200 OK\\r\\nContent-Type: text/plain\\r\\nContent-Length: 5\\r\\n\\r\\nhello');
  const server = require('node:net').createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', () => socket.write(answer));
  });
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

const head =
  'GET /path?query=1 HTTP/1.1\r\nHost: origin\r\nUser-Agent: bench\r\nAccept: */*\r\n' +
  'X-Forwarded-For: 127.0.0.1\r\n\r\n';

/** Issues `requests` requests, `concurrency` at a time, through `issue`. */
function drive(issue: (done: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    let issued = 0;
    let finished = 0;
    const next = (): void => {
      issued++;
      issue(() => {
        if (++finished === requests) resolve();
        else if (issued < requests) next();
      });
    };
    for (let i = 0; i < concurrency; i++) next();
  });
}

class BenchSink implements OriginSink {
  readonly originTimes = upstreamLimits;
  private readonly done: () => void;
  private readonly wire = Buffer.from(head);

  constructor(done: () => void) {
    this.done = done;
  }

  originReady(connection: OriginConnection): void {
    connection.endRequest();
    connection.write(this.wire);
  }

  originHead(): void {}

  originBody(): void {}

  originEnd(): void {
    // As the front does: the next request begins once the connection is free again.
    queueMicrotask(this.done);
  }

  originInterim(): void {}

  originTurnEnd(): void {}

  originDrain(): void {}

  originFailed(failure: OriginFailure): void {
    throw new Error(failure.code);
  }
}

async function measure(issue: (done: () => void) => void): Promise<number> {
  const before = process.cpuUsage();
  await drive(issue);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
}

function undiciIssue(pool: Pool): (done: () => void) => void {
  const headers = { 'user-agent': 'bench', accept: '*/*', 'x-forwarded-for': '127.0.0.1' };
  return (done) => {
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: () => undefined,
      onResponseStart: () => undefined,
      onResponseData: () => undefined,
      onResponseEnd: () => done(),
      onResponseError: (_, error) => {
        throw error;
      },
    };
    pool.dispatch({ path: '/path?query=1', method: 'GET', headers }, handler);
  };
}

async function main(): Promise<void> {
  const origin = spawn(process.execPath, ['-e', originSource], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = (await once(origin.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  const deadlines = new Deadlines(systemClock, 250);
  const ours = new EndpointPool(deadlines, { host: '127.0.0.1', port, weight: 1 }, null);
  const undici = new Pool(`http://127.0.0.1:${port}`, { connections: concurrency });
  const results: Record<'ours' | 'undici', number[]> = { ours: [], undici: [] };
  for (let round = -1; round < rounds; round++) {
    const own = await measure((done) => ours.acquire(new BenchSink(done), false, false));
    const other = await measure(undiciIssue(undici));
    // The first round warms up.
    if (round < 0) continue;
    results.ours.push(own);
    results.undici.push(other);
  }
  const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;
  const [own, other] = [median(results.ours), median(results.undici)];
  const report = { requests, rounds, cpuUs: { ours: own, undici: other }, ratio: other / own };
  process.stdout.write(`${JSON.stringify(report)}\n`);
  await undici.destroy();
  ours.close();
  deadlines.close();
  origin.kill();
}

await main();
