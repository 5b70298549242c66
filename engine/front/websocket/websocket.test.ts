/** Tests of WebSocket: the handshake is inspected and proved, then bytes go both ways. */

import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'undici';
import { eventually } from '../../../test/support/eventually.ts';
import { passVerdict } from '../../contract/verdict.ts';
import {
  blockWith,
  Closing,
  RawClient,
  ScriptedInspector,
  siteFor,
  startFront,
} from '../fixtures/fixture.ts';
import {
  acceptOf,
  switching,
  websocketOrigin,
  type WebsocketOrigin,
} from '../fixtures/websocket-fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

const waf = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;
const key = 'dGhlIHNhbXBsZSBub25jZQ==';
const opening =
  'GET /chat HTTP/1.1\r\nHost: a\r\nConnection: keep-alive, Upgrade\r\nUpgrade: websocket\r\n' +
  `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`;

const origin = (answer: (key: string) => string): Promise<WebsocketOrigin> =>
  websocketOrigin(closing, answer);

describe('a WebSocket', () => {
  test('carries messages of a client of its own, and is one request in the events', async () => {
    const { port, heads } = await origin(switching);
    const front = await startFront(closing, [siteFor(port)]);
    const client = new WebSocket(`ws://127.0.0.1:${front.port}/chat?room=1`);
    closing.add(() => client.close());
    await new Promise((resolve) => client.addEventListener('open', resolve));
    expect(heads[0]).toMatch(/^GET \/chat\?room=1 HTTP\/1\.1\r\n/);
    expect(heads[0]).toContain('\r\nConnection: Upgrade\r\nUpgrade: websocket');
    expect(front.events).toHaveLength(0);
    expect(front.front.connections).toBe(1);
  });

  test('takes bytes that came with the handshake, and many more, in both directions', async () => {
    const { port } = await origin(switching);
    const front = await startFront(closing, [siteFor(port)]);
    const client = new RawClient(front.port).send(`${opening}first`);
    expect(await client.has('first')).toMatch(/^HTTP\/1\.1 101 /);
    const many = 'x'.repeat(3_000_000);
    client.send(many);
    const text = await client.until(({ text }) => text.length > many.length);
    expect(text.slice(text.indexOf('\r\n\r\n') + 4)).toHaveLength(many.length + 5);
    client.socket.destroy();
    const [event] = await front.eventsReach(1);
    expect(event).toMatchObject({ status: 101, bytesIn: many.length + 5 });
  });

  test('closes with either side', async () => {
    const { port, sockets } = await origin(switching);
    const front = await startFront(closing, [siteFor(port)]);
    const client = new RawClient(front.port).send(opening);
    await client.has('\r\n\r\n');
    sockets[0]!.end();
    expect(await client.all()).toMatch(/^HTTP\/1\.1 101 /);
    expect(await front.eventsReach(1)).toMatchObject([{ outcome: 'served' }]);
    const other = new RawClient(front.port).send(opening);
    await other.has('\r\n\r\n');
    other.socket.destroy();
    expect(await eventually(() => sockets[1]!.destroyed)).toBe(true);
  });

  test('ends when both sides are silent', async () => {
    const { port } = await origin(switching);
    const front = await startFront(closing, [siteFor(port)], null, { websocketIdleMs: 100 });
    expect(await new RawClient(front.port).send(opening).all()).toMatch(/^HTTP\/1\.1 101 /);
  });

  test('leaves the connections of requests to requests', async () => {
    const { port } = await origin((given) =>
      given === '' ? 'HTTP/1.1 204 No Content\r\n\r\n' : switching(given),
    );
    const front = await startFront(closing, [siteFor(port)]);
    const clients = Array.from({ length: 300 }, () => new RawClient(front.port).send(opening));
    for (const client of clients) await client.has('\r\n\r\n');
    const request = new RawClient(front.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await request.has('\r\n\r\n')).toMatch(/^HTTP\/1\.1 204 /);
    for (const client of clients) client.socket.destroy();
  });
});

describe('a handshake', () => {
  test('is inspected', async () => {
    const inspector = new ScriptedInspector({
      head: (head) => (head.includes('/chat') ? blockWith(403, 1) : passVerdict),
    });
    const { port, heads } = await origin(switching);
    const front = await startFront(closing, [siteFor(port, { waf })], inspector);
    const client = new RawClient(front.port).send(opening);
    expect(await client.has('\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /);
    expect(heads).toEqual([]);
  });

  test.each([true, false])('passes the inspection of answers, later: %s', async (later) => {
    const need = { inspect: true, limitBytes: 1_000, onExcess: 'prefix' } as const;
    const inspector = new ScriptedInspector({ responseNeed: need, later });
    const { port } = await origin(switching);
    const front = await startFront(closing, [siteFor(port, { waf })], inspector);
    const client = new RawClient(front.port).send(`${opening}first`);
    expect(await client.has('first')).toMatch(/^HTTP\/1\.1 101 /);
  });

  test('that the origin does not take is an ordinary request', async () => {
    const { port, heads } = await origin(() => 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    const front = await startFront(closing, [siteFor(port)]);
    const next = 'GET /next HTTP/1.1\r\nHost: a\r\n\r\n';
    const client = new RawClient(front.port).send(opening + next);
    const text = await client.has('ok', 2);
    expect(text.match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
    expect(heads.map((head) => head.slice(0, 10))).toEqual(['GET /chat ', 'GET /next ']);
  });

  test.each([
    ['no proof', switching(key, 'x')],
    ['the proof of another key', switching(key, acceptOf(key.replace('d', 'e')))],
    ['another protocol', switching(key).replace('Upgrade: websocket', 'Upgrade: h2c')],
  ])('that the origin answers with %s is an error', async (_, answer) => {
    const { port } = await origin(() => answer);
    const front = await startFront(closing, [siteFor(port)]);
    const client = new RawClient(front.port).send(`${opening}GET /hidden HTTP/1.1\r\n`);
    expect(await client.has('\r\n\r\n')).toMatch(/^HTTP\/1\.1 502 /);
  });

  test.each([
    ['POST', opening.replace('GET', 'POST')],
    ['no key', opening.replace(/Sec-WebSocket-Key.*\r\n/, '')],
    ['two keys', opening.replace('\r\n\r\n', `\r\nSec-WebSocket-Key: ${key}\r\n\r\n`)],
    ['a key of the wrong length', opening.replace(key, 'AAAA')],
    ['another version', opening.replace('Version: 13', 'Version: 8')],
    ['a body', opening.replace('\r\n\r\n', '\r\nContent-Length: 3\r\n\r\nabc')],
    ['HTTP/1.0', opening.replace('HTTP/1.1', 'HTTP/1.0')],
  ])('with %s is refused', async (_, wire) => {
    const { port, heads } = await origin(switching);
    const front = await startFront(closing, [siteFor(port)]);
    expect(await new RawClient(front.port).send(wire).all()).toMatch(/^HTTP\/1\.1 400 /);
    expect(await front.eventsReach(1)).toMatchObject([{ refusal: 'websocket' }]);
    expect(heads).toEqual([]);
  });
});
