/**
 * Tests of bodies that do not fit in memory, of inspection on the way, of aborts and of draining.
 */

import type http from 'node:http';
import type net from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { passVerdict } from '../../contract/verdict.ts';
import { blockWith, Closing, httpOrigin, RawClient, rawOrigin } from '../fixtures/fixture.ts';
import { ScriptedInspector, siteFor, startFront } from '../fixtures/fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

const waf = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;
const piece = Buffer.alloc(65_536, 'x');
const pieces = 256;

/** Writes 16 MiB as fast as the reader takes it; `sent` tells how much went out so far. */
function pour(
  socket: net.Socket | http.ServerResponse,
  wrap = (b: Buffer): Buffer => b,
): { sent: number } {
  const state = { sent: 0 };
  const more = (): void => {
    while (state.sent < pieces * piece.length) {
      state.sent += piece.length;
      if (!socket.write(wrap(piece))) return void socket.once('drain', more);
    }
  };
  more();
  return state;
}

describe('back-pressure', () => {
  test('a big response waits for a slow client', async () => {
    let poured = { sent: 0 };
    const origin = await httpOrigin(closing, (_, response) => {
      response.setHeader('Content-Length', pieces * piece.length);
      poured = pour(response);
    });
    const front = await startFront(closing, [siteFor(origin)]);
    const client = new RawClient(front.port);
    client.socket.pause();
    client.send('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    await eventually(() => poured.sent > 0);
    let before = -1;
    // The flow has stopped when nothing moved between two looks.
    await eventually(() => {
      const still = poured.sent === before;
      before = poured.sent;
      return still;
    });
    expect(poured.sent).toBeLessThan(pieces * piece.length);
    client.socket.resume();
    const text = await client.all();
    expect(text.length - text.indexOf('\r\n\r\n') - 4).toBe(pieces * piece.length);
    const [event] = await front.eventsReach(1);
    expect(event).toMatchObject({ outcome: 'served', bytesOut: pieces * piece.length });
  });

  test.each(['length', 'chunked'])(
    'a big request (%s) waits for a slow origin',
    async (framing) => {
      let gone: http.IncomingMessage | null = null;
      let received = 0;
      const origin = await httpOrigin(closing, (request, response) => {
        gone = request;
        request.pause();
        request.on('data', (part: Buffer) => (received += part.length));
        request.pause();
        request.on('end', () => response.end('done'));
      });
      const front = await startFront(closing, [siteFor(origin)]);
      const client = new RawClient(front.port);
      const total = pieces * piece.length;
      const line = framing === 'length' ? `Content-Length: ${total}` : 'Transfer-Encoding: chunked';
      client.send(`POST / HTTP/1.1\r\nHost: a\r\n${line}\r\n\r\n`);
      const wrap = (part: Buffer): Buffer =>
        framing === 'length'
          ? part
          : Buffer.concat([Buffer.from('10000\r\n'), part, Buffer.from('\r\n')]);
      const poured = pour(client.socket, wrap);
      await eventually(() => gone !== null);
      let before = -1;
      await eventually(() => {
        const still = poured.sent === before;
        before = poured.sent;
        return still;
      });
      expect(poured.sent).toBeLessThan(total);
      gone!.resume();
      await eventually(() => poured.sent === total);
      if (framing === 'chunked') client.send('0\r\n\r\n');
      await client.has('done');
      expect(received).toBe(total);
      client.socket.destroy();
    },
  );
});

describe('inspection on the way', () => {
  test.each([false, true])(
    'a held body is inspected, then forwarded whole (later: %s)',
    async (later) => {
      const bodies: string[] = [];
      const inspector = new ScriptedInspector({
        later,
        bodyNeed: { inspect: true, limitBytes: 8, onExcess: 'prefix' },
        body: (body) => {
          const text = Buffer.from(body?.bytes ?? []).toString();
          bodies.push(`${text}:${body?.truncated}`);
          return text.includes('evil') ? blockWith(403, 2) : passVerdict;
        },
      });
      const origin = await httpOrigin(closing, (request, response) => {
        const parts: Buffer[] = [];
        request.on('data', (part: Buffer) => parts.push(part));
        request.on('end', () => response.end(`<${Buffer.concat(parts).toString()}>`));
      });
      const front = await startFront(closing, [siteFor(origin, { waf })], inspector);
      const client = new RawClient(front.port);
      const post = (body: string): void => {
        client.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
      };
      post('12345678');
      await client.has('<12345678>');
      post('123456789 and more');
      await client.has('<123456789 and more>');
      post('evil');
      await client.has(' 403 ');
      post('good');
      await client.has('<good>');
      client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await client.has('<>');
      expect(bodies).toEqual([
        '12345678:false',
        '12345678:true',
        'evil:false',
        'good:false',
        ':undefined',
      ]);
      expect((await front.eventsReach(5)).map((event) => event.status)).toEqual([
        200, 200, 403, 200, 200,
      ]);
      expect(inspector.finished).toBe(5);
      client.socket.destroy();
    },
  );

  test('the rest after the prefix flows, in chunks too', async () => {
    const inspector = new ScriptedInspector({
      later: true,
      bodyNeed: { inspect: true, limitBytes: 1000, onExcess: 'prefix' },
    });
    let received = 0;
    const origin = await httpOrigin(closing, (request, response) => {
      request.on('data', (part: Buffer) => (received += part.length));
      request.on('end', () => response.end('done'));
    });
    const front = await startFront(closing, [siteFor(origin, { waf })], inspector);
    const client = new RawClient(front.port);
    client.send('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n');
    for (let i = 0; i < 20; i++) {
      client.send(Buffer.concat([Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')]));
    }
    client.send('0\r\n\r\n');
    await client.has('done');
    expect(received).toBe(20 * piece.length);
    client.socket.destroy();
  });

  test('past the limit with `reject`: 413', async () => {
    const inspector = new ScriptedInspector({
      bodyNeed: { inspect: true, limitBytes: 4, onExcess: 'reject' },
    });
    const front = await startFront(closing, [siteFor(1, { waf })], inspector);
    const known = new RawClient(front.port);
    known.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n');
    expect(await known.all()).toMatch(/^HTTP\/1\.1 413 /);
    const chunked = new RawClient(front.port);
    chunked.send('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n');
    expect(await chunked.all()).toMatch(/^HTTP\/1\.1 413 /);
  });

  test.each([false, true])(
    'responses are held, inspected, then released (later: %s)',
    async (later) => {
      const bodies: string[] = [];
      const inspector = new ScriptedInspector({
        later,
        responseNeed: { inspect: true, limitBytes: 16, onExcess: 'prefix' },
        responseHead: ({ status }) => (status === 500 ? blockWith(502, 3) : passVerdict),
        responseBody: (body) => {
          const text = Buffer.from(body?.bytes ?? []).toString();
          bodies.push(`${text}:${body?.truncated}`);
          return text.includes('leak') ? blockWith(403, 4) : passVerdict;
        },
      });
      const origin = await httpOrigin(closing, (request, response) => {
        if (request.url === '/500') response.statusCode = 500;
        if (request.url === '/204') response.statusCode = 204;
        response.write(`<${request.url!.slice(1)}`);
        setTimeout(() => response.end('>'), 3);
      });
      const front = await startFront(closing, [siteFor(origin, { waf })], inspector);
      const client = new RawClient(front.port);
      const get = (path: string): void =>
        void client.send(`GET /${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
      get('good');
      expect(await client.has('0\r\n\r\n')).toContain('<good>');
      get('a-body-beyond-the-limit');
      expect(await client.has('0\r\n\r\n', 2)).toContain('a-body-beyond-the-limit');
      get('leak');
      expect(await client.has(' 403 ')).not.toContain('leak>');
      get('500');
      await client.has(' 502 ');
      get('204');
      await client.has(' 204 ');
      expect(bodies).toEqual([
        '<good>:false',
        '<a-body-beyond-t:true',
        '<leak>:false',
        ':undefined',
      ]);
      const events = await front.eventsReach(5);
      expect(events.map((event) => event.status)).toEqual([200, 200, 403, 502, 204]);
      expect(inspector.finished).toBe(5);
      client.socket.destroy();
    },
  );
});

describe('the end of things', () => {
  test('an early client abort cancels the origin request', async () => {
    let [asked, closed] = [0, 0];
    const origin = await rawOrigin(closing, (socket) => {
      socket.once('data', () => asked++);
      socket.on('close', () => closed++);
    });
    const front = await startFront(closing, [siteFor(origin)], null, { halfCloseGraceMs: 20 });
    const reset = new RawClient(front.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => asked === 1);
    reset.socket.resetAndDestroy();
    await eventually(() => closed === 1);
    const finished = new RawClient(front.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => asked === 2);
    finished.socket.end();
    await eventually(() => closed === 2);
    const events = await front.eventsReach(2);
    expect(events.map((event) => event.outcome)).toEqual(['client_abort', 'client_abort']);
  });

  test('a client that only closed its side still gets a quick answer', async () => {
    const origin = await httpOrigin(closing, (_, response) => {
      setTimeout(() => response.end('answer'), 10);
    });
    const front = await startFront(closing, [siteFor(origin)]);
    const client = new RawClient(front.port);
    client.socket.end('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await client.all()).toContain('answer');
  });

  test('an abort in the middle of a body ends the origin request and is recorded', async () => {
    let [received, aborted] = [0, false];
    const origin = await httpOrigin(closing, (request) => {
      request.on('error', () => (aborted = true));
      request.on('data', (part: Buffer) => (received += part.length));
    });
    const front = await startFront(closing, [siteFor(origin)]);
    const client = new RawClient(front.port);
    client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc');
    await eventually(() => received === 3);
    client.socket.end();
    await eventually(() => aborted);
    const [event] = await front.eventsReach(1);
    expect(event).toMatchObject({ outcome: 'client_abort', bytesIn: 3 });
  });

  test('draining finishes what runs, closes what idles, accepts nothing new', async () => {
    let answer: (() => void) | null = null;
    const origin = await httpOrigin(closing, (_, response) => {
      answer = () => void response.end('finished');
    });
    const front = await startFront(closing, [siteFor(origin)]);
    const idle = new RawClient(front.port);
    const busy = new RawClient(front.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => front.front.connections === 2);
    const finish = await eventually(() => answer);
    const drained = front.front.drain();
    await idle.all();
    const late = new RawClient(front.port);
    await late.all();
    finish();
    const text = await busy.all();
    expect(text).toContain('\r\nConnection: close\r\n');
    expect(text).toContain('finished');
    await drained;
    expect(front.front.connections).toBe(0);
  });

  test('draining answers the first request of a client that has just come', async () => {
    const origin = await httpOrigin(closing, (_, response) => void response.end('served'));
    const front = await startFront(closing, [siteFor(origin)]);
    const client = new RawClient(front.port);
    await eventually(() => front.front.connections === 1);
    const drained = front.front.drain();
    client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await client.all()).toContain('served');
    await drained;
  });

  test('draining answers one more request of a client between two, and then closes', async () => {
    let finish = (): void => undefined;
    const origin = await httpOrigin(closing, (request, response) => {
      response.write(`${request.url} begun `);
      if (request.url !== '/slow') return void response.end('served');
      finish = () => response.end('served');
    });
    const front = await startFront(closing, [siteFor(origin)]);
    const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const between = new RawClient(front.port).send(get('/first'));
    await between.has('served');
    // Its answer's head says that the connection stays.
    const running = new RawClient(front.port).send(get('/slow'));
    await running.has('/slow begun');
    const drained = front.front.drain();
    finish();
    await running.has('served');
    for (const client of [between, running]) client.send(get('/last'));
    for (const client of [between, running]) {
      const [, last = ''] = (await client.all()).split(/(?=HTTP\/1\.1 200 [^]*\/last)/);
      expect(last).toMatch(/\r\nConnection: close\r\n[^]*\/last begun /);
    }
    await drained;
  });

  test('draining cuts what is left at its deadline', async () => {
    let asked = 0;
    const origin = await rawOrigin(closing, (socket) => void socket.once('data', () => asked++));
    const front = await startFront(closing, [siteFor(origin)], null, { drainTimeoutMs: 30 });
    const client = new RawClient(front.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await eventually(() => asked === 1);
    await front.front.drain();
    expect(await client.all()).toBe('');
    expect((await front.eventsReach(1))[0]).toMatchObject({ outcome: 'client_abort' });
  });

  test('requests finish on the generation they began with', async () => {
    let answer: (() => void) | null = null;
    const old = await httpOrigin(closing, (_, response) => {
      answer = () => void response.end('old');
    });
    const next = await httpOrigin(closing, (_, response) => response.end('next'));
    const front = await startFront(closing, [siteFor(old)]);
    const released: string[] = [];
    const swap = (revision: string, port: number): void =>
      front.front.swap({
        routes: { revision, sites: [siteFor(port, { id: revision })] },
        inspectorOf: () => null,
        onReleased: () => released.push(revision),
      });
    swap('r2', old);
    const slow = new RawClient(front.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const finish = await eventually(() => answer);
    swap('r3', next);
    expect(released).toEqual([]);
    const quick = new RawClient(front.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await quick.has('next');
    finish();
    await slow.has('old');
    const events = await front.eventsReach(2);
    expect(events.map((event) => event.siteId)).toEqual(['r3', 'r2']);
    expect(released).toEqual(['r2']);
    quick.socket.destroy();
    slow.socket.destroy();
  });
});
