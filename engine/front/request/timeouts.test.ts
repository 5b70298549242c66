/** Tests of times by path: each ends a request of its path, and none of another path. */

import http2 from 'node:http2';
import type http from 'node:http';
import net from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { noDelivery, type TimeoutConfig } from '../../contract/delivery.ts';
import type { SiteConfig } from '../../contract/site.ts';
import {
  Closing,
  httpOrigin,
  RawClient,
  rawOrigin,
  siteFor,
  startFront,
} from '../fixtures/fixture.ts';
import { switching, websocketOrigin } from '../fixtures/websocket-fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

const short = 60;
const none: TimeoutConfig = {
  ...{ pathPrefix: '/short', bodyPauseMs: 0, sendPauseMs: 0, originConnectMs: 0, totalMs: 0 },
  ...{ originAnswerMs: 0, originPauseMs: 0, keepAliveMs: 0, websocketPauseMs: 0 },
};

/** A site whose paths under `/short` have some times. */
function siteWith(port: number, times: Partial<TimeoutConfig>, more = {}): SiteConfig {
  const timeouts = [{ ...none, ...times }];
  return siteFor(port, { delivery: { ...noDelivery, timeouts }, ...more });
}

const head = (path: string, lines = '', method = 'GET'): string =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\n${lines}\r\n`;

/** One request over HTTP/2; resolves when its stream is closed. */
function askHttp2(port: number, path: string, body?: string): Promise<{ readonly status: number }> {
  const client = http2.connect(`http://127.0.0.1:${port}`);
  closing.add(() => client.destroy());
  client.on('error', () => undefined);
  return new Promise((resolve) => {
    let status = 0;
    const method = body === undefined ? 'GET' : 'POST';
    const fields = { ':path': path, ':method': method, ':authority': 'a' };
    const stream = client.request(fields, { endStream: body === undefined });
    stream.on('response', (answer) => (status = Number(answer[':status'])));
    stream.on('error', () => undefined);
    stream.on('close', () => resolve({ status }));
    stream.resume();
    if (body !== undefined) stream.write(body);
  });
}

/** Keeps what it is asked, and answers nothing. */
const silent: http.RequestListener = (request) => void request.on('error', () => undefined);

describe('over HTTP/1.1', () => {
  test('a body that pauses gets 408 under the path, and waits under another', async () => {
    const front = await startFront(closing, [
      siteWith(await httpOrigin(closing, silent), { bodyPauseMs: short }),
    ]);
    const part = 'Content-Length: 9\r\n';
    const other = new RawClient(front.port).send(`${head('/', part, 'POST')}abc`);
    const client = new RawClient(front.port).send(`${head('/short/x', part, 'POST')}abc`);
    expect(await client.all()).toMatch(/^HTTP\/1\.1 408 /);
    const [event] = await front.eventsReach(1);
    expect(event).toMatchObject({ refusal: 'body_timeout', status: 408, bytesIn: 3 });
    expect([other.text, other.ended]).toEqual(['', false]);
  });

  test('an origin that does not answer gives 504 under the path, after one attempt', async () => {
    let asked = 0;
    const port = await httpOrigin(closing, () => asked++);
    const endpoints = [1, 2].map((weight) => ({ host: '127.0.0.1', port, weight }));
    const upstream = {
      ...{ id: 'up-1', scheme: 'http' as const, endpoints },
      resilience: {
        ...{ passiveMaxFails: 1, passiveFailDurationSeconds: 1 },
        ...{ retryDurationMs: 5000, retryIntervalMs: 50 },
      },
    };
    const front = await startFront(closing, [
      siteWith(port, { originAnswerMs: short }, { upstream }),
    ]);
    const other = new RawClient(front.port).send(head('/'));
    await eventually(() => asked === 1);
    const client = new RawClient(front.port).send(head('/short'));
    expect(await client.has('}\n')).toMatch(/^HTTP\/1\.1 504 /);
    const [event] = await front.eventsReach(1);
    expect(event).toMatchObject({ outcome: 'origin_error', refusal: 'origin_first_byte_timeout' });
    expect([asked, other.text]).toEqual([2, '']);
  });

  test('an origin that shakes no hands gives 504 under the path', async () => {
    const port = await rawOrigin(closing, () => undefined);
    const endpoints = [{ host: '127.0.0.1', port, weight: 1 }];
    const upstream = { id: 'up-1', scheme: 'https' as const, endpoints };
    const front = await startFront(closing, [
      siteWith(port, { originConnectMs: short }, { upstream }),
    ]);
    const other = new RawClient(front.port).send(head('/'));
    const client = new RawClient(front.port).send(head('/short'));
    expect(await client.has('}\n')).toMatch(/^HTTP\/1\.1 504 /);
    const [event] = await front.eventsReach(1);
    expect(event).toMatchObject({ refusal: 'origin_connect_timeout', target: '/short' });
    expect(other.text).toBe('');
  });

  test('an answer that pauses is cut under the path', async () => {
    const port = await httpOrigin(closing, (_, response) => {
      response.writeHead(200, { 'Content-Length': 9 });
      response.write('abc');
    });
    const front = await startFront(closing, [siteWith(port, { originPauseMs: short })]);
    const other = new RawClient(front.port).send(head('/'));
    const client = new RawClient(front.port).send(head('/short'));
    expect(await client.all()).toMatch(/^HTTP\/1\.1 200 [^]*abc$/);
    const [event] = await front.eventsReach(1);
    expect(event).toMatchObject({ outcome: 'origin_error', refusal: 'origin_read_timeout' });
    expect([await other.has('abc'), other.ended]).toEqual([expect.stringMatching(/abc$/), false]);
  });

  test('the whole of a request ends in time: with 504, or cut', async () => {
    const port = await httpOrigin(closing, ({ url }, response) => {
      if (url === '/short/begun') response.write('abc');
    });
    const front = await startFront(closing, [siteWith(port, { totalMs: short })]);
    const client = new RawClient(front.port).send(head('/short'));
    expect(await client.has('}\n')).toMatch(/^HTTP\/1\.1 504 /);
    expect((await front.eventsReach(1))[0]).toMatchObject({ refusal: 'total_timeout' });
    const begun = new RawClient(front.port).send(head('/short/begun'));
    expect(await begun.all()).toMatch(/^HTTP\/1\.1 200 [^]*abc\r\n$/);
    expect((await front.eventsReach(2))[1]).toMatchObject({ outcome: 'client_abort' });
  });

  test('a connection waits as long as the path of its last request says', async () => {
    const port = await httpOrigin(closing, (_, response) => response.end('fine'));
    const front = await startFront(closing, [siteWith(port, { keepAliveMs: short })]);
    const other = new RawClient(front.port).send(head('/short') + head('/'));
    await other.has('fine', 2);
    const client = new RawClient(front.port).send(head('/short'));
    expect(await client.all()).toMatch(/^HTTP\/1\.1 200 [^]*fine$/);
    expect(other.ended).toBe(false);
  });

  test('a client that takes nothing of its answer is cut under the path', async () => {
    const port = await httpOrigin(closing, (_, response) => {
      response.end(Buffer.alloc(30_000_000));
    });
    const front = await startFront(closing, [siteWith(port, { sendPauseMs: short })]);
    const socket = net.connect({ host: '127.0.0.1', port: front.port });
    closing.add(() => void socket.destroy());
    socket.pause().write(head('/short'));
    const [event] = await front.eventsReach(1);
    expect(event).toMatchObject({ outcome: 'client_abort', target: '/short' });
  });

  test('a silent WebSocket is closed under the path', async () => {
    const { port } = await websocketOrigin(closing, switching);
    const front = await startFront(closing, [siteWith(port, { websocketPauseMs: short })]);
    const lines =
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n' +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
    const other = new RawClient(front.port).send(head('/', lines));
    await other.has('101 Switching');
    const client = new RawClient(front.port).send(head('/short', lines));
    expect(await client.all()).toMatch(/^HTTP\/1\.1 101 /);
    expect(other.ended).toBe(false);
  });
});

describe('a stream of events', () => {
  const count = 15;
  const events: http.RequestListener = (_, response) => {
    let sent = 0;
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    const timer = setInterval(() => {
      response.write('data: x\n\n');
      if (++sent < count) return;
      clearInterval(timer);
      response.end();
    }, short / 4);
    response.on('close', () => clearInterval(timer));
  };

  test('is not cut while it flows, and outlasts the time of the node for a request', async () => {
    const port = await httpOrigin(closing, events);
    const times = { originPauseMs: short, originAnswerMs: short, totalMs: 60_000 };
    const settings = { requestTotalTimeoutMs: short };
    const front = await startFront(closing, [siteWith(port, times)], null, settings);
    const client = new RawClient(front.port).send(head('/short', 'Connection: close\r\n'));
    expect((await client.all()).split('data: x').length).toBe(count + 1);
    const [event] = await front.eventsReach(1);
    expect(event).toMatchObject({ outcome: 'served', refusal: null });
    const cut = new RawClient(front.port).send(head('/', 'Connection: close\r\n'));
    expect((await cut.all()).split('data: x').length).toBeLessThan(count + 1);
  });

  test('is not cut over HTTP/2 either', async () => {
    const port = await httpOrigin(closing, events);
    const times = { originPauseMs: short, totalMs: 60_000 };
    const settings = { requestTotalTimeoutMs: short };
    const front = await startFront(closing, [siteWith(port, times)], null, settings);
    await askHttp2(front.port, '/short');
    await askHttp2(front.port, '/');
    const outcomes = (await front.eventsReach(2)).map(({ outcome }) => outcome);
    expect(outcomes).toEqual(['served', 'client_abort']);
  });
});

describe.each(['strict', 'uws'] as const)('by the listener %s', (listener) => {
  test('a body that pauses gets 408, an origin without an answer 504', async () => {
    const port = await httpOrigin(closing, silent);
    const times = { bodyPauseMs: short, originAnswerMs: 4 * short };
    const front = await startFront(closing, [siteWith(port, times)], null, {}, listener);
    const part = 'Content-Length: 9\r\n';
    const slow = new RawClient(front.port).send(`${head('/short', part, 'POST')}abc`);
    expect(await slow.all()).toMatch(/^HTTP\/1\.1 408 /);
    const asking = new RawClient(front.port).send(head('/short'));
    expect(await asking.has('}\n')).toMatch(/^HTTP\/1\.1 504 /);
    const refusals = (await front.eventsReach(2)).map(({ refusal }) => refusal);
    expect(refusals).toEqual(['body_timeout', 'origin_first_byte_timeout']);
  });
});

describe('over HTTP/2', () => {
  test('a body that pauses gets 408, an origin without an answer 504', async () => {
    const port = await httpOrigin(closing, silent);
    const times = { bodyPauseMs: short, originAnswerMs: 4 * short };
    const front = await startFront(closing, [siteWith(port, times)]);
    expect(await askHttp2(front.port, '/short', 'abc')).toEqual({ status: 408 });
    expect(await askHttp2(front.port, '/short')).toEqual({ status: 504 });
    const refusals = (await front.eventsReach(2)).map(({ refusal }) => refusal);
    expect(refusals).toEqual(['body_timeout', 'origin_first_byte_timeout']);
  });

  test('a connection waits as long as the path of its last request says', async () => {
    const port = await httpOrigin(closing, (_, response) => response.end('fine'));
    const front = await startFront(closing, [siteWith(port, { keepAliveMs: short })]);
    const client = http2.connect(`http://127.0.0.1:${front.port}`);
    closing.add(() => client.destroy());
    const closed = new Promise((resolve) => client.once('close', resolve));
    client.request({ ':path': '/short', ':authority': 'a' }).resume();
    await closed;
    expect((await front.eventsReach(1))[0]).toMatchObject({ outcome: 'served' });
  });
});
