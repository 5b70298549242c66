/** Tests of the second pool of a route: who goes there, and what stays the same. */

import { afterEach, describe, expect, test } from 'vitest';
import type { SiteConfig } from '../../contract/site.ts';
import { Closing, httpOrigin, RawClient, siteFor, startFront } from '../fixtures/fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

/** An origin that answers with its name and the target that it got. */
function named(name: string): Promise<number> {
  return httpOrigin(closing, ({ url }, response) => response.end(`[${name} ${url}]`));
}

function poolOf(id: string, port: number): SiteConfig['upstream'] {
  return { id, scheme: 'http', endpoints: [{ host: '127.0.0.1', port, weight: 1 }] };
}

async function ask(port: number, lines = '', path = '/api/x'): Promise<string> {
  const head = `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines}\r\n`;
  const text = await new RawClient(port).send(head).all();
  return /\[(.*)\]/.exec(text)?.[1] ?? text;
}

describe('a route with a second pool', () => {
  test('a field decides, else a cookie, else the weight; the prefix is taken off for both', async () => {
    const [first, second] = [await named('first'), await named('second')];
    const serve = (weight: number) => {
      const canary = {
        ...{ upstream: poolOf('next', second), weight },
        ...{ headerName: 'x-canary', cookieName: 'canary' },
      };
      const upstream = poolOf('main', first);
      const route = { id: 'r', pathPrefix: '/api', upstream, stripPrefix: true, canary };
      return startFront(closing, [siteFor(first, { upstream, routes: [route] })]);
    };
    const [none, all] = [await serve(0), await serve(100)];
    const cookie = 'Cookie: a=1; canary=always\r\n';
    expect([
      await ask(none.port),
      await ask(none.port, 'X-Canary: Always\r\n'),
      await ask(none.port, cookie),
      await ask(none.port, `x-canary: never\r\n${cookie}`),
      await ask(none.port, `X-Canary: 1\r\n${cookie}`),
      await ask(none.port, 'X-Canary: always\r\n', '/apix'),
      await ask(all.port),
      await ask(all.port, 'X-Canary: never\r\n'),
      await ask(all.port, 'Cookie: canary=never\r\n'),
    ]).toEqual([
      'first /x',
      'second /x',
      'second /x',
      'first /x',
      'second /x',
      'first /apix',
      'second /x',
      'first /x',
      'first /x',
    ]);
  });
});
