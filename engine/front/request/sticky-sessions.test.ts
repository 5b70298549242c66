/** Tests of sticky sessions: the cookie, what origins get of it, addresses that fail. */

import type http from 'node:http';
import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { freePort } from '../../../test/support/free-port.ts';
import { noDelivery } from '../../contract/delivery.ts';
import type { SiteConfig } from '../../contract/site.ts';
import { Closing, httpOrigin, RawClient, siteFor, startFront } from '../fixtures/fixture.ts';
import { switching, websocketOrigin } from '../fixtures/websocket-fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

const keys = [randomBytes(32), randomBytes(32)];
const sticky = { cookieName: 'stay', maxAgeSeconds: 0 };
const form = /^stay=[0-9a-f]{32}; Path=\/; HttpOnly; SameSite=Lax$/;

/** An origin that answers with its name and the cookies that it got. */
function named(name: string, set: readonly string[] = []): Promise<number> {
  return httpOrigin(closing, ({ rawHeaders }: http.IncomingMessage, response) => {
    const cookies = rawHeaders.filter((_, at) => /^cookie$/i.test(rawHeaders[at - 1] ?? ''));
    if (set.length > 0) response.setHeader('set-cookie', set);
    response.end(`[${name}|${cookies.join('|')}]`, 'latin1');
  });
}

function poolOf(id: string, ports: readonly number[]): SiteConfig['upstream'] {
  const endpoints = ports.map((port) => ({ host: '127.0.0.1', port, weight: 1 }));
  return { id, scheme: 'http', endpoints };
}

function stickySite(ports: readonly number[], change: Partial<SiteConfig> = {}): SiteConfig {
  return siteFor(ports[0]!, {
    upstream: poolOf('pool', ports),
    delivery: { ...noDelivery, stickySessions: sticky },
    challengeKeys: keys,
    ...change,
  });
}

interface Visit {
  readonly status: string;
  /** The origin that answered, and the Cookie fields that it got. */
  readonly name: string;
  readonly got: readonly string[];
  /** Values of Set-Cookie. */
  readonly set: readonly string[];
}

/** One request, with these lines in its head. */
async function visit(port: number, lines = '', path = '/'): Promise<Visit> {
  const head = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines}\r\n`;
  const text = await new RawClient(port).send(head).all();
  const [, inside = ''] = /\[(.*)\]/.exec(text) ?? [];
  const [name = '', ...got] = inside.split('|');
  const set = [...text.matchAll(/^set-cookie: (.*)\r$/gim)].map(([, value]) => value!);
  return { status: text.slice(9, 12), name, got: got.filter((one) => one !== ''), set };
}

const pairOf = ({ set }: Visit): string => set[0]!.split(';', 1)[0]!;

describe('with two addresses', () => {
  const start = async (change: Partial<SiteConfig> = {}): Promise<number> => {
    const ports = [await named('one'), await named('two')];
    const { port } = await startFront(closing, [stickySite(ports, change)]);
    return port;
  };

  test('a visitor stays, others are spread; the cookie comes once', async () => {
    const port = await start();
    const [first, second] = [await visit(port), await visit(port)];
    expect(new Set([first.name, second.name])).toEqual(new Set(['one', 'two']));
    for (const one of [first, second]) {
      expect(one.set).toEqual([expect.stringMatching(form)]);
      for (let times = 0; times < 3; times++) {
        const again = await visit(port, `Cookie: ${pairOf(one)}\r\n`);
        expect(again).toEqual({ status: '200', name: one.name, got: [], set: [] });
      }
    }
    expect(pairOf(first)).not.toBe(pairOf(second));
  });

  test('without the setting, or without keys, nobody gets a cookie and origins get all', async () => {
    for (const change of [{ delivery: noDelivery }, { challengeKeys: [] }]) {
      const port = await start(change);
      const got = await visit(port, 'Cookie: stay=1; a=2\r\n');
      expect(got).toMatchObject({ got: ['stay=1; a=2'], set: [] });
    }
  });

  test.each([
    ['first', 'Cookie: $; a=1; b=2\r\n', ['a=1; b=2']],
    ['last', 'Cookie: a=1; b=2; $\r\n', ['a=1; b=2']],
    ['between', 'Cookie: a=1; $; b=2\r\n', ['a=1; b=2']],
    ['without spaces', 'Cookie: a=1;$;b=2\r\n', ['a=1;b=2']],
    ['with blanks', 'Cookie: a=1;\t $ \t; b=2\r\n', ['a=1; b=2']],
    ['in capitals', 'COOKIE: $; a=1\r\n', ['a=1']],
    ['in small letters', 'cookie:$;a=1\r\n', ['a=1']],
    ['in a field of its own', 'Cookie: a=1\r\nCookie: $\r\nCookie: b=2\r\n', ['a=1; b=2']],
    ['twice', 'Cookie: $; $; a=1\r\n', ['a=1']],
    ['after a forged one', 'Cookie: stay=0; $; a=1\r\n', ['a=1']],
    ['beside that of a pool that is gone', 'Cookie: stay-0123abcd=1; $; a=1\r\n', ['a=1']],
    ['alone with separators', 'Cookie: $ ;\r\n', []],
    [
      'with bytes beyond ASCII around',
      'Cookie: \xa0a=\xff; $; b="x y"\r\n',
      ['\xa0a=\xff; b="x y"'],
    ],
    [
      'beside similar names',
      'Cookie: stay2=1; xstay=2; $; Stay=3\r\n',
      ['stay2=1; xstay=2; Stay=3'],
    ],
  ])('the origin does not get the cookie: %s', async (_, lines, got) => {
    const port = await start();
    const first = await visit(port);
    const again = await visit(port, lines.replaceAll('$', pairOf(first)));
    expect(again.name).toBe(first.name);
    expect(again.set).toEqual([]);
    expect(again.got).toEqual(got);
  });

  test.each([
    ['forged', 'stay=0123456789abcdef0123456789abcdef'],
    ['empty', 'stay='],
    ['without a value', 'stay'],
    ['with a space in its name', 'stay =1'],
    ['long', `stay=${'a'.repeat(4_000)}`],
  ])('a cookie that is %s is replaced, and goes no further', async (_, cookie) => {
    const got = await visit(await start(), `Cookie: ${cookie}; a=1\r\n`);
    expect(got).toMatchObject({ status: '200', got: ['a=1'] });
    expect(got.set).toEqual([expect.stringMatching(form)]);
  });

  test('browsers keep it as long as is set; an operator’s Cookie field stays whole', async () => {
    const delivery = {
      ...noDelivery,
      stickySessions: { ...sticky, maxAgeSeconds: 600 },
      requestFields: [{ name: 'Cookie', value: 'own=1', remove: false }],
    };
    const port = await start({ delivery });
    const first = await visit(port);
    expect(first.set[0]).toMatch(/; SameSite=Lax; Max-Age=600$/);
    const again = await visit(port, `Cookie: ${pairOf(first)}; a=1\r\n`);
    expect(again).toEqual({ status: '200', name: first.name, got: ['own=1'], set: [] });
  });
});

test('a code of the key before counts and is replaced; one of a key that is gone does not', async () => {
  const ports = [await named('one'), await named('two')];
  const before = await startFront(closing, [stickySite(ports, { challengeKeys: [keys[1]!] })]);
  const first = await visit(before.port);
  const cookie = `Cookie: ${pairOf(first)}\r\n`;
  const during = await startFront(closing, [stickySite(ports)]);
  const renewed = await visit(during.port, cookie);
  expect(renewed.name).toBe(first.name);
  expect(renewed.set).toEqual([expect.stringMatching(form)]);
  expect(pairOf(renewed)).not.toBe(pairOf(first));
  const after = await startFront(closing, [stickySite(ports, { challengeKeys: [keys[0]!] })]);
  expect((await visit(after.port, cookie)).set).toHaveLength(1);
  expect((await visit(after.port, `Cookie: ${pairOf(renewed)}\r\n`)).set).toEqual([]);
});

test('a cookie of another site names nothing here', async () => {
  const ports = [await named('one'), await named('two')];
  const other = await startFront(closing, [stickySite(ports, { id: 'other' })]);
  const { port } = await startFront(closing, [stickySite(ports)]);
  const foreign = pairOf(await visit(other.port));
  const got = await visit(port, `Cookie: ${foreign}\r\n`);
  expect(got.set).toEqual([expect.stringMatching(form)]);
  expect(pairOf(got)).not.toBe(foreign);
});

test('an address that fails, is unhealthy or is gone: another answers and takes its place', async () => {
  const [dead, good, third] = [await freePort(), await named('good'), await named('third')];
  const alive = await startFront(closing, [stickySite([dead, good, third])]);
  let staying = await visit(alive.port);
  expect(['good', 'third']).toContain(staying.name);
  const former = staying.name === 'good' ? good : third;
  const unhealthy = new Map([['pool', new Set([`127.0.0.1:${former}`])]]);
  alive.front.setUnhealthy(unhealthy);
  const moved = await visit(alive.port, `Cookie: ${pairOf(staying)}\r\n`);
  expect(moved.status).toBe('200');
  expect(moved.name).not.toBe(staying.name);
  alive.front.setUnhealthy(new Map());
  staying = await visit(alive.port, `Cookie: ${pairOf(moved)}\r\n`);
  expect(staying).toEqual({ status: '200', name: moved.name, got: [], set: [] });
  const fewer = await startFront(closing, [stickySite([former])]);
  const gone = await visit(fewer.port, `Cookie: ${pairOf(moved)}\r\n`);
  expect(gone.status).toBe('200');
  expect(gone.set).toEqual([expect.stringMatching(form)]);
});

test('a visitor of an address that refuses gets another, and its cookie', async () => {
  const [one, two] = [await named('one'), await named('two')];
  const { port } = await startFront(closing, [stickySite([one, two])]);
  const visits = [await visit(port), await visit(port)];
  const cookie = pairOf(visits.find(({ name }) => name === 'one')!);
  // Nobody listens at the address of the cookie any more.
  await closing.run();
  let good = await named('good');
  // The system may hand out the port that was just given back.
  if (good === one) good = await named('good');
  const after = await startFront(closing, [stickySite([one, good])]);
  const moved = await visit(after.port, `Cookie: ${cookie}\r\n`);
  expect(moved.name).toBe('good');
  expect(moved.set).toEqual([expect.stringMatching(form)]);
  expect(pairOf(moved)).not.toBe(cookie);
});

test('pools of routes have cookies of their own, and get none of another', async () => {
  const [a, b, c, d] = await Promise.all(['a', 'b', 'c', 'd'].map((name) => named(name)));
  const api = poolOf('api', [c!, d!]);
  const routes = [
    { pathPrefix: '/api/same', upstream: poolOf('pool', [a!, b!]), stripPrefix: false },
    { pathPrefix: '/api', upstream: api, stripPrefix: false },
  ];
  const { port } = await startFront(closing, [stickySite([a!, b!], { routes })]);
  const main = await visit(port);
  const other = await visit(port, `Cookie: ${pairOf(main)}\r\n`, '/api/x');
  expect(other.got).toEqual([]);
  expect(other.set).toEqual([expect.stringMatching(/^stay-[0-9a-f]{8}=[0-9a-f]{32}; Path=\/;/)]);
  const both = `Cookie: ${pairOf(main)}; mine=1; ${pairOf(other)}\r\n`;
  for (let times = 0; times < 3; times++) {
    for (const [path, name] of [
      ['/', main.name],
      ['/api', other.name],
      ['/api/same/x', main.name],
    ] as const) {
      const got = await visit(port, both, path);
      expect(got).toEqual({ status: '200', name, got: ['mine=1'], set: [] });
    }
  }
});

test('cookies of the application pass, but those with our name', async () => {
  const set = ['a=1; Path=/x', 'stay=theirs; Path=/', 'b=2; HttpOnly', ' stay-0123abcd =x'];
  const ports = [await named('one', set), await named('two', set)];
  const { port } = await startFront(closing, [stickySite(ports)]);
  const first = await visit(port);
  expect(first.set.slice(0, 2)).toEqual(['a=1; Path=/x', 'b=2; HttpOnly']);
  expect(first.set.slice(2)).toEqual([expect.stringMatching(form)]);
  const pair = first.set[2]!.split(';', 1)[0]!;
  const again = await visit(port, `Cookie: a=1; ${pair}; b=2\r\n`);
  expect(again).toMatchObject({ name: first.name, got: ['a=1; b=2'] });
  expect(again.set).toEqual(['a=1; Path=/x', 'b=2; HttpOnly']);
});

test('a WebSocket goes to the address of its visitor', async () => {
  const [one, two] = [await websocketOrigin(closing, switching), await named('two')];
  const { port } = await startFront(closing, [stickySite([one.port, two])]);
  const head =
    'GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
    'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
  const open = new RawClient(port).send(`${head}\r\n`);
  const opened = await open.has('\r\n\r\n');
  expect(opened).toMatch(/^HTTP\/1.1 101 /);
  const [, cookie = ''] = /^set-cookie: (stay=[0-9a-f]{32});/im.exec(opened) ?? [];
  expect(cookie).not.toBe('');
  for (let times = 1; times < 4; times++) {
    const again = new RawClient(port).send(`${head}Cookie: a=1; ${cookie}\r\n\r\n`);
    expect(await again.has('\r\n\r\n')).not.toMatch(/set-cookie/i);
    expect(one.heads).toHaveLength(times + 1);
    expect(one.heads[times]).toMatch(/^cookie: a=1$/im);
    again.socket.destroy();
  }
  open.socket.destroy();
});

test('an answer of our own carries no cookie', async () => {
  const dead = await freePort();
  const { port } = await startFront(closing, [stickySite([dead])]);
  expect(await visit(port)).toMatchObject({ status: '502', set: [] });
});
