/** HTTP/2 without TLS, by prior knowledge; and answers that come before the end of a request. */

import { execFile } from 'node:child_process';
import http2 from 'node:http2';
import net from 'node:net';
import { promisify } from 'node:util';
import { afterEach, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { Closing, httpOrigin, siteFor, startFront, type Running } from '../fixtures/fixture.ts';
import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  frame,
  head,
  host,
  request,
  zeros,
} from '../fixtures/http2-fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const run = promisify(execFile);

/** A front whose origin says what it got. */
async function start(settings = {}): Promise<Running> {
  const port = await httpOrigin(closing, (received, response) => {
    let bytes = 0;
    received.on('data', (part: Buffer) => (bytes += part.length));
    received.on('end', () => {
      const proto = String(received.headers['x-forwarded-proto']);
      response.end(`${received.method} ${received.url} ${proto} ${bytes}`);
    });
  });
  return startFront(closing, [siteFor(port, { hosts: [host] })], null, settings);
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly code: number | undefined;
  readonly error: string;
}

/** One request by node's client; what came, however it ended. */
function ask(port: number, headers: http2.OutgoingHttpHeaders, body?: Buffer): Promise<Answer> {
  const client = http2.connect(`http://127.0.0.1:${port}`);
  closing.add(() => client.destroy());
  client.on('error', () => undefined);
  return new Promise((resolve) => {
    let status = 0;
    let text = '';
    let error = '';
    const stream = client.request({ ':authority': host, ...headers });
    stream.on('response', (fields) => (status = fields[':status'] ?? 0));
    stream.on('data', (part: Buffer) => (text += part.toString('latin1')));
    stream.on('error', (failed) => (error = failed.message));
    stream.on('close', () => {
      client.close();
      resolve({ status, body: text, code: stream.rstCode, error });
    });
    stream.end(body);
  });
}

test('a client that begins with the preface is served over HTTP/2', async () => {
  const front = await start();
  const [got, posted] = await Promise.all([
    ask(front.port, { ':path': '/a?b=c' }),
    ask(front.port, { ':method': 'POST', ':path': '/p' }, zeros(100_000)),
  ]);
  expect(got).toMatchObject({ status: 200, body: 'GET /a?b=c http 0', code: 0 });
  expect(posted).toMatchObject({ status: 200, body: 'POST /p http 100000', code: 0 });
  const events = await front.eventsReach(2);
  expect(events.map(({ outcome }) => outcome)).toEqual(['served', 'served']);
  expect(await eventually(() => front.front.connections === 0)).toBe(true);
});

test('a preface in two pieces is one; HTTP/1.1 beside it is as ever', async () => {
  const front = await start();
  const socket = net.connect({ port: front.port, host: '127.0.0.1', noDelay: true });
  closing.add(() => void socket.destroy());
  let bytes = Buffer.alloc(0);
  socket.on('data', (part: Buffer) => (bytes = Buffer.concat([bytes, part])));
  socket.write(preface.slice(0, 10));
  await new Promise((resolve) => setTimeout(resolve, 20));
  const get = head([':method', 'GET'], [':scheme', 'http'], [':path', '/'], [':authority', host]);
  socket.write(Buffer.concat([Buffer.from(preface.slice(10)), frame(FRAME.SETTINGS, 0, 0)]));
  socket.write(request(1, get));
  expect(await eventually(() => bytes.includes('GET / http 0'))).toBe(true);
  const url = `http://127.0.0.1:${front.port}/one`;
  const plain = await run('curl', ['-s', '-H', `Host: ${host}`, url]);
  expect(plain.stdout).toBe('GET /one http 0');
});

test('curl with prior knowledge is served', async () => {
  const front = await start();
  const url = `http://127.0.0.1:${front.port}/curl`;
  const curl = ['-s', '--http2-prior-knowledge', '-H', `Host: ${host}`];
  expect((await run('curl', [...curl, url])).stdout).toBe('GET /curl http 0');
  const large = await run('curl', [...curl, '-w', ' %{http_code}', '-d', 'x'.repeat(120_000), url]);
  expect(large.stdout).toBe('POST /curl http 120000 200');
});

test('a front that drains ends such a connection, too', async () => {
  const front = await start();
  const client = http2.connect(`http://127.0.0.1:${front.port}`);
  closing.add(() => client.destroy());
  const stream = client.request({ ':path': '/', ':authority': host });
  stream.resume();
  await new Promise((resolve) => stream.on('close', resolve));
  const gone = new Promise((resolve) => client.on('close', resolve));
  await Promise.all([front.front.drain(), gone]);
  expect(front.front.connections).toBe(0);
});

test.each([1_000, 60_000, 150_000])(
  'who is answered before %i bytes are sent sees the answer, and no error',
  async (length) => {
    const front = await start();
    const headers = { ':method': 'POST', ':path': '/', ':authority': 'other.test' };
    const answer = await ask(front.port, headers, zeros(length));
    expect(answer).toMatchObject({ status: 404, code: 0, error: '' });
    expect(answer.body.length).toBeGreaterThan(0);
  },
);

test('curl that still sends sees the answer', async () => {
  const front = await start();
  const url = `http://127.0.0.1:${front.port}/`;
  const line = ['-s', '--http2-prior-knowledge', '-H', 'Host: other.test', '-w', ' %{http_code}'];
  const { stdout } = await run('curl', [...line, '-d', 'x'.repeat(120_000), url]);
  expect(stdout).toMatch(/ 404$/);
});

/** Where frames of a type of stream 1 begin, those that have come whole. */
function framesOf(bytes: Buffer, type: number): number[] {
  const found: number[] = [];
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    const whole = at + 9 + bytes.readUIntBE(at, 3) <= bytes.length;
    if (whole && bytes[at + 3] === type && bytes.readUInt32BE(at + 5) === 1) found.push(at);
  }
  return found;
}

const answered = (bytes: Buffer): boolean =>
  framesOf(bytes, FRAME.DATA).some((at) => bytes[at + 4] === END_STREAM);
const piece = 8_000;
/** What the window of the stream grew by. */
const granted = (bytes: Buffer): number =>
  framesOf(bytes, FRAME.WINDOW_UPDATE)
    .map((at) => bytes.readUInt32BE(at + 9))
    .reduce((sum, one) => sum + one, 0);
/** Codes of resets. */
const resets = (bytes: Buffer): number[] =>
  framesOf(bytes, FRAME.RST_STREAM).map((at) => bytes.readUInt32BE(at + 9));

test.each([
  ['never stops', true],
  ['never ends', false],
])('a request that was answered and %s is reset without an error', async (_, more) => {
  const front = await start();
  const socket = net.connect({ port: front.port, host: '127.0.0.1' });
  closing.add(() => void socket.destroy());
  let bytes = Buffer.alloc(0);
  socket.on('data', (part: Buffer) => (bytes = Buffer.concat([bytes, part])));
  socket.on('error', () => undefined);
  const post = head(
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', '/'],
    [':authority', 'a.test'],
  );
  const settings = frame(FRAME.SETTINGS, 0, 0);
  socket.write(Buffer.concat([Buffer.from(preface), settings, request(1, post, END_HEADERS)]));
  expect(await eventually(() => answered(bytes))).toBe(true);
  expect(resets(bytes)).toEqual([]);
  let sent = 0;
  await eventually(() => {
    // As much as the windows allow.
    while (more && sent + piece <= 65_535 + granted(bytes)) {
      socket.write(frame(FRAME.DATA, 0, 1, zeros(piece)));
      sent += piece;
    }
    return resets(bytes).length > 0;
  });
  expect(resets(bytes)).toEqual([0]);
  if (more) expect(sent).toBeGreaterThan(200_000);
});
