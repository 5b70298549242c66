/** Tests of WebSocket over HTTP/2 (RFC 8441): one reading with HTTP/1.1, bytes both ways, ends. */

import http2 from 'node:http2';
import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { passVerdict } from '../../contract/verdict.ts';
import { blockWith, Closing, ScriptedInspector } from '../fixtures/fixture.ts';
import { secureSite, startSecureFront, type SecureRunning } from '../fixtures/secure-fixture.ts';
import type { FrontSettings } from '../front-context.ts';
import { frame } from '../fixtures/websocket-frames-fixture.ts';
import {
  acceptOf,
  switching,
  websocketOrigin,
  type WebsocketOrigin,
} from '../fixtures/websocket-fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

const host = 'shop.example';
const waf = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;
const opening = {
  ':method': 'CONNECT',
  ':protocol': 'websocket',
  ':scheme': 'https',
  ':path': '/chat?room=1',
  ':authority': host,
  'sec-websocket-version': '13',
  origin: 'https://shop.example',
} as const;

/** Opens every WebSocket that it is asked for with a word, and sends back what comes. */
function echoOrigin(proved = true): Promise<WebsocketOrigin> {
  const lines = 'Sec-WebSocket-Protocol: chat\r\n';
  return websocketOrigin(
    closing,
    (key) => `${switching(key, proved ? acceptOf(key) : 'x', lines)}hello`,
  );
}

function start(
  port: number,
  inspector: ScriptedInspector | null = null,
  settings: Partial<FrontSettings> = {},
): Promise<SecureRunning> {
  const site = { ...secureSite(port, host), ...(inspector === null ? {} : { waf }) };
  return startSecureFront(closing, [site], settings, undefined, inspector);
}

async function session(front: SecureRunning): Promise<http2.ClientHttp2Session> {
  const client = http2.connect(`https://127.0.0.1:${front.securePort}`, {
    ...{ servername: host, rejectUnauthorized: false },
  });
  client.on('error', () => undefined);
  closing.add(() => client.destroy());
  await new Promise((resolve) => client.once('remoteSettings', resolve));
  return client;
}

class Opened {
  text = '';
  status = 0;
  ended = false;
  closed = false;
  headers: http2.IncomingHttpHeaders = {};
  readonly stream: http2.ClientHttp2Stream;

  constructor(client: http2.ClientHttp2Session, more: http2.OutgoingHttpHeaders = {}) {
    this.stream = client.request({ ...opening, ...more }, { endStream: false });
    this.stream.on('response', (headers) => {
      this.headers = headers;
      this.status = headers[':status'] ?? 0;
    });
    this.stream.on('data', (bytes: Buffer) => (this.text += bytes.toString('latin1')));
    this.stream.on('end', () => (this.ended = true));
    this.stream.on('close', () => (this.closed = true));
    this.stream.on('error', () => (this.closed = true));
  }
}

describe.each([false, true])('inspected messages over HTTP/2, later: %s', (later) => {
  test('pass, and what rules refuse closes the stream with 1008', async () => {
    const inspector = new ScriptedInspector({
      bodyNeed: { inspect: true, limitBytes: 100_000, onExcess: 'reject' },
      body: (body) =>
        Buffer.from(body?.bytes ?? []).includes('attack') ? blockWith(403, 2) : passVerdict,
      later,
    });
    const { port, sockets } = await websocketOrigin(closing, switching);
    const site = { ...secureSite(port, host), waf, websocketMessages: 'block' as const };
    const front = await startSecureFront(closing, [site], {}, undefined, inspector);
    const opened = new Opened(await session(front));
    await eventually(() => opened.status === 200);
    let got = Buffer.alloc(0);
    sockets[0]!.removeAllListeners('data');
    sockets[0]!.on('data', (bytes: Buffer) => (got = Buffer.concat([got, bytes])));
    const first = Buffer.concat([frame({ payload: 'one' }), frame({ opcode: 9, payload: 'p' })]);
    opened.stream.write(first);
    await eventually(() => got.length === first.length);
    expect(got).toEqual(first);
    opened.stream.write(frame({ payload: 'attack' }));
    await eventually(() => opened.ended);
    expect(opened.text).toBe('\x88\x02\x03\xf0');
    expect(got).toHaveLength(first.length);
  });
});

describe('a WebSocket over HTTP/2', () => {
  test('is offered, opens with 200, and carries bytes both ways', async () => {
    const { port, heads } = await echoOrigin();
    const front = await start(port);
    const client = await session(front);
    expect(client.remoteSettings.enableConnectProtocol).toBe(true);
    const opened = new Opened(client);
    await eventually(() => opened.text === 'hello');
    expect(opened.status).toBe(200);
    expect(opened.headers['sec-websocket-protocol']).toBe('chat');
    for (const name of ['sec-websocket-accept', 'upgrade', 'connection']) {
      expect(opened.headers).not.toHaveProperty(name);
    }
    expect(heads[0]).toMatch(/^GET \/chat\?room=1 HTTP\/1\.1\r\n/);
    expect(heads[0]).toContain('\r\nConnection: Upgrade\r\nUpgrade: websocket');
    expect(heads[0]).toMatch(/sec-websocket-key: [A-Za-z0-9+/]{22}==/i);
    const many = 'x'.repeat(1_000_000);
    opened.stream.write(many);
    await eventually(() => opened.text.length === many.length + 5);
    // Others of the connection are requests as ever.
    const other = new Opened(client);
    await eventually(() => other.text === 'hello');
    opened.stream.end();
    const [event] = await front.eventsReach(1);
    expect(event).toMatchObject({ status: 101, method: 'GET', bytesIn: many.length });
    await eventually(() => opened.ended && opened.closed);
  });

  test('takes what was sent before it was open, and the end of the client after it', async () => {
    const { port, sockets } = await echoOrigin();
    const front = await start(port);
    const opened = new Opened(await session(front));
    opened.stream.end('first');
    await eventually(() => opened.closed);
    await eventually(() => sockets[0]!.destroyed);
    expect(await front.eventsReach(1)).toMatchObject([{ bytesIn: 5 }]);
  });

  test('ends with the origin, and with silence', async () => {
    const { port, sockets } = await echoOrigin();
    const front = await start(port, null, { websocketIdleMs: 200 });
    const client = await session(front);
    const opened = new Opened(client);
    await eventually(() => opened.text === 'hello');
    sockets[0]!.end();
    await eventually(() => opened.ended);
    expect(await front.eventsReach(1)).toMatchObject([{ outcome: 'served' }]);
    const silent = new Opened(client);
    await eventually(() => silent.text === 'hello');
    await eventually(() => silent.ended);
  });

  test('ends with the connection of its client', async () => {
    const { port, sockets } = await echoOrigin();
    const front = await start(port);
    const client = await session(front);
    const opened = new Opened(client);
    await eventually(() => opened.text === 'hello');
    client.destroy();
    await eventually(() => sockets[0]!.destroyed);
    expect(await front.eventsReach(1)).toMatchObject([{ status: 101 }]);
  });
});

describe('its handshake', () => {
  test('is inspected as the GET that it is', async () => {
    const seen: string[] = [];
    const inspector = new ScriptedInspector({
      head: (head) => {
        seen.push(head);
        return head.includes('/chat') ? blockWith(403, 1) : passVerdict;
      },
    });
    const { port, heads } = await echoOrigin();
    const front = await start(port, inspector);
    const opened = new Opened(await session(front));
    await eventually(() => opened.status === 403);
    expect(seen).toEqual(['GET /chat?room=1 HTTP/2.0\r\n'.trimEnd()]);
    expect(heads).toEqual([]);
  });

  test.each([true, false])('passes the inspection of answers, later: %s', async (later) => {
    const need = { inspect: true, limitBytes: 1_000, onExcess: 'prefix' } as const;
    const { port } = await echoOrigin();
    const front = await start(port, new ScriptedInspector({ responseNeed: need, later }));
    const opened = new Opened(await session(front));
    await eventually(() => opened.text === 'hello');
    expect(opened.status).toBe(200);
  });

  test('that the origin does not prove is an error', async () => {
    const { port } = await echoOrigin(false);
    const front = await start(port);
    const opened = new Opened(await session(front));
    await eventually(() => opened.status === 502);
    expect(opened.text).not.toContain('hello');
  });

  test.each([
    ['a key of its own', { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }, 400, 'websocket'],
    ['another version', { 'sec-websocket-version': '8' }, 400, 'websocket'],
    ['a length', { 'content-length': '3' }, 400, 'websocket'],
    ['another protocol', { ':protocol': 'connect-udp' }, 400, 'target'],
  ])('with %s is refused', async (_, more, status, reason) => {
    const { port, heads } = await echoOrigin();
    const front = await start(port);
    const opened = new Opened(await session(front), more);
    await eventually(() => opened.status > 0 || opened.closed);
    if (status > 0) expect(opened.status).toBe(status);
    expect(await front.eventsReach(1)).toMatchObject([{ outcome: 'refused', refusal: reason }]);
    expect(heads).toEqual([]);
  });
});
