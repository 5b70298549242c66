/** Tests of where requests go: path routes, the operator's fields, addresses that fail. */

import type http from 'node:http';
import net from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { freePort } from '../../../test/support/free-port.ts';
import type { SiteConfig, UpstreamConfig } from '../../contract/site.ts';
import { Closing, httpOrigin, RawClient, siteFor, startFront } from '../fixtures/fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

function upstreamOf(
  ports: readonly number[],
  change: Partial<UpstreamConfig> = {},
): UpstreamConfig {
  const endpoints = ports.map((port) => ({ host: '127.0.0.1', port, weight: 1 }));
  return { id: `u${ports.join()}`, scheme: 'http', endpoints, ...change };
}

/** An origin that answers with its name, the target and the fields that begin with `x-` or host. */
function named(name: string): Promise<number> {
  return httpOrigin(closing, (request: http.IncomingMessage, response) => {
    const fields: string[] = [];
    request.rawHeaders.forEach((text, at) => {
      const kept = at % 2 === 0 && /^(?:x[-_](?!request-id)|host$)/i.test(text);
      if (kept) fields.push(`${text}=${request.rawHeaders[at + 1]}`);
    });
    response.end(`[${name} ${request.url} ${fields.join(' ')}]`);
  });
}

/** The bodies of the answers to requests for these targets, on one connection. */
async function ask(port: number, targets: readonly string[], fields = ''): Promise<string[]> {
  const client = new RawClient(port);
  const answers: string[] = [];
  for (const target of targets) {
    const before = client.text.length;
    client.send(`GET ${target} HTTP/1.1\r\nHost: a.example\r\n${fields}\r\n`);
    await client.until(({ text }) =>
      /\r\n\r\n[^]*(?:\]|\})\s*$|Not Found/i.test(text.slice(before)),
    );
    const text = client.text.slice(before);
    const status = text.slice(9, 12);
    answers.push(status === '200' ? text.slice(text.indexOf('\r\n\r\n') + 4) : status);
  }
  client.socket.destroy();
  return answers;
}

describe('path routes', () => {
  const routes = (api: number, admin: number): NonNullable<SiteConfig['routes']> => [
    { id: 'r1', pathPrefix: '/api/admin', upstream: upstreamOf([admin]), stripPrefix: true },
    { pathPrefix: '/api', upstream: upstreamOf([api]), stripPrefix: false },
  ];

  test('the longest prefix of whole segments wins, without case; it is taken off if asked', async () => {
    const [rest, api, admin] = [await named('rest'), await named('api'), await named('admin')];
    const site = siteFor(rest, { routes: routes(api, admin) });
    const { port } = await startFront(closing, [site]);
    const targets = [
      '/',
      '/api',
      '/API/x?y=/api/admin',
      '/apix',
      '/api/admin',
      '/api/ADMIN?q',
      '/api/admin/a/b?c',
      '/api/administrator',
      'http://a.example/api/admin/z',
      '/x/api',
    ];
    const answers = await ask(port, targets);
    expect(answers.map((text) => text.split(' ').slice(0, 2).join(' '))).toEqual([
      '[rest /',
      '[api /api',
      '[api /API/x?y=/api/admin',
      '[rest /apix',
      '[admin /',
      '[admin /?q',
      '[admin /a/b?c',
      '[api /api/administrator',
      '[admin /z',
      '[rest /x/api',
    ]);
  });

  test.each([
    '/api/../x',
    '/x/../api',
    '/x/..%2fapi',
    '/api/%2e%2E/x',
    '/api/admin/../y',
    '/api/admin/..',
    '/%61pi',
    '/api%2fadmin',
    '//api',
    '/api//admin/x',
    '/./api',
    '/api;v=1/x',
    '/api/x/..;/admin',
    '/x\\..\\api',
    '/api/%2e%2e%5cx?/api',
  ])('%s may be understood as of another route', async (target) => {
    const [rest, api, admin] = [await named('rest'), await named('api'), await named('admin')];
    const site = siteFor(rest, { routes: routes(api, admin) });
    const { port, eventsReach } = await startFront(closing, [site]);
    const text = await new RawClient(port).send(`GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`).all();
    expect(text).toMatch(/^HTTP\/1.1 400 /);
    const [event] = await eventsReach(1);
    expect(event).toMatchObject({ outcome: 'refused', refusal: 'path_ambiguous' });
  });

  test('what any understanding sends to the same route is served as it was sent', async () => {
    const [rest, api, admin] = [await named('rest'), await named('api'), await named('admin')];
    const site = siteFor(rest, { routes: routes(api, admin) });
    const { port } = await startFront(closing, [site]);
    const targets = ['/api/x%2Fy', '/api//x', '/api/a/../b', '/%7Eme;x', '/x?a=/../api', '/api/.x'];
    const answers = await ask(port, targets);
    const names = ['api', 'api', 'api', 'rest', 'rest', 'api'];
    expect(answers.map((text) => text.split(' ').slice(0, 2).join(' '))).toEqual(
      targets.map((target, at) => `[${names[at]} ${target}`),
    );
  });

  test('paths without a route get 404 where the site is configured so', async () => {
    const [api, admin] = [await named('api'), await named('admin')];
    const site = siteFor(1, {
      upstream: { id: '', scheme: 'http', endpoints: [] },
      routes: routes(api, admin),
      unmatchedNotFound: true,
    });
    const { port, eventsReach } = await startFront(closing, [site]);
    const answers = await ask(port, ['/api/1', '/other', '/api/2']);
    expect(answers.map((text) => text.slice(0, 4))).toEqual(['[api', '404', '[api']);
    const events = await eventsReach(3);
    expect(events[1]).toMatchObject({ outcome: 'unrouted', siteId: 'site-1', status: 404 });
    await ask(port, ['/api/admin/3']);
    const places = (await eventsReach(4)).map(({ upstreamId, routeId }) => [upstreamId, routeId]);
    const [one, none, two] = [
      [`u${api}`, ''],
      ['', ''],
      [`u${admin}`, 'r1'],
    ];
    expect(places).toEqual([one, none, one, two]);
  });
});

test("the operator's fields replace the client's, Host too, but never framing", async () => {
  const origin = await named('o');
  const requestHeaders = [
    { name: 'Host', value: 'inner.example' },
    { name: 'X-Key', value: 'secret' },
    { name: 'X-Forwarded-Proto', value: 'https' },
    { name: 'Content-Length', value: '5' },
    { name: 'X-Split', value: 'a\r\nX-Injected: b' },
  ];
  const site = siteFor(origin, { upstream: upstreamOf([origin], { requestHeaders }) });
  const { port } = await startFront(closing, [site]);
  const [answer] = await ask(port, ['/'], 'x-key: forged\r\nX_Key: forged\r\nX-Own: mine\r\n');
  expect(answer).toBe(
    '[o / Host=inner.example X-Own=mine X-Forwarded-For=127.0.0.1 X-Key=secret ' +
      'X-Forwarded-Proto=https X-Forwarded-Host=a.example]',
  );
});

describe('addresses that fail', () => {
  const resilience = {
    passiveMaxFails: 2,
    passiveFailDurationSeconds: 60,
    retryDurationMs: 0,
    retryIntervalMs: 50,
  };

  test('are set aside after the configured number of failures in a row', async () => {
    let asked = 0;
    const failing = await httpOrigin(closing, (request) => {
      asked++;
      request.socket.destroy();
    });
    const good = await named('good');
    const site = siteFor(good, { upstream: upstreamOf([failing, good], { resilience }) });
    const { port } = await startFront(closing, [site]);
    const statuses: string[] = [];
    for (let i = 0; i < 12; i++) statuses.push(...(await ask(port, [`/${i}`])));
    expect(asked).toBe(2);
    expect(statuses.filter((text) => text === '502')).toHaveLength(2);
    expect(statuses.slice(4).every((text) => text.startsWith('[good'))).toBe(true);
  });

  test('are noted with their count and cause, and once more when they answer again', async () => {
    const [dead, good] = [await freePort(), await named('good')];
    const upstream = upstreamOf([dead, good]);
    const { port, front } = await startFront(closing, [siteFor(good, { upstream })]);
    const answers = await ask(port, ['/1', '/2']);
    // The other address answered: no request failed, but the dead one is noted.
    expect(answers.every((text) => text.startsWith('[good'))).toBe(true);
    const [note, ...rest] = front.drainOriginNotes();
    expect(rest).toEqual([]);
    expect(note).toMatchObject({ upstreamId: upstream.id, scheme: 'http', answered: false });
    expect(note).toMatchObject({ name: `127.0.0.1:${dead}`, failure: 'origin_connect' });
    expect(note!.failed).toBeGreaterThan(0);
    await ask(port, ['/3']);
    expect(front.drainOriginNotes()).toEqual([]);
    // Another thread saw failures, or this one before a change: the answer is worth a note.
    front.setFailing(new Map([[upstream.id, new Set([`127.0.0.1:${good}`])]]));
    await ask(port, ['/4']);
    const again = { name: `127.0.0.1:${good}`, failed: 0, answered: true };
    expect(front.drainOriginNotes()).toMatchObject([again]);
  });

  test('those that probes found unhealthy are asked last', async () => {
    const [first, second] = [await named('first'), await named('second')];
    const upstream = upstreamOf([first, second]);
    const { port, front } = await startFront(closing, [siteFor(first, { upstream })]);
    const tell = (...ports: number[]): void =>
      front.setUnhealthy(new Map([[upstream.id, new Set(ports.map((one) => `127.0.0.1:${one}`))]]));
    const asked = async (): Promise<Set<string>> => {
      const answers = await ask(port, ['/', '/', '/', '/']);
      return new Set(answers.map((text) => text.slice(1).split(' ')[0]!));
    };
    tell(first);
    expect(await asked()).toEqual(new Set(['second']));
    tell(first, second);
    expect(await asked()).toEqual(new Set(['first', 'second']));
    tell();
    expect(await asked()).toEqual(new Set(['first', 'second']));
  });

  test('a request that reached nobody is tried again until an address listens', async () => {
    const port = await freePort();
    const retrying = { ...resilience, retryDurationMs: 60_000 };
    const site = siteFor(port, { upstream: upstreamOf([port], { resilience: retrying }) });
    const running = await startFront(closing, [site]);
    const answer = ask(running.port, ['/late']);
    await eventually(() => running.front.drainOriginNotes().length > 0);
    const server = net.createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n[late]'));
    });
    closing.add(() => void server.close());
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    expect(await answer).toEqual(['[late]']);
  });

  test('without retries it is answered at once, and a client that leaves ends the waiting', async () => {
    const port = await freePort();
    const once = siteFor(port, {
      hosts: ['a.example'],
      upstream: upstreamOf([port], { resilience }),
    });
    const retrying = { ...resilience, retryDurationMs: 60_000 };
    const again = siteFor(port, {
      hosts: ['b'],
      upstream: upstreamOf([port], { resilience: retrying }),
    });
    const running = await startFront(closing, [once, again]);
    expect(await ask(running.port, ['/'])).toEqual(['502']);
    running.front.drainOriginNotes();
    const client = new RawClient(running.port).send('GET / HTTP/1.1\r\nHost: b\r\n\r\n');
    await eventually(() => running.front.drainOriginNotes().length > 0);
    client.socket.resetAndDestroy();
    const events = await running.eventsReach(2);
    expect(events[1]).toMatchObject({ outcome: 'client_abort', status: 0 });
  });
});
