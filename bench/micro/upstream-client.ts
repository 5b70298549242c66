/**
 * The timing of the origin client against an origin in another process, and undici's beside it. CPU
 * time is the figure that counts here: the time of a round trip is the origin's as well.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent } from 'undici';
import { systemClock } from '../../base/clock.ts';
import { upstreamLimits } from '../../base/delivery-limits.ts';
import { Deadlines } from '../../engine/base/deadlines.ts';
import { EndpointPool } from '../../engine/upstream/endpoint-pool.ts';
import type { OriginConnection } from '../../engine/upstream/origin-connection.ts';
import type { OriginFailure, OriginSink } from '../../engine/upstream/origin-sink.ts';
import type { MicroGroup } from './group.ts';

const inFlight = 16;
const callsPerLane = 32;
const request = Buffer.from('GET / HTTP/1.1\r\nHost: www.example.com\r\nAccept: */*\r\n\r\n');

/** Answers every read with one response; heads here arrive in one piece. */
const originScript = `
const answer = 'HTTP/1.1 200 OK\\r\\nContent-Length: 100\\r\\n\\r\\n' + 'x'.repeat(100);
const server = require('net').createServer((socket) => {
  socket.on('error', () => undefined);
  socket.on('data', () => socket.write(answer));
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit()).resume();
`;

/** Starts the origin and prepares both clients. */
export async function upstreamGroup(): Promise<MicroGroup> {
  const origin = spawn(process.execPath, ['-e', originScript], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = (await once(origin.stdout, 'data')) as [Buffer];
  const port = Number(line.toString());
  const deadlines = new Deadlines(systemClock, 250);
  const pool = new EndpointPool(deadlines, { host: '127.0.0.1', port, weight: 1 }, null);
  const agent = new Agent({ connections: inFlight, pipelining: 1 });
  const url = `http://127.0.0.1:${port}`;
  return {
    name: 'upstream',
    title: `Origin client, ${inFlight} requests in flight`,
    tasks: [
      lanes('own client', () => new OneRequest(pool).answered),
      lanes('undici dispatch', () => dispatchOnce(agent, url)),
    ],
    close: async () => {
      pool.close();
      deadlines.close();
      await agent.close();
      origin.stdin.end();
      await once(origin, 'exit');
    },
  };
}

function lanes(name: string, ask: () => Promise<void>): MicroGroup['tasks'][number] {
  const lane = async (): Promise<void> => {
    for (let i = 0; i < callsPerLane; i++) await ask();
  };
  const run = async (): Promise<void> => {
    await Promise.all(Array.from({ length: inFlight }, lane));
  };
  return { name, run, calls: inFlight * callsPerLane };
}

function dispatchOnce(agent: Agent, origin: string): Promise<void> {
  return new Promise((resolve, reject) => {
    agent.dispatch(
      { origin, path: '/', method: 'GET', headers: { host: 'www.example.com', accept: '*/*' } },
      {
        onRequestStart: () => undefined,
        onResponseStart: () => undefined,
        onResponseData: () => undefined,
        onResponseEnd: () => resolve(),
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
}

/** One request through the origin client. */
class OneRequest implements OriginSink {
  readonly originTimes = upstreamLimits;
  readonly answered: Promise<void>;
  private resolve: () => void = () => undefined;
  private reject: (error: Error) => void = () => undefined;

  constructor(pool: EndpointPool) {
    this.answered = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    pool.acquire(this, false, false);
  }

  originReady(connection: OriginConnection): void {
    connection.endRequest();
    connection.write(request);
  }

  originHead(): void {}

  originBody(): void {}

  originEnd(): void {
    this.resolve();
  }

  originInterim(): void {}

  originTurnEnd(): void {}

  originDrain(): void {}

  originFailed(failure: OriginFailure): void {
    this.reject(new Error(`the origin failed: ${failure.code}`));
  }
}
