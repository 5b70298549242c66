/** A service and users of one path: who is asked first, and what a trial and a crowd come to. */

import type http from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { forwardAuthLimits } from '../../base/guard-limits.ts';
import { hashPathPassword } from '../../base/path-password.ts';
import { viewOf } from '../../test/support/request-view.ts';
import { Closing, httpOrigin, rawOrigin } from '../front/fixtures/fixture.ts';
import { noDelivery, type ForwardAuthConfig } from '../contract/delivery.ts';
import type { GuardVerdict } from '../contract/guard.ts';
import type { SiteConfig } from '../contract/site.ts';
import { noGuardServices, type Guard } from './guard.ts';
import { pathAuth } from './path-auth.ts';

const closing = new Closing();
afterEach(() => closing.run());

/** A service that answers with the status of the path, and counts. */
async function service(status: number): Promise<{ port: number; asked: http.IncomingMessage[] }> {
  const asked: http.IncomingMessage[] = [];
  const port = await httpOrigin(closing, (request, response) => {
    asked.push(request);
    response.writeHead(status, { 'X-User': 'ann', 'X-Other': 'no' }).end();
  });
  return { port, asked };
}

function guard(port: number, change: Partial<ForwardAuthConfig> = {}, password = ''): Guard {
  const rule = { pathPrefix: '/in', url: `http://127.0.0.1:${port}/`, copiedFields: ['x-user'] };
  const network = { allowedNetworks: ['127.0.0.0/8'], timeoutMs: 5_000, open: false };
  const users = [{ name: 'ann', passwordHash: hashPathPassword(password) }];
  const delivery = {
    ...noDelivery,
    forwardAuth: [{ ...rule, ...network, ...change }],
    basicAuth: password === '' ? [] : [{ pathPrefix: '/in', realm: '', open: false, users }],
  };
  return pathAuth.compile({ delivery } as unknown as SiteConfig, noGuardServices)!;
}

const sent = (password: string) =>
  viewOf({
    target: '/in',
    fields: [`Authorization: Basic ${Buffer.from(`ann:${password}`).toString('base64')}`],
  });
const settled = async (verdict: GuardVerdict | null): Promise<GuardVerdict | null> =>
  verdict?.later === undefined ? verdict : await verdict.later;

test('a password is checked first; the service is asked about the request that it came with', async () => {
  const { port, asked } = await service(200);
  const both = guard(port, {}, 'right');
  expect((await settled(both.decide(sent('wrong'))))?.reason).toBe('auth_failed');
  expect(asked.length).toBe(0);
  const first = both.decide(sent('right'));
  // The view serves another request before the password is checked.
  viewOf({ target: '/other' });
  expect(await settled(first)).toMatchObject({ action: 'bypass', originLines: 'x-user: ann\r\n' });
  expect(asked[0]?.headers).toMatchObject({
    'x-forwarded-uri': '/in',
    'x-forwarded-method': 'GET',
  });
  // Known from memory, and the service is still asked.
  expect((await settled(both.decide(sent('right'))))?.action).toBe('bypass');
  expect(asked.length).toBe(2);
});

test('a trial asks nobody, and its note tells', async () => {
  const { port, asked } = await service(200);
  const view = viewOf({ target: '/in' });
  view.trial = true;
  expect(guard(port).decide(view)).toMatchObject({ action: 'monitor', reason: 'auth_not_asked' });
  expect(asked.length).toBe(0);
});

test('one question too many is not asked, and lets nobody in', async () => {
  const port = await httpOrigin(closing, () => undefined);
  const asking = guard(port, { timeoutMs: 300 });
  const ask = () => settled(asking.decide(viewOf({ target: '/in' })));
  const all = Array.from({ length: forwardAuthLimits.asksMax }, ask);
  expect(await ask()).toMatchObject({ status: 503, reason: 'auth_busy' });
  for (const one of await Promise.all(all)) {
    expect(one).toMatchObject({ status: 503, reason: 'auth_unavailable' });
  }
});

test('what no field carries is not sent, and lets nobody in', async () => {
  const { port, asked } = await service(200);
  const view = viewOf({ target: '/in', fields: ['X-A: a\u0001b'] });
  expect(await settled(guard(port).decide(view))).toMatchObject({ status: 503 });
  expect(asked.length).toBe(0);
});

test('the service does not get the cookie that keeps a visitor with an address', async () => {
  const { port, asked } = await service(200);
  const rule = { pathPrefix: '', url: `http://127.0.0.1:${port}/`, copiedFields: [], open: false };
  const delivery = {
    ...noDelivery,
    forwardAuth: [{ ...rule, allowedNetworks: ['127.0.0.0/8'], timeoutMs: 5_000 }],
    stickySessions: { cookieName: 'stay', maxAgeSeconds: 0 },
  };
  const auth = pathAuth.compile({ delivery } as unknown as SiteConfig, noGuardServices)!;
  const cookies = ['a=1; stay=0; b=2', 'stay=0; stay-0123abcd=1', 'stay2=1', '\tstay =1; a=1'];
  for (const cookie of cookies) {
    await settled(auth.decide(viewOf({ target: '/', fields: [`Cookie: ${cookie}`] })));
  }
  expect(asked.map(({ headers }) => headers.cookie)).toEqual([
    'a=1; b=2',
    undefined,
    'stay2=1',
    'a=1',
  ]);
});

test('a connection to the service is used again; where it was closed, another is made', async () => {
  let connections = 0;
  const port = await rawOrigin(closing, (socket) => {
    connections++;
    let questions = 0;
    socket.on('data', () => {
      // The third question of a connection meets its end.
      if (++questions === 3) socket.destroy();
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    });
  });
  const asking = guard(port);
  for (const wanted of [1, 1, 2, 3]) {
    const verdict = await settled(asking.decide(viewOf({ target: '/in' })));
    expect([verdict?.action, connections]).toEqual(['bypass', wanted]);
  }
});

test('the event says why nobody could be asked', async () => {
  const detailOf = async (asking: Guard, field = 'X-A: a') =>
    (await settled(asking.decide(viewOf({ target: '/in', fields: [field] }))))?.detail;
  const silent = await httpOrigin(closing, () => undefined);
  const long = await httpOrigin(closing, (_request, response) => {
    response.end('a'.repeat(forwardAuthLimits.answerBytesMax + 1));
  });
  expect(await detailOf(guard(silent, { timeoutMs: 100 }))).toBe('no answer in time');
  expect(await detailOf(guard(1))).toBe('ECONNREFUSED');
  expect(await detailOf(guard(long))).toBe('the answer is too long');
  expect(await detailOf(guard(long), 'X-A: a\u0001b')).toMatch(/^the head holds bytes/);
  expect(await detailOf(guard(long, { allowedNetworks: [] }))).toBe(
    'the address of the service is blocked',
  );
});
