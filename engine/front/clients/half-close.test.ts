/**
 * Tests of clients that close their side and want their answers: what they sent before is served,
 * however late it is read.
 */

import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { passVerdict } from '../../contract/verdict.ts';
import { Closing, httpOrigin, RawClient, siteFor, startFront } from '../fixtures/fixture.ts';
import { ScriptedInspector } from '../fixtures/fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

const waf = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;

function echoOrigin(): Promise<number> {
  return httpOrigin(closing, (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => response.end(`<${request.url}:${Buffer.concat(parts).length}>`));
  });
}

describe('a client that closes its side after its request', () => {
  test.each([
    ['without inspection', null],
    ['with inspection at once', false],
    ['with inspection later', true],
  ])('gets the answer to a body, %s', async (_, later) => {
    const inspector =
      later === null
        ? null
        : new ScriptedInspector({
            later,
            bodyNeed: { inspect: true, limitBytes: 100, onExcess: 'prefix' },
            body: () => passVerdict,
          });
    const site = siteFor(await echoOrigin(), inspector === null ? {} : { waf });
    const front = await startFront(closing, [site], inspector);
    for (const size of [5, 30_000]) {
      const client = new RawClient(front.port);
      const head = `POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`;
      client.socket.end(head + 'x'.repeat(size));
      expect(await client.all()).toContain(`</p:${size}>`);
    }
    expect(await front.eventsReach(2)).toMatchObject([{ status: 200 }, { status: 200 }]);
  });

  test('gets all answers to pipelined requests', async () => {
    const front = await startFront(closing, [siteFor(await echoOrigin())]);
    const client = new RawClient(front.port);
    const one = (path: string): string => `GET /${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const paths = Array.from({ length: 70 }, (_, i) => String(i));
    client.socket.end(paths.map(one).join(''));
    const text = await client.all();
    expect(text.match(/<[^>]*>/g)).toEqual(paths.map((path) => `</${path}:0>`));
  });

  test('is closed after half a head, and half a body is an abort', async () => {
    const front = await startFront(closing, [siteFor(await echoOrigin())]);
    const head = new RawClient(front.port);
    head.socket.end('GET /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHo');
    expect((await head.all()).match(/<[^>]*>/g)).toEqual(['</a:0>']);
    const body = new RawClient(front.port);
    body.socket.end('POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx');
    expect(await body.all()).toBe('');
    const events = await front.eventsReach(2);
    expect(events[1]).toMatchObject({ outcome: 'client_abort' });
    await eventually(() => front.front.connections === 0);
  });

  test('gets a big answer whole, for as long as it takes some of it', async () => {
    const size = 6_000_000;
    const origin = await httpOrigin(closing, (_, response) => response.end(Buffer.alloc(size, 97)));
    const settings = { halfCloseGraceMs: 500 };
    const front = await startFront(closing, [siteFor(origin)], null, settings);
    const client = new RawClient(front.port);
    client.socket.on('data', () => {
      client.socket.pause();
      setTimeout(() => client.socket.resume(), 15);
    });
    client.socket.end('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    const text = await client.all();
    expect(text.length - text.indexOf('\r\n\r\n') - 4).toBe(size);
    expect(await front.eventsReach(1)).toMatchObject([{ outcome: 'served' }]);
  });
});
