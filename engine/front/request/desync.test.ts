/**
 * Tests of what keeps two parties from reading a connection differently: content that an origin may
 * leave lying, answers that are longer than they say, fields under other names.
 */

import type net from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { Closing, RawClient, rawOrigin, siteFor, startFront } from '../fixtures/fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

interface Script {
  readonly port: number;
  /** What each connection sent. */
  readonly heard: string[];
}

/** An origin that answers every head at once with what `answer` says, and never reads content. */
async function carelessOrigin(answer: (head: string) => string): Promise<Script> {
  const heard: string[] = [];
  const port = await rawOrigin(closing, (socket: net.Socket) => {
    const index = heard.push('') - 1;
    socket.on('data', (chunk: Buffer) => {
      const text = chunk.toString('latin1');
      heard[index] += text;
      if (/^[A-Z]+ /.test(text)) socket.write(Buffer.from(answer(text), 'latin1'));
    });
  });
  return { port, heard };
}

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const after = 'GET /after HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

describe('content where a method has none', () => {
  const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
  test.each(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'QUERY', 'PROPFIND'])(
    '%s is the last of its connection',
    async (name) => {
      const origin = await carelessOrigin((head) =>
        head.startsWith('HEAD') ? ok.slice(0, -2) : ok,
      );
      const { port } = await startFront(closing, [siteFor(origin.port)]);
      const head = `${name} /a HTTP/1.1\r\nHost: a\r\nContent-Length: ${smuggled.length}\r\n\r\n`;
      const text = await new RawClient(port).send(head + smuggled + after).all();
      expect(text.match(/200 OK/g)).toHaveLength(2);
      expect(origin.heard).toHaveLength(2);
      expect(origin.heard[0]).toMatch(/\r\nConnection: close\r\n/);
      expect(origin.heard[1]).toMatch(/^GET \/after /);
      expect(origin.heard[1]).not.toMatch(/\r\nConnection:/);
    },
  );

  test('POST keeps its connection, and so does GET without content', async () => {
    const origin = await carelessOrigin(() => ok);
    const { port } = await startFront(closing, [siteFor(origin.port)]);
    const post = 'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx';
    const get = 'GET /b HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n';
    await new RawClient(port).send(post + get + after).all();
    expect(origin.heard).toHaveLength(1);
    expect(origin.heard[0]).not.toMatch(/\r\nConnection:/);
  });
});

describe('answers that continue', () => {
  const poison = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison';
  test.each([
    ['after their length', `HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok${poison}`],
    [
      'after their last chunk',
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${poison}`,
    ],
    ['after 204', `HTTP/1.1 204 No Content\r\n\r\n${poison}`],
    ['after 304', `HTTP/1.1 304 Not Modified\r\n\r\n${poison}`],
  ])('%s are not taken for the next', async (_, answer) => {
    const origin = await carelessOrigin((head) => (head.includes('/after') ? ok : answer));
    const { port } = await startFront(closing, [siteFor(origin.port)]);
    const text = await new RawClient(port).send(`GET /a HTTP/1.1\r\nHost: a\r\n\r\n${after}`).all();
    expect(text).not.toContain('poison');
    expect(text).toMatch(/\r\n\r\nok$/);
    expect(origin.heard).toHaveLength(2);
  });

  test('204 that announces content is the last of its connection', async () => {
    const answer = 'HTTP/1.1 204 No Content\r\nContent-Length: 6\r\n\r\n';
    const origin = await carelessOrigin((head) => (head.includes('/after') ? ok : answer));
    const { port } = await startFront(closing, [siteFor(origin.port)]);
    const text = await new RawClient(port).send(`GET /a HTTP/1.1\r\nHost: a\r\n\r\n${after}`).all();
    expect(text).toMatch(/^HTTP\/1.1 204 No Content\r\n(?!Content-Length)[^]*\r\n\r\nok$/);
    expect(origin.heard).toHaveLength(2);
  });
});

describe('answers of which nothing reaches the client but 502', () => {
  test.each([
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx',
    'HTTP/1.1 200 OK\r\nContent-Length: 1, 1\r\n\r\nx',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n',
    'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'HTTP/1.1 200 OK\r\nA: b\nSet-Cookie: c\r\n\r\n',
    'HTTP/1.1 200 OK\r\nA: b\rSet-Cookie: c\r\n\r\n',
    'HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n',
    'HTTP/1.1 200 OK\r\nA : b\r\n\r\n',
    'HTTP/1.1 200 OK\r\nA\r\n\r\n',
    'HTTP/1.1 200 OK\r\nA: \0\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n',
    'HTTP/1.1 99 Low\r\n\r\n',
    'ICY 200 OK\r\n\r\n',
    '<html>no head</html>\r\n\r\n',
    `${'HTTP/1.1 100 Continue\r\n\r\n'.repeat(20)}${ok}`,
    `HTTP/1.1 200 OK\r\nA: ${'b'.repeat(70_000)}\r\n\r\n`,
  ])('%j', async (answer) => {
    const origin = await carelessOrigin(() => answer);
    const { port, eventsReach } = await startFront(closing, [siteFor(origin.port)]);
    const text = await new RawClient(port).send(after).all();
    expect(text).toMatch(/^HTTP\/1.1 502 [^]*\r\nX-Request-Id: /);
    expect(text.match(/HTTP\/1.1 /g)).toHaveLength(1);
    const [event] = await eventsReach(1);
    expect(event).toMatchObject({ outcome: 'origin_error', refusal: 'origin_bad_response' });
  });
});

test('fields spelled with other separators, and fields only proxies set, are not forwarded', async () => {
  const origin = await carelessOrigin(() => ok);
  const { port } = await startFront(closing, [siteFor(origin.port)]);
  const fields = [
    'Content_Length: 5',
    'Transfer.Encoding: chunked',
    'X~Forwarded_For: 6.6.6.6',
    'Content_Type: text/x',
    'X-Forwarded-Port: 1',
    'X-Forwarded-Prefix: /evil',
    'X-Forwarded-Server: evil',
    'X-Forwarded-Ssl: on',
    'X-Forwarded-Scheme: https',
    'X-Forwarded-Group: kept',
    ...[
      'X-Forwarded-Protocol: ssl',
      'Front-End-Https: on',
      'X-Url-Scheme: https',
      'X-Scheme: https',
    ],
    ...['X-Forwarded-Proto-Version: h2', 'X-Original-Host: evil', 'X-Original-URL: /admin'],
    ...['X-Rewrite-URL: /admin', 'X-Host: evil', 'X-Real-IP: 6.6.6.6', 'True-Client-IP: 6.6.6.6'],
    ...['CF-Connecting-IP: 6.6.6.6', 'X-Client-IP: 6.6.6.6', 'X-Cluster-Client-IP: 6.6.6.6'],
    ...[
      'Forwarded: for=6.6.6.6',
      'X-ProxyUser-Ip: 6.6.6.6',
      'Proxy: http://evil',
      'Client-IP: 6.6.6.6',
    ],
    ...['X_Forwarded_Protocol: ssl', 'front_end_https: on', 'TRUE.CLIENT.IP: 6.6.6.6'],
  ];
  await new RawClient(port)
    .send(after.replace('Connection', `${fields.join('\r\n')}\r\nConnection`))
    .all();
  const names = [...origin.heard[0]!.matchAll(/^([^:\r\n]+):/gm)].map((found) => found[1]);
  const ours = ['X-Forwarded-For', 'X-Forwarded-Proto', 'X-Forwarded-Host', 'X-Request-Id'];
  expect(names).toEqual(['Host', 'X-Forwarded-Group', ...ours]);
});
