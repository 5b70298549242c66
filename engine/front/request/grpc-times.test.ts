/** How long gRPC calls take: times by path of their site, and the deadline of the client. */

import http2 from 'node:http2';
import { Code, ConnectError, createClient, type ConnectRouter } from '@connectrpc/connect';
import { connectNodeAdapter, createGrpcTransport } from '@connectrpc/connect-node';
import { afterEach, expect, test } from 'vitest';
import { LogService } from '../../../proto/gen/waf/v1/log_pb.ts';
import { SystemService } from '../../../proto/gen/waf/v1/system_pb.ts';
import { noDelivery, type TimeoutConfig } from '../../contract/delivery.ts';
import { Closing, listen, siteFor, startFront, type Running } from '../fixtures/fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

const short = 400;
const messages = 20;
const none: TimeoutConfig = {
  ...{ pathPrefix: '', bodyPauseMs: 0, sendPauseMs: 0, originConnectMs: 0, totalMs: 0 },
  ...{ originAnswerMs: 0, originPauseMs: 0, keepAliveMs: 0, websocketPauseMs: 0 },
};
/** Prefixes of paths, without case as a node has them. */
const streams = `/${LogService.typeName}`.toLowerCase();
const unary = `/${SystemService.typeName}`.toLowerCase();

/** What the origin heard. */
interface Heard {
  deadline: string | null;
  /** Resolves when a call that the origin does not answer is given up. */
  readonly givenUp: Promise<void>;
}

interface Calls extends Heard {
  readonly front: Running;
  readonly log: ReturnType<typeof createClient<typeof LogService>>;
  readonly system: ReturnType<typeof createClient<typeof SystemService>>;
}

/**
 * A front before an origin that never answers `Health`, streams messages that come soon after one
 * another, and pauses for ever after the first where the site id is `pauses`.
 */
async function start(times: readonly Partial<TimeoutConfig>[], totalMs?: number): Promise<Calls> {
  let giveUp = (): void => undefined;
  const heard: Heard = {
    deadline: null,
    givenUp: new Promise((resolve) => (giveUp = resolve)),
  };
  const routes = (router: ConnectRouter): void => {
    router.service(SystemService, {
      health: (_request, { signal, requestHeader }) => {
        heard.deadline = requestHeader.get('grpc-timeout');
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            giveUp();
            reject(new ConnectError('given up', Code.Canceled));
          });
        });
      },
    });
    router.service(LogService, {
      tailSecurityEvents: async function* ({ siteId }, { signal }) {
        for (let at = 0; at < messages; at++) {
          yield { event: { id: String(at) } };
          if (siteId === 'pauses') await aborted(signal);
          await new Promise((resolve) => setTimeout(resolve, short / 8));
        }
      },
    });
  };
  const server = http2.createServer(connectNodeAdapter({ routes }));
  server.on('session', (session) => closing.add(() => session.destroy()));
  closing.add(() => void server.close());
  const timeouts = times.map((one) => ({ ...none, ...one }));
  const site = siteFor(await listen(server), {
    hosts: ['127.0.0.1'],
    delivery: { ...noDelivery, timeouts },
  });
  const settings = totalMs === undefined ? {} : { requestTotalTimeoutMs: totalMs };
  const front = await startFront(closing, [site], null, settings);
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${front.port}` });
  return Object.assign(heard, {
    front,
    log: createClient(LogService, transport),
    system: createClient(SystemService, transport),
  });
}

const aborted = (signal: AbortSignal): Promise<unknown> =>
  new Promise((resolve) => signal.addEventListener('abort', resolve));

/** Reads a stream to its end; the messages that came, and the code with which it failed. */
async function read({ log }: Calls, siteId: string): Promise<{ ids: string[]; code: Code | null }> {
  const ids: string[] = [];
  try {
    for await (const { event } of log.tailSecurityEvents({ siteId })) ids.push(event?.id ?? '');
    return { ids, code: null };
  } catch (error) {
    return { ids, code: ConnectError.from(error).code };
  }
}

const codeOf = (call: Promise<unknown>): Promise<Code | null> =>
  call.then(
    () => null,
    (error: unknown) => ConnectError.from(error).code,
  );

test.each([
  ['the answer', { originAnswerMs: short }, 'origin_first_byte_timeout'],
  ['the whole', { totalMs: short }, 'total_timeout'],
] as const)('a call without an answer ends by the time of %s', async (_, time, refusal) => {
  const calls = await start([{ pathPrefix: unary, ...time }]);
  // gRPC over HTTP/2, HTTP2 status to code: 504 is UNAVAILABLE.
  expect(await codeOf(calls.system.health({}))).toBe(Code.Unavailable);
  const [event] = await calls.front.eventsReach(1);
  expect(event).toMatchObject({ outcome: 'origin_error', status: 504, refusal });
  await calls.givenUp;
});

test('a stream ends where its origin pauses for too long, after what came', async () => {
  const calls = await start([{ pathPrefix: streams, originPauseMs: short }]);
  const { ids, code } = await read(calls, 'pauses');
  expect(ids).toEqual(['0']);
  expect(code).not.toBe(null);
  const [event] = await calls.front.eventsReach(1);
  expect(event).toMatchObject({ outcome: 'origin_error', refusal: 'origin_read_timeout' });
});

test('a stream that lasts longer than each pause, and than the node allows, is not cut', async () => {
  const times = { originPauseMs: short, originAnswerMs: short, totalMs: 600_000 };
  const calls = await start([{ pathPrefix: streams, ...times }], short);
  const { ids, code } = await read(calls, 'flows');
  expect(code).toBe(null);
  expect(ids).toEqual(Array.from({ length: messages }, (_, at) => String(at)));
  const [event] = await calls.front.eventsReach(1);
  expect(event).toMatchObject({ outcome: 'served', refusal: null });
});

test('without the time of its path, the time of the node cuts that stream', async () => {
  const calls = await start([{ pathPrefix: unary, totalMs: 600_000 }], short);
  const { ids, code } = await read(calls, 'flows');
  expect(ids.length).toBeLessThan(messages);
  expect(code).not.toBe(null);
});

test('the deadline of a client reaches the origin; when it is over, the call ends there', async () => {
  const calls = await start([]);
  expect(await codeOf(calls.system.health({}, { timeoutMs: short }))).toBe(Code.DeadlineExceeded);
  await calls.givenUp;
  expect(calls.deadline).toBe(`${short}m`);
  const [event] = await calls.front.eventsReach(1);
  expect(event).toMatchObject({ outcome: 'client_abort' });
});
