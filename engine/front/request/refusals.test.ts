/** Tests of what the front answers by itself: refusals, limits, block pages, failing origins. */

import { afterEach, describe, expect, test } from 'vitest';
import { freePort } from '../../../test/support/free-port.ts';
import type { RequestEvent } from '../../contract/events.ts';
import { blockWith, Closing, httpOrigin, RawClient, rawOrigin } from '../fixtures/fixture.ts';
import { ScriptedInspector, siteFor, startFront } from '../fixtures/fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

const enabled = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;

async function onlyEvent(
  reach: (count: number) => Promise<readonly RequestEvent[]>,
): Promise<RequestEvent> {
  const events = await reach(1);
  return events[0]!;
}

describe('refusals', () => {
  const chunked = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n';
  const rows: readonly (readonly [string, number, string])[] = [
    ['GET / HTTP/1.1\nHost: a\n\n', 400, 'bare_lf'],
    [
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX',
      400,
      'content_length_and_transfer_encoding',
    ],
    [`${chunked}Transfer-Encoding: identity\r\n\r\n0\r\n\r\n`, 400, 'transfer_encoding'],
    ['POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n', 400, 'transfer_encoding'],
    [
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n',
      400,
      'space_before_colon',
    ],
    ['POST / HTTP/1.1\r\nHost: a\r\n Transfer-Encoding: chunked\r\n\r\n', 400, 'obs_fold'],
    [
      'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
      400,
      'content_length_twice',
    ],
    [`${chunked}\r\nzz\r\n`, 400, 'chunk_size'],
    [`${chunked}\r\n3\r\nabcX\r\n`, 400, 'chunk_end'],
    [`${chunked}\r\n0\r\nContent-Length: 3\r\n\r\n`, 400, 'trailer'],
    ['GET / HTTP/1.1\r\n\r\n', 400, 'host_missing'],
    ['GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400, 'host_twice'],
    ['GET /a b HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'target'],
    ['GET / HTTP/4.0\r\nHost: a\r\n\r\n', 505, 'version_unsupported'],
    ['CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n', 400, 'connect_method'],
    ['TRACE / HTTP/1.1\r\nHost: a\r\nMax-Forwards: 0\r\n\r\n', 405, 'trace_method'],
    ['GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue, x\r\n\r\n', 417, 'expectation'],
    [
      'GET / HTTP/1.1\r\nHost: a\r\nContent-Type: a/b\r\nContent-Type: a/b\r\n\r\n',
      400,
      'content_type_twice',
    ],
    [
      'GET / HTTP/1.1\r\nHost: a\r\nContent-Type: a/b\r\nConnection: content-type\r\n\r\n',
      400,
      'connection_names_content',
    ],
    ['GET / HTTP/2.0\r\nHost: a\r\n\r\n', 505, 'version_unsupported'],
    ['GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n', 400, 'target'],
    ['GET / HTTP/1.1\r\nHost: a%00\r\n\r\n', 400, 'host_invalid'],
    [
      'GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
      400,
      'websocket',
    ],
    [`GET /${'a'.repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414, 'target_too_long'],
    [`GET / HTTP/1.1\r\nHost: a\r\n${'A: b\r\n'.repeat(200)}\r\n`, 431, 'too_many_fields'],
    [`GET / HTTP/1.1\r\nHost: a\r\nA: ${'b'.repeat(70_000)}\r\n\r\n`, 431, 'head_too_large'],
    ['POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2000\r\n\r\n', 413, 'body_too_large'],
    [`${chunked}\r\n7d0\r\n${'x'.repeat(2000)}\r\n`, 413, 'body_too_large'],
  ];
  test.each(rows)('case %#', async (wire, status, reason) => {
    let reached = 0;
    const origin = await httpOrigin(closing, (request) => {
      request.on('error', () => undefined);
      reached++;
    });
    const front = await startFront(closing, [siteFor(origin)], null, { requestBodyBytesMax: 1000 });
    const client = new RawClient(front.port).send(wire);
    const text = await client.all();
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(text).toContain('\r\nConnection: close\r\n');
    expect(text).toMatch(/\r\nX-Request-Id: [0-9a-f]{32}\r\n/);
    expect(text).toMatch(/\r\nDate: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n/);
    expect(text).not.toMatch(/^HTTP\/1.1 \d+ Error/);
    const event = await onlyEvent(front.eventsReach);
    expect(event).toMatchObject({ outcome: 'refused', refusal: reason, status });
    expect(front.events).toHaveLength(1);
    // A fault inside a streamed body may come after the origin saw the head; never a whole request.
    if (!wire.includes('chunked\r\n\r\n')) expect(reached).toBe(0);
  });

  test('HTTP/0.9 gets no answer but is recorded', async () => {
    const front = await startFront(closing, [siteFor(1)]);
    expect(await new RawClient(front.port).send('GET / \r\n\r\n').all()).toBe('');
    expect(await onlyEvent(front.eventsReach)).toMatchObject({
      refusal: 'version_missing',
      status: 0,
    });
  });

  test('oddities are inspected before they are refused, and never forwarded', async () => {
    const seen: string[] = [];
    const inspector = new ScriptedInspector({
      head: (head) => {
        seen.push(head);
        return { action: 'pass', status: 0, ruleId: 0, phase: 0 };
      },
    });
    const front = await startFront(closing, [siteFor(1, { waf: enabled })], inspector);
    for (const line of [
      'GET / HTTP/4.0',
      'GET /a b HTTP/1.1',
      '\tGET / HTTP/1.1',
      'GET / JUNK/1.0',
    ]) {
      await new RawClient(front.port).send(`${line}\r\nHost: a\r\n\r\n`).all();
    }
    expect(seen).toEqual([
      'GET / HTTP/4.0',
      'GET /a b HTTP/1.1',
      '\tGET / HTTP/1.1',
      'GET / JUNK/1.0',
    ]);
    const events = await front.eventsReach(4);
    expect(events.map((event) => event.status)).toEqual([505, 400, 400, 400]);
    expect(events.every((event) => event.transaction !== null)).toBe(true);
    expect(inspector.finished).toBe(4);
  });

  test('garbage after a request does not affect its answer', async () => {
    const origin = await httpOrigin(closing, (_, response) => response.end('fine'));
    const front = await startFront(closing, [siteFor(origin)]);
    const client = new RawClient(front.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n\x01\x02\n');
    const text = await client.all();
    expect(text).toMatch(/^HTTP\/1\.1 200 OK[^]*fineHTTP\/1\.1 400 /);
  });

  test('a slow head gets 408, a silent connection just closes', async () => {
    const front = await startFront(closing, [siteFor(1)], null, { headTimeoutMs: 30 });
    const slow = new RawClient(front.port).send('GET / HT');
    expect(await slow.all()).toMatch(/^HTTP\/1\.1 408 /);
    expect(await onlyEvent(front.eventsReach)).toMatchObject({ refusal: 'head_timeout' });
    expect(await new RawClient(front.port).all()).toBe('');
    expect(front.events).toHaveLength(1);
  });

  test('a body that stops coming gets 408', async () => {
    const origin = await httpOrigin(
      closing,
      (request) => void request.on('error', () => undefined),
    );
    const front = await startFront(closing, [siteFor(origin)], null, { bodyProgressTimeoutMs: 30 });
    const client = new RawClient(front.port);
    client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc');
    expect(await client.all()).toMatch(/^HTTP\/1\.1 408 /);
    expect(await onlyEvent(front.eventsReach)).toMatchObject({
      refusal: 'body_timeout',
      bytesIn: 3,
    });
  });
});

describe('block pages', () => {
  const block = new ScriptedInspector({ head: () => blockWith(403, 1) });

  test('JSON for API clients, HTML for browsers', async () => {
    const front = await startFront(closing, [siteFor(1, { waf: enabled })], block);
    const client = new RawClient(front.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const text = await client.has('}\n');
    expect(text).toMatch(/^HTTP\/1\.1 403 Forbidden\r\nContent-Type: application\/json\r\n/);
    const page = JSON.parse(text.slice(text.indexOf('\r\n\r\n'))) as { requestId: string };
    expect(text).toContain(`X-Request-Id: ${page.requestId}\r\n`);
    client.send('GET / HTTP/1.1\r\nHost: a\r\nAccept: text/html,*/*\r\n\r\n');
    expect(await client.has('</html>')).toContain('Content-Type: text/html; charset=utf-8');
    const events = await front.eventsReach(2);
    expect(events[0]).toMatchObject({ outcome: 'blocked', blocked: true, status: 403 });
    client.socket.destroy();
  });

  test('HEAD gets the head alone; the operator chooses wording', async () => {
    const responses = {
      active: 'plain',
      scenarios: { waf_block: { statusCode: 418, title: 'No <way>', message: 'm' } },
    } as const;
    const front = await startFront(closing, [siteFor(1, { waf: enabled, responses })], block);
    const head = await new RawClient(front.port)
      .send('HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      .all();
    expect(head).toMatch(/^HTTP\/1\.1 418 [^]*\r\n\r\n$/);
    const get = await new RawClient(front.port)
      .send('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      .all();
    expect(get).toContain('No <way>\nm\nRequest id: ');
  });

  test("the operator's wording is escaped for what the page is", async () => {
    const title = `<b>&"'`;
    const pages = [
      ['html', '&lt;b&gt;&amp;&quot;&#39;'],
      ['json', `"title":"<b>&\\"'"`],
      ['plain', `\r\n\r\n${title}\n`],
    ] as const;
    for (const [active, shown] of pages) {
      const scenarios = { waf_block: { statusCode: 403, title, message: 'm' } };
      const responses = { active, scenarios };
      const front = await startFront(closing, [siteFor(1, { waf: enabled, responses })], block);
      const page = await new RawClient(front.port)
        .send('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
        .all();
      expect(page).toContain(shown);
    }
  });

  test('drop closes without an answer, redirect says where to', async () => {
    const dropping = new ScriptedInspector({
      head: () => ({ action: 'drop', status: 0, ruleId: 1, phase: 1 }),
    });
    const first = await startFront(closing, [siteFor(1, { waf: enabled })], dropping);
    expect(await new RawClient(first.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n').all()).toBe(
      '',
    );
    expect(await onlyEvent(first.eventsReach)).toMatchObject({ outcome: 'blocked', status: 0 });
    const redirecting = new ScriptedInspector({
      head: () => ({ action: 'redirect', status: 302, location: '/x\r\ny', ruleId: 1, phase: 1 }),
    });
    const second = await startFront(closing, [siteFor(1, { waf: enabled })], redirecting);
    const client = new RawClient(second.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await client.has('\r\n\r\n')).toMatch(/^HTTP\/1\.1 302 [^]*\r\nLocation: \/xy\r\n/);
    client.socket.destroy();
  });

  test('in detection mode nothing is enforced', async () => {
    const origin = await httpOrigin(closing, (_, response) => response.end('through'));
    const waf = { ...enabled, mode: 'detection' } as const;
    const front = await startFront(closing, [siteFor(origin, { waf })], block);
    const client = new RawClient(front.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.has('through');
    const event = await onlyEvent(front.eventsReach);
    expect(event).toMatchObject({ outcome: 'served', blocked: false });
    expect(event.transaction?.verdict.action).toBe('block');
    client.socket.destroy();
  });

  test.each([
    ['closed', 503, 'inspection_failed'],
    ['open', 200, 'served'],
  ] as const)('a failing inspection under fail policy %s', async (failPolicy, status, outcome) => {
    const origin = await httpOrigin(closing, (_, response) => response.end('through'));
    const failing = new ScriptedInspector({
      head: () => {
        throw new Error('broken');
      },
    });
    const front = await startFront(
      closing,
      [siteFor(origin, { waf: { ...enabled, failPolicy } })],
      failing,
    );
    const client = new RawClient(front.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.until((c) => /\r\n\r\n./.test(c.text));
    const transaction = { failure: 'internal' };
    expect(await onlyEvent(front.eventsReach)).toMatchObject({ status, outcome, transaction });
    client.socket.destroy();
  });
});

describe('failing origins', () => {
  test('refused connection: 502', async () => {
    const dead = await freePort();
    const front = await startFront(closing, [siteFor(dead)]);
    const client = new RawClient(front.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await client.has('}\n')).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n[^]*X-Request-Id/);
    expect(await onlyEvent(front.eventsReach)).toMatchObject({
      outcome: 'origin_error',
      refusal: 'origin_connect',
    });
    client.socket.destroy();
  });

  test('a second endpoint takes over from a dead one', async () => {
    const dead = await freePort();
    const alive = await httpOrigin(closing, (_, response) => response.end('alive'));
    const site = siteFor(alive);
    const endpoints = [
      { host: '127.0.0.1', port: dead, weight: 10 },
      { host: '127.0.0.1', port: alive, weight: 1 },
    ];
    const front = await startFront(closing, [
      { ...site, upstream: { ...site.upstream, endpoints } },
    ]);
    const client = new RawClient(front.port);
    client.send('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab');
    expect(await client.has('alive')).toContain('alive');
    client.socket.destroy();
  });

  test('an origin that says nothing: 504', async () => {
    const origin = await rawOrigin(closing, (socket) => void socket.resume());
    const front = await startFront(closing, [siteFor(origin)], null, { requestTotalTimeoutMs: 40 });
    const client = new RawClient(front.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await client.has('}\n')).toMatch(/^HTTP\/1\.1 504 Gateway Timeout\r\n/);
    client.socket.destroy();
  });

  test('an origin that breaks off: 502 before its head, a cut connection after it', async () => {
    const early = await rawOrigin(closing, (socket) => socket.once('data', () => socket.destroy()));
    const first = await startFront(closing, [siteFor(early)]);
    const client = new RawClient(first.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await client.has('}\n')).toMatch(/^HTTP\/1\.1 502 /);
    client.socket.destroy();
    const late = await rawOrigin(closing, (socket) =>
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf')),
    );
    const second = await startFront(closing, [siteFor(late)]);
    const text = await new RawClient(second.port).send('GET / HTTP/1.1\r\nHost: a\r\n\r\n').all();
    expect(text).toMatch(/^HTTP\/1\.1 200 OK[^]*half$/);
    expect(await onlyEvent(second.eventsReach)).toMatchObject({
      refusal: 'origin_closed',
      endpoint: `127.0.0.1:${late}`,
    });
  });

  test('a stale keep-alive connection is tried again, but not for a POST', async () => {
    let served = 0;
    const origin = await rawOrigin(closing, (socket) => {
      let first = true;
      socket.on('data', () => {
        served++;
        // Answers once per connection and dies on the second request.
        if (first) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        else socket.destroy();
        first = false;
      });
    });
    const front = await startFront(closing, [siteFor(origin)]);
    const client = new RawClient(front.port);
    client.send('GET /1 HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.has('ok');
    client.send('GET /2 HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.has('ok', 2);
    expect(served).toBe(3);
    client.send('POST /3 HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx');
    expect(await client.has(' 502 ')).toContain('HTTP/1.1 502 ');
    client.socket.destroy();
  });
});
