/** Tests of the uWebSockets.js listener: the same exchange, through the library's wire. */

import { afterEach, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import type { Inspector } from '../../contract/inspection.ts';
import type { FrontSettings } from '../front-context.ts';
import {
  blockWith,
  Closing,
  httpOrigin,
  RawClient,
  rawOrigin,
  type Running,
} from '../fixtures/fixture.ts';
import { ScriptedInspector, siteFor, startFront } from '../fixtures/fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

function start(
  port: number,
  inspector: Inspector | null = null,
  settings: Partial<FrontSettings> = {},
): Promise<Running> {
  const waf = { enabled: inspector !== null, mode: 'blocking', failPolicy: 'closed' } as const;
  return startFront(closing, [siteFor(port, { waf })], inspector, settings, 'uws');
}

test('requests with and without bodies on one connection', async () => {
  const origin = await httpOrigin(closing, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (request.url === '/204') response.statusCode = 204;
      if (request.url === '/length') response.setHeader('Content-Length', 6);
      else response.write('');
      response.end(request.method === 'GET' ? 'answer' : `<${Buffer.concat(parts).toString()}>`);
    });
  });
  const front = await start(origin);
  const client = new RawClient(front.port);
  client.send('GET /length?x=1 HTTP/1.1\r\nHost: a\r\nX-Request-Id: abcdefgh\r\n\r\n');
  expect(await client.has('answer')).toMatch(
    /^HTTP\/1\.1 200 OK\r\n[^]*X-Request-Id: abcdefgh\r\n/i,
  );
  client.send('GET /chunked HTTP/1.1\r\nHost: a\r\n\r\n');
  await client.has('answer', 2);
  client.send('POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab');
  await client.has('<ab>');
  client.send(
    'POST /p HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
  );
  await client.has('<abc>');
  client.send('GET /204 HTTP/1.1\r\nHost: a\r\n\r\n');
  await client.has('204 No Content');
  client.send('HEAD /length HTTP/1.1\r\nHost: a\r\n\r\n');
  await client.has('HTTP/1.1 200 OK', 5);
  expect(await client.until((c) => c.text.endsWith('\r\n\r\n'))).toMatch(/6\r\n[^]*\r\n\r\n$/);
  client.send('GET /length HTTP/1.1\r\nHost: a\r\n\r\n');
  await client.has('answer', 3);
  const events = await front.eventsReach(7);
  expect(events.map((event) => event.status)).toEqual([200, 200, 200, 200, 204, 200, 200]);
  expect(events[3]).toMatchObject({ bytesIn: 3, outcome: 'served', clientIp: '127.0.0.1' });
  client.socket.destroy();
});

test('held bodies are inspected; blocks are answered', async () => {
  const inspector = new ScriptedInspector({
    later: true,
    bodyNeed: { inspect: true, limitBytes: 100, onExcess: 'prefix' },
    body: (body) => blockWith(Buffer.from(body?.bytes ?? []).includes('evil') ? 403 : 406, 2),
  });
  const front = await start(1, inspector);
  const client = new RawClient(front.port);
  client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nevil');
  expect(await client.has('}\n')).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
  expect(await front.eventsReach(1)).toMatchObject([{ outcome: 'blocked', status: 403 }]);
  expect(inspector.finished).toBe(1);
  client.socket.destroy();
});

test('a big response reaches a slow client whole', async () => {
  const size = 8 * 1024 * 1024;
  const origin = await httpOrigin(closing, (_, response) => {
    response.setHeader('Content-Length', size);
    response.end(Buffer.alloc(size, 'x'));
  });
  const front = await start(origin);
  const client = new RawClient(front.port);
  client.socket.pause();
  client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await new Promise((resolve) => setTimeout(resolve, 50));
  client.socket.resume();
  const text = await client.until((c) => c.text.length > size);
  expect(text.length - text.indexOf('\r\n\r\n') - 4).toBe(size);
  client.socket.destroy();
});

test('a big request is streamed', async () => {
  let received = 0;
  const origin = await httpOrigin(closing, (request, response) => {
    request.on('data', (part: Buffer) => (received += part.length));
    request.on('end', () => response.end('done'));
  });
  const front = await start(origin);
  const size = 4 * 1024 * 1024;
  const client = new RawClient(front.port);
  client
    .send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`)
    .send(Buffer.alloc(size));
  await client.has('done');
  expect(received).toBe(size);
  client.socket.destroy();
});

test('an abort cancels the origin request; a silent origin gives 504; drain ends', async () => {
  let [asked, closed] = [0, 0];
  const origin = await rawOrigin(closing, (socket) => {
    socket.once('data', () => asked++);
    socket.on('close', () => closed++);
  });
  const patient = await start(origin);
  const aborting = new RawClient(patient.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await eventually(() => asked === 1);
  aborting.socket.resetAndDestroy();
  expect(await patient.eventsReach(1)).toMatchObject([{ outcome: 'client_abort' }]);
  const impatient = await start(origin, null, { requestTotalTimeoutMs: 150 });
  const waiting = new RawClient(impatient.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await waiting.has('}\n')).toContain('HTTP/1.1 504 ');
  expect(await impatient.eventsReach(1)).toMatchObject([{ outcome: 'origin_error' }]);
  await eventually(() => closed === 2);
  waiting.socket.destroy();
  await Promise.all([patient.front.drain(), impatient.front.drain()]);
});

test('a drained one answers one more request of a client between two', async () => {
  const origin = await httpOrigin(closing, (request, response) => response.end(request.url));
  const front = await start(origin);
  const client = new RawClient(front.port).send('GET /first HTTP/1.1\r\nHost: a\r\n\r\n');
  await client.has('/first');
  const drained = front.front.drain();
  client.send('GET /last HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(await client.all()).toMatch(/\/first[^]*\r\nConnection: close\r\n[^]*\/last/i);
  await drained;
});

test('what is refused ends its connection', async () => {
  const origin = await httpOrigin(closing, (_, response) => response.end('answer'));
  const front = await start(origin);
  const client = new RawClient(front.port);
  const text = await client.send('GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n').all();
  expect(text).toMatch(/^HTTP\/1\.1 400 [^]*\r\nConnection: close\r\n/i);
});
