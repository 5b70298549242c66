/** The first page of an origin: names of its cookies, the beginning of its text, or nothing. */

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { upstreamLimits } from '../../base/delivery-limits.ts';
import type { UpstreamConfig } from '../contract/site.ts';
import { readFirstPage } from './first-page.ts';

const servers: http.Server[] = [];
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function origin(listener: http.RequestListener): Promise<UpstreamConfig> {
  const server = http.createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { id: 'u', scheme: 'http', endpoints: [{ host: '127.0.0.1', port, weight: 1 }] };
}

test('a page to which the address redirects is read, for the host of the site', async () => {
  const upstream = await origin(({ url, headers }, response) => {
    if (url === '/') return void response.writeHead(302, { location: '/login' }).end();
    response.setHeader('Set-Cookie', ['grafana_session=x; Path=/', 'b=c']);
    response.end(`${headers.host} ${url}`);
  });
  expect(await readFirstPage(upstream, 'shop.test')).toEqual({
    status: 200,
    cookieNames: ['grafana_session', 'b'],
    text: 'shop.test /login',
  });
});

test('of a long page the beginning is read', async () => {
  const upstream = await origin((_, response) => response.end('x'.repeat(10_000_000)));
  const length = (await readFirstPage(upstream, ''))?.text.length ?? 0;
  expect(length).toBeGreaterThanOrEqual(upstreamLimits.probeBodyBytesMax);
  expect(length).toBeLessThan(1_000_000);
});

test('a silent origin, one that leads away, in a circle, and one that is not there have none', async () => {
  const silent = await origin(() => undefined);
  const circle = await origin((_, response) => response.writeHead(302, { location: '/a' }).end());
  const away = await origin((_, response) => {
    response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end('elsewhere');
  });
  const broken = await origin((request) => request.socket.end('HTTP/1.1 x\r\n\r\n'));
  const absent = { ...silent, endpoints: [{ host: '127.0.0.1', port: 1, weight: 1 }] };
  const none = { ...silent, endpoints: [] };
  for (const upstream of [silent, circle, broken, absent, none]) {
    expect(await readFirstPage(upstream, 'a.test')).toBeNull();
  }
  expect(await readFirstPage(away, 'a.test')).toMatchObject({ status: 302, text: 'elsewhere' });
});
