/** Tests of the way through: requests to an origin and answers back, on the wire. */

import type http from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import {
  Closing,
  httpOrigin,
  RawClient,
  rawOrigin,
  siteFor,
  startFront,
} from '../fixtures/fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

/** Answers with what it got. */
function echo(request: http.IncomingMessage, response: http.ServerResponse): void {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    response.setHeader('Content-Type', 'application/json');
    const { method, url, rawHeaders } = request;
    const body = Buffer.concat(parts).toString('latin1');
    response.end(JSON.stringify({ method, url, rawHeaders, body }));
  });
}

function bodyOf(text: string): string {
  return Buffer.from(text.slice(text.indexOf('\r\n\r\n') + 4), 'latin1').toString('utf8');
}

describe('requests', () => {
  test('keep-alive: several requests on one connection, one origin connection', async () => {
    const ports = new Set<number | undefined>();
    const origin = await httpOrigin(closing, (request, response) => {
      ports.add(request.socket.remotePort);
      echo(request, response);
    });
    const { port, eventsReach } = await startFront(closing, [siteFor(origin)]);
    const client = new RawClient(port);
    for (let i = 1; i <= 3; i++) {
      client.send(`GET /n${i} HTTP/1.1\r\nHost: a\r\n\r\n`);
      await client.has('}', i);
    }
    expect(client.text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(3);
    expect(ports.size).toBe(1);
    const events = await eventsReach(3);
    expect(events.map((event) => event.target)).toEqual(['/n1', '/n2', '/n3']);
    expect(events[0]).toMatchObject({
      outcome: 'served',
      status: 200,
      siteId: 'site-1',
      host: 'a',
    });
    client.socket.destroy();
  });

  test('pipelined requests are answered in order', async () => {
    const origin = await httpOrigin(closing, (request, response) => {
      const delay = request.url === '/0' ? 30 : 0;
      setTimeout(() => response.end(`<${request.url}>`), delay);
    });
    const { port } = await startFront(closing, [siteFor(origin)]);
    const many = Array.from({ length: 100 }, (_, i) => `GET /${i} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const client = new RawClient(port).send(many.join(''));
    const text = await client.has('</99>');
    const order = [...text.matchAll(/<\/(\d+)>/g)].map((match) => Number(match[1]));
    expect(order).toEqual(Array.from({ length: 100 }, (_, i) => i));
    client.socket.destroy();
  });

  test('end-to-end fields arrive as sent, hop-by-hop ones and forgeries do not', async () => {
    const origin = await httpOrigin(closing, echo);
    const { port } = await startFront(closing, [siteFor(origin)]);
    const client = new RawClient(port).send(
      'GET /a?b=%20 HTTP/1.1\r\nHost: A.example:81\r\nX_odd.name:  v1 \t\r\nConnection: keep-alive, x-mine\r\n' +
        'X-Mine: 1\r\nKeep-Alive: timeout=5\r\nTE: trailers\r\nUpgrade: h2c\r\nX-Forwarded-For: 6.6.6.6\r\n' +
        'x_forwarded_for: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\nX-Real-IP: 6.6.6.6\r\nProxy: http://evil\r\n' +
        'Cookie: a=\xe4\xff\r\nX-Request-Id: kept-id-12345\r\nAccept: */*\r\n\r\n',
    );
    const answer = JSON.parse(bodyOf(await client.has('}'))) as {
      url: string;
      rawHeaders: string[];
    };
    const { rawHeaders } = answer;
    const fields: string[] = [];
    for (let i = 0; i < rawHeaders.length; i += 2)
      fields.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
    expect(fields).toEqual([
      'Host: A.example:81',
      'X_odd.name: v1',
      'Cookie: a=\xe4\xff',
      'Accept: */*',
      'X-Forwarded-For: 127.0.0.1',
      'X-Forwarded-Proto: http',
      'X-Forwarded-Host: A.example:81',
      'Connection: TE',
      'TE: trailers',
      'X-Request-Id: kept-id-12345',
    ]);
    expect(answer.url).toBe('/a?b=%20');
    expect(client.text).toContain('\r\nX-Request-Id: kept-id-12345\r\n');
    client.socket.destroy();
  });

  test('a malformed request id is replaced', async () => {
    const origin = await httpOrigin(closing, echo);
    const { port } = await startFront(closing, [siteFor(origin)]);
    const client = new RawClient(port).send(
      'GET / HTTP/1.1\r\nHost: a\r\nX-Request-Id: a b c d e f\r\n\r\n',
    );
    expect(await client.has('}')).toMatch(/\r\nX-Request-Id: [0-9a-f]{32}\r\n/);
    client.socket.destroy();
  });

  test('absolute-form and OPTIONS *', async () => {
    const origin = await httpOrigin(closing, echo);
    const { port } = await startFront(closing, [siteFor(origin)]);
    const client = new RawClient(port).send(
      'GET http://a.example?q=1 HTTP/1.1\r\nHost: a.example\r\n\r\n',
    );
    expect(await client.has('}')).toContain('"url":"/?q=1"');
    client.send('OPTIONS * HTTP/1.1\r\nHost: a.example\r\n\r\n');
    expect(await client.has('}', 2)).toContain('"url":"*"');
    client.socket.destroy();
  });

  test('bodies with a length and in chunks', async () => {
    const origin = await httpOrigin(closing, echo);
    const { port, eventsReach } = await startFront(closing, [siteFor(origin)]);
    const client = new RawClient(port).send(
      'POST /l HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello' +
        'POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nfoo\r\n3;x=y\r\nbar\r\n0\r\nT: 1\r\n\r\n' +
        'POST /z HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n',
    );
    const text = await client.has('}', 3);
    expect(text).toContain('"body":"hello"');
    expect(text).toContain('"body":"foobar"');
    expect(text).toMatch(/"url":"\/z".*"Content-Length","0".*"body":""/);
    const events = await eventsReach(3);
    expect(events.map((event) => event.bytesIn)).toEqual([5, 6, 0]);
    client.socket.destroy();
  });

  test('a body that comes byte by byte', async () => {
    const origin = await httpOrigin(closing, echo);
    const { port } = await startFront(closing, [siteFor(origin)]);
    const client = new RawClient(port);
    const wire =
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n';
    for (const byte of wire) {
      client.send(byte);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await client.has('}')).toContain('"body":"hello"');
    client.socket.destroy();
  });

  test('Expect: 100-continue is answered before the body', async () => {
    const origin = await httpOrigin(closing, echo);
    const { port } = await startFront(closing, [siteFor(origin)]);
    const client = new RawClient(port).send(
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n',
    );
    expect(await client.has('\r\n\r\n')).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    client.send('ok');
    const text = await client.has('}');
    expect(text).toContain('"body":"ok"');
    expect(text).not.toContain('Expect');
    client.socket.destroy();
  });

  test('hosts are routed exactly, by one label, or not at all', async () => {
    const first = await httpOrigin(closing, (_, response) => response.end('first'));
    const second = await httpOrigin(closing, (_, response) => response.end('second'));
    const { port, eventsReach } = await startFront(closing, [
      siteFor(first, { id: 'one', hosts: ['a.example'] }),
      siteFor(second, { id: 'two', hosts: ['*.example'] }),
    ]);
    const ask = async (host: string): Promise<string> => {
      const client = new RawClient(port).send(
        `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      );
      return client.all();
    };
    expect(await ask('A.Example:8080')).toContain('first');
    expect(await ask('b.example')).toContain('second');
    const unknown = await ask('x.b.example');
    expect(unknown).toMatch(/^HTTP\/1\.1 404 Not Found\r\nContent-Type: text\/plain/);
    expect(unknown).toMatch(/X-Request-Id: [0-9a-f]{32}/);
    const events = await eventsReach(3);
    expect(events.map((event) => [event.siteId, event.outcome])).toEqual([
      ['one', 'served'],
      ['two', 'served'],
      ['', 'unrouted'],
    ]);
  });
});

describe('responses', () => {
  async function through(wire: string, request = 'GET / HTTP/1.1'): Promise<string> {
    const origin = await rawOrigin(closing, (socket) => {
      socket.once('data', () => socket.end(Buffer.from(wire, 'latin1')));
    });
    const { port } = await startFront(closing, [siteFor(origin)]);
    const client = new RawClient(port).send(`${request}\r\nHost: a\r\nConnection: close\r\n\r\n`);
    const text = await client.all();
    return text.replace(/X-Request-Id: [0-9a-f]+\r\n/, '').replace(/Date: [^\r]+ GMT\r\n/, '');
  }

  const early = 'HTTP/1.1 103 Early Hints\r\nLink: x\r\n';
  const plain = 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n!';
  const plainSent = 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\n!';
  const chunks = 'Transfer-Encoding: chunked\r\n';
  const trailed = `HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\n${chunks}\r\n2\r\nhi\r\n0\r\nX-Sum: 1\r\nKeep-Alive: 5\r\n\r\n`;
  const trailedSent = (head: string, trailers: string): string =>
    `HTTP/1.1 200 OK\r\n${head}${chunks}Connection: close\r\n\r\n2\r\nhi\r\n0\r\n${trailers}\r\n`;
  const rows: readonly (readonly [string, string, string, string])[] = [
    [
      'length',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Request-Id: theirs\r\n\r\nhi',
      'GET / HTTP/1.1',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi',
    ],
    [
      'chunked',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n3\r\nyou\r\n0\r\n\r\n',
      'GET / HTTP/1.1',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhiyou\r\n0\r\n\r\n',
    ],
    [
      'chunked for HTTP/1.0',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n',
      'GET / HTTP/1.0',
      'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhi',
    ],
    [
      'until close',
      'HTTP/1.0 200 OK\r\nServer: x\r\n\r\nhi',
      'GET / HTTP/1.1',
      'HTTP/1.1 200 OK\r\nServer: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nhi\r\n0\r\n\r\n',
    ],
    [
      '204',
      'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n',
      'GET / HTTP/1.1',
      'HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n',
    ],
    [
      '304',
      'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nETag: "x"\r\n\r\n',
      'GET / HTTP/1.1',
      'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\nContent-Length: 5\r\nConnection: close\r\n\r\n',
    ],
    [
      'HEAD',
      'HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n',
      'HEAD / HTTP/1.1',
      'HTTP/1.1 200 OK\r\nContent-Length: 500\r\nConnection: close\r\n\r\n',
    ],
    [
      'informational answers, without what is for one connection only',
      `HTTP/1.1 100 Continue\r\n\r\n${early}Connection: x-a\r\nX-A: b\r\nContent-Length: 3\r\n\r\n` +
        `HTTP/1.1 102 Processing\r\n\r\n${early}Link: y\r\n\r\n${plain}`,
      'GET / HTTP/1.1',
      `${early}\r\nHTTP/1.1 102 Processing\r\n\r\n${early}Link: y\r\n\r\n${plainSent}`,
    ],
    ['informational answers to HTTP/1.0', `${early}\r\n${plain}`, 'GET / HTTP/1.0', plainSent],
    [
      'informational answers to HEAD',
      `${early}\r\nHTTP/1.1 204 No Content\r\n\r\n`,
      'HEAD / HTTP/1.1',
      `${early}\r\nHTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n`,
    ],
    ['trailers that nobody asked for', trailed, 'GET / HTTP/1.1', trailedSent('', '')],
    [
      'trailers',
      trailed,
      'GET / HTTP/1.1\r\nTE: gzip;q=0.5, Trailers',
      trailedSent('Trailer: X-Sum\r\n', 'x-sum: 1\r\n'),
    ],
    [
      'trailers for HTTP/1.0',
      trailed,
      'GET / HTTP/1.0\r\nTE: trailers',
      'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhi',
    ],
  ];
  test.each(rows)('%s', async (_, wire, request, expected) => {
    expect(await through(wire, request)).toBe(expected);
  });

  test.each([1, 5, 1_000])('informational answers and trailers in pieces of %i', async (size) => {
    const wire = Buffer.from(`${early}\r\n${trailed}`);
    const origin = await rawOrigin(closing, (socket) => {
      const send = (at: number): void => {
        if (at >= wire.length) return void socket.end();
        socket.write(wire.subarray(at, at + size));
        setImmediate(() => send(at + size));
      };
      socket.once('data', (asked: Buffer) => {
        heard = asked.toString();
        send(0);
      });
    });
    let heard = '';
    const { port } = await startFront(closing, [siteFor(origin)]);
    const asked = 'GET / HTTP/1.1\r\nHost: a\r\nTE: trailers\r\nConnection: close, TE\r\n\r\n';
    const text = await new RawClient(port).send(asked).all();
    expect(text).toMatch(/^HTTP\/1\.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
    expect(text).toMatch(/0\r\nx-sum: 1\r\n\r\n$/);
    expect(heard).toContain('\r\nConnection: TE\r\nTE: trailers\r\n');
  });

  test('informational answers without an end, or too large together, give 502', async () => {
    expect(await through(`${early}\r\n`.repeat(20) + plain)).toContain('HTTP/1.1 502 ');
    const large = `HTTP/1.1 103 Early Hints\r\nLink: ${'x'.repeat(20_000)}\r\n\r\n`;
    expect(await through(large.repeat(5) + plain)).toContain('HTTP/1.1 502 ');
    expect(await through(large.repeat(2) + plain)).toContain('HTTP/1.1 200 OK');
  });

  test.each([
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n',
    'HTTP/1.1 200 OK\nContent-Length: 3\r\n\r\n',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n',
    'nonsense\r\n\r\n',
    'HTTP/1.1 200 OK\r\n',
    // Its head is sound, and nothing of it was sent yet.
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0x2\r\n',
  ])('an origin that says %j gives 502', async (wire) => {
    expect(await through(wire)).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n/);
  });

  test('an answer that does not say when it was made is dated', async () => {
    const dateOf = async (fields: string): Promise<string[]> => {
      const origin = await rawOrigin(closing, (socket) => {
        const wire = `HTTP/1.1 200 OK\r\n${fields}Content-Length: 0\r\n\r\n`;
        socket.once('data', () => socket.end(wire));
      });
      const { port } = await startFront(closing, [siteFor(origin)]);
      const client = new RawClient(port);
      client.send('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
      return [...(await client.all()).matchAll(/\r\nDate: ([^\r]*)/gi)].map(([, date]) => date!);
    };
    expect(await dateOf('date: yesterday\r\n')).toEqual(['yesterday']);
    const [made, ...more] = await dateOf('X-Date: today\r\n');
    expect(more).toEqual([]);
    expect(new Date(made!).toUTCString()).toBe(made);
  });

  test('HTTP/1.0 keep-alive', async () => {
    const origin = await httpOrigin(closing, echo);
    const { port } = await startFront(closing, [siteFor(origin)]);
    const client = new RawClient(port);
    const request = 'GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n';
    client.send(request);
    expect(await client.has('}')).toContain('\r\nConnection: keep-alive\r\n');
    client.send(request);
    await client.has('}', 2);
    client.socket.destroy();
  });

  test('HTTP/1.0 without Host gets one for the origin', async () => {
    const origin = await httpOrigin(closing, echo);
    const { port } = await startFront(closing, [siteFor(origin)]);
    const text = await new RawClient(port).send('GET / HTTP/1.0\r\n\r\n').all();
    expect(text).toContain(`"Host","127.0.0.1:${origin}"`);
  });
});
