/** Tests of HTTP/2: one reading of a request, flow both ways, and what ends a connection. */

import http2 from 'node:http2';
import net from 'node:net';
import tls from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { passVerdict } from '../../contract/verdict.ts';
import {
  blockWith,
  Closing,
  httpOrigin,
  ScriptedInspector,
  siteFor,
  startFront,
} from '../fixtures/fixture.ts';
import {
  askSecure,
  getText,
  secureSite,
  startSecureFront,
  type SecureRunning,
} from '../fixtures/secure-fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

const waf = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;

interface Answer {
  readonly status: number;
  readonly headers: http2.IncomingHttpHeaders;
  readonly body: string;
}

const host = 'shop.example';
const trusting = { servername: host, rejectUnauthorized: false };

/** A front for one site with TLS. */
function start(port: number, inspector: ScriptedInspector | null = null): Promise<SecureRunning> {
  const site = { ...secureSite(port, host), ...(inspector === null ? {} : { waf }) };
  return startSecureFront(closing, [site], {}, undefined, inspector);
}

function session(front: SecureRunning): http2.ClientHttp2Session {
  const client = http2.connect(`https://127.0.0.1:${front.securePort}`, trusting);
  client.on('error', () => undefined);
  closing.add(() => client.destroy());
  return client;
}

/** One request; rejects when its stream fails. */
function ask(
  client: http2.ClientHttp2Session,
  headers: http2.OutgoingHttpHeaders,
  body?: Buffer | string,
  begun: () => void = () => undefined,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const stream = client.request({ ':authority': host, ...headers });
    let got: http2.IncomingHttpHeaders = {};
    const parts: Buffer[] = [];
    stream.on('response', (found) => {
      got = found;
      begun();
    });
    stream.on('data', (part: Buffer) => parts.push(part));
    stream.on('error', reject);
    stream.on('close', () => {
      const status = got[':status'] as number | undefined;
      const whole = status !== undefined && stream.rstCode === http2.constants.NGHTTP2_NO_ERROR;
      if (!whole) return reject(new Error(`closed with ${stream.rstCode}`));
      resolve({ status, headers: got, body: Buffer.concat(parts).toString('latin1') });
    });
    if (body === undefined) stream.end();
    else stream.end(body);
  });
}

/** Answers with the request as the origin saw it. */
async function echo(inspector: ScriptedInspector | null = null): Promise<SecureRunning> {
  const port = await httpOrigin(closing, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const { method, url, rawHeaders } = request;
      const length = Buffer.concat(parts).length;
      response.setHeader('X-Odd-Case', 'kept');
      response.end(JSON.stringify({ method, url, rawHeaders, length }));
    });
  });
  return start(port, inspector);
}

describe('a request over HTTP/2', () => {
  test('reaches the origin as HTTP/1.1, and is recorded as what it was', async () => {
    const front = await echo();
    const { status, headers, body } = await ask(session(front), {
      ':path': '/a?b=c',
      cookie: ['one=1', 'two=2'],
      'x-test': 'yes',
    });
    expect(status).toBe(200);
    expect(headers['x-odd-case']).toBe('kept');
    expect(headers).not.toHaveProperty('connection');
    expect(headers).not.toHaveProperty('transfer-encoding');
    const seen = JSON.parse(body) as { method: string; url: string; rawHeaders: string[] };
    expect(seen).toMatchObject({ method: 'GET', url: '/a?b=c', length: 0 });
    const fields = seen.rawHeaders.map((text) => text.toLowerCase());
    expect(fields.filter((text) => text === 'host')).toHaveLength(1);
    expect(fields).toContain('shop.example');
    expect(fields).toContain('one=1; two=2');
    const [event] = await front.eventsReach(1);
    expect(event).toMatchObject({ httpVersion: 'HTTP/2', host: 'shop.example', status: 200 });
    expect(event?.tls?.ja4).toMatch(/^t13d\d{4}h2_/);
  });

  test('is inspected as the rules see it', async () => {
    const heads: string[] = [];
    const inspector = new ScriptedInspector({
      head: (head) => {
        heads.push(head);
        return head.includes('attack') ? blockWith(403, 1) : passVerdict;
      },
    });
    const front = await echo(inspector);
    const client = session(front);
    expect((await ask(client, { ':path': '/attack' })).status).toBe(403);
    expect((await ask(client, { ':path': '/fine' })).status).toBe(200);
    expect(heads).toEqual(['GET /attack HTTP/2.0', 'GET /fine HTTP/2.0']);
  });

  test.each([0, 1, 70_000, 3_000_000])(
    'carries a body of %i bytes in both framings',
    async (size) => {
      const inspector = new ScriptedInspector({
        bodyNeed: { inspect: true, limitBytes: 1_000, onExcess: 'prefix' },
      });
      for (const front of [await echo(), await echo(inspector)]) {
        const client = session(front);
        const body = Buffer.alloc(size, 'x');
        const headers = { ':method': 'POST', ':path': '/p' };
        const open = await ask(client, headers, body);
        expect(JSON.parse(open.body)).toMatchObject({ method: 'POST', length: size });
        const stated = await ask(client, { ...headers, 'content-length': size }, body);
        expect(JSON.parse(stated.body)).toMatchObject({ method: 'POST', length: size });
      }
    },
  );

  test('runs beside others on its connection', async () => {
    const front = await echo();
    const client = session(front);
    const paths = Array.from({ length: 300 }, (_, at) => `/${at}`);
    const answers = await Promise.all(paths.map((path) => ask(client, { ':path': path })));
    const urls = answers.map(({ body }) => (JSON.parse(body) as { url: string }).url);
    expect(urls).toEqual(paths);
    expect(front.front.connections).toBe(1);
  });

  test('to HEAD gets no content, and its length', async () => {
    const front = await echo();
    const answer = await ask(session(front), { ':method': 'HEAD', ':path': '/' });
    expect(answer).toMatchObject({ status: 200, body: '' });
  });
});

describe('two readings of one request are refused', () => {
  test.each([
    ['another host', { host: 'other.example' }, 400],
    ['a host that cannot be', { ':authority': 'a b' }, 400],
    ['CONNECT', { ':method': 'CONNECT', ':authority': 'a.example:443' }, 400],
    ['TRACE', { ':method': 'TRACE', ':path': '/' }, 405],
    ['a scheme of its own', { ':scheme': 'ftp', ':path': '/' }, 400],
    ['too many bytes of fields', { 'x-long': 'y'.repeat(70_000) }, 431],
  ])('%s', async (_, headers, status) => {
    const front = await echo();
    const client = session(front);
    const found = await ask(client, headers).then(
      (answer) => answer.status,
      (error: Error) => error.message,
    );
    // The library refuses some by ending the stream: either way nothing reaches the origin.
    expect([
      status,
      expect.stringMatching(/PROTOCOL_ERROR|REFUSED_STREAM|closed with [17]$/),
    ]).toContainEqual(found);
    expect((await ask(client, { ':path': '/after' })).status).toBe(200);
  });
});

describe('answers', () => {
  test('flow no faster than the client takes them, and whole', async () => {
    const size = 5_000_000;
    const port = await httpOrigin(closing, (_, response) => response.end(Buffer.alloc(size, 'a')));
    const front = await start(port);
    const stream = session(front).request({ ':path': '/', ':authority': host });
    stream.pause();
    let total = 0;
    stream.on('data', (part: Buffer) => {
      total += part.length;
      stream.pause();
      setTimeout(() => stream.resume(), 1);
    });
    stream.resume();
    await new Promise((resolve) => stream.on('close', resolve));
    expect(total).toBe(size);
  });

  test('of an origin that fails halfway end the stream with an error', async () => {
    let fail = (): unknown => undefined;
    const port = await httpOrigin(closing, (_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half');
      fail = () => response.destroy();
    });
    const front = await start(port);
    const client = session(front);
    const answer = ask(client, { ':path': '/' }, undefined, () => void fail());
    await expect(answer).rejects.toThrow();
    expect(client.closed).toBe(false);
  });
});

/** A client that has sent its preface and speaks frames. */
async function rawClient(
  front: SecureRunning,
): Promise<{ socket: tls.TLSSocket; closed: Promise<unknown> }> {
  const socket = tls.connect({ ...trusting, port: front.securePort, ALPNProtocols: ['h2'] });
  socket.on('error', () => undefined);
  socket.resume();
  await new Promise((resolve) => socket.once('secureConnect', resolve));
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(Buffer.from('000000040000000000', 'hex'));
  return { socket, closed };
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** GET https://shop.example/, complete; indexed fields of RFC 7541 appendix A. */
function requestFrame(stream: number): Buffer {
  const authority = Buffer.concat([Buffer.from([0x01, host.length]), Buffer.from(host)]);
  return frame(1, 0x05, stream, Buffer.concat([Buffer.from([0x82, 0x87, 0x84]), authority]));
}

function resetFrame(stream: number): Buffer {
  return frame(3, 0, stream, Buffer.from([0, 0, 0, 8]));
}

describe('a client that floods', () => {
  test('with resets gets ENHANCE_YOUR_CALM, and its requests end', async () => {
    const port = await httpOrigin(closing, () => undefined);
    const front = await start(port);
    const { socket, closed } = await rawClient(front);
    const received: Buffer[] = [];
    socket.on('data', (part: Buffer) => received.push(part));
    for (let at = 0; at < 2_000 && !socket.destroyed; at++) {
      socket.write(Buffer.concat([requestFrame(2 * at + 1), resetFrame(2 * at + 1)]));
      if (at % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await closed;
    // GOAWAY is frame type 7; its code stands after the last stream.
    const frames = Buffer.concat(received);
    const goaway = frames.lastIndexOf(Buffer.from('0000080700000000', 'hex'));
    expect(frames.readUInt32BE(goaway + 13)).toBe(http2.constants.NGHTTP2_ENHANCE_YOUR_CALM);
    expect(await eventually(() => front.front.connections === 0)).toBe(true);
    expect(front.events.length).toBeGreaterThan(100);
    expect(front.events[0]).toMatchObject({ outcome: 'client_abort', target: '/' });
  });

  test.each([
    ['pings', Buffer.from('0000080600000000000102030405060708', 'hex')],
    ['settings', Buffer.from('000000040000000000', 'hex')],
    ['priorities', Buffer.from('0000050200000000010000000010', 'hex')],
    ['tiny window updates', Buffer.from('00000408000000000000000001', 'hex')],
  ])('with %s is closed', async (_, frame) => {
    const port = await httpOrigin(closing, (_request, response) => response.end('ok'));
    const front = await start(port);
    const { socket, closed } = await rawClient(front);
    const many = Buffer.concat(Array.from({ length: 500 }, () => frame));
    for (let round = 0; round < 20 && !socket.destroyed; round++) {
      socket.write(many);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await closed;
    expect(await eventually(() => front.front.connections === 0)).toBe(true);
  });
});

describe('HTTP/2 without TLS', () => {
  const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

  /** What a plain front answers to these pieces, up to `until` or the end. */
  async function answerTo(
    pieces: readonly (Buffer | string)[],
    until: string,
    settings = {},
  ): Promise<Buffer> {
    const port = await httpOrigin(closing, (_, response) => response.end('ok'));
    const front = await startFront(closing, [siteFor(port)], null, settings);
    const socket = net.connect({ port: front.port, host: '127.0.0.1', noDelay: true });
    closing.add(() => void socket.destroy());
    const parts: Buffer[] = [];
    socket.on('data', (part: Buffer) => parts.push(part));
    socket.on('error', () => undefined);
    for (const piece of pieces) {
      await new Promise((resolve) => socket.write(piece, resolve));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await eventually(() => Buffer.concat(parts).includes(until) || socket.destroyed);
    return Buffer.concat(parts);
  }

  test('begins with prior knowledge: one front, one reading, a session of several', async () => {
    const port = await httpOrigin(closing, (request, response) => {
      response.end(`${request.url} ${String(request.headers['x-forwarded-proto'])}`);
    });
    const front = await startFront(closing, [siteFor(port)]);
    const client = http2.connect(`http://127.0.0.1:${front.port}`);
    client.on('error', () => undefined);
    closing.add(() => client.destroy());
    const answers = await Promise.all(
      ['/a', '/b', '/c'].map((path) => ask(client, { ':path': path })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(answers.map(({ body }) => body)).toEqual(['/a http', '/b http', '/c http']);
    await eventually(() => front.events.length === 3);
    expect(front.events.map(({ httpVersion }) => httpVersion)).toEqual([
      ...['HTTP/2', 'HTTP/2', 'HTTP/2'],
    ]);
    expect(front.front.connections).toBe(1);
    client.close();
    expect(await eventually(() => front.front.connections === 0)).toBe(true);
  });

  test('begins in pieces of any size', async () => {
    const bytes = Buffer.concat([Buffer.from(preface), frame(4, 0, 0, Buffer.alloc(0))]);
    const pieces = [...bytes].map((byte) => Buffer.from([byte]));
    const answer = await answerTo([...pieces, requestFrame(1)], 'ok');
    expect(answer[3]).toBe(4);
    expect(answer.includes('ok')).toBe(true);
  });

  test('does not begin where it is off, nor after a request of HTTP/1.1', async () => {
    const refused = 'HTTP/1.1 505 ';
    expect(String(await answerTo([preface], refused, { http2: false }))).toContain(refused);
    const late = await answerTo([`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`, preface], refused);
    expect(String(late)).toMatch(/^HTTP\/1\.1 200 [^]*HTTP\/1\.1 505 /);
  });

  test('does not begin on a connection that chose HTTP/1.1', async () => {
    const front = await echo();
    const { text } = await askSecure(front.securePort, preface, trusting);
    expect(text).toMatch(/^HTTP\/1\.1 505 /);
  });
});

test('a client that does not offer it gets HTTP/1.1', async () => {
  const front = await echo();
  const { text } = await askSecure(front.securePort, getText(host), trusting);
  expect(text).toMatch(/^HTTP\/1\.1 200 /);
});

test('informational answers and trailers of an HTTP/1.1 origin reach clients of HTTP/2', async () => {
  const origin = await httpOrigin(closing, (_, response) => {
    response.writeEarlyHints({ link: ['</a.css>; rel=preload', '</b.css>; rel=preload'] });
    response.writeProcessing();
    response.setHeader('Trailer', 'X-Sum');
    response.write('ok');
    response.addTrailers({ 'X-Sum': '1' });
    response.end();
  });
  const client = session(await start(origin));
  const stream = client.request({ ':authority': host, te: 'trailers' });
  const interim: number[] = [];
  const links: unknown[] = [];
  let trailers: http2.IncomingHttpHeaders = {};
  stream.on('headers', (fields) => {
    interim.push(fields[':status']!);
    links.push(fields.link);
  });
  stream.on('trailers', (fields) => (trailers = fields));
  stream.resume();
  await new Promise((resolve) => stream.on('close', resolve));
  expect(interim).toEqual([103, 102]);
  expect(links[0]).toBe('</a.css>; rel=preload, </b.css>; rel=preload');
  expect(trailers).toMatchObject({ 'x-sum': '1' });
});
