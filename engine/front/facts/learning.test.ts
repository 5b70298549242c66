/**
 * Proof that a live front learns from bodies that it holds anyway, once the origin answered well,
 * and that learning changes nothing of what a request gets.
 */

import { afterEach, expect, test } from 'vitest';
import { apiLearningFormat } from '../../contract/api-learning.ts';
import type { SiteConfig } from '../../contract/site.ts';
import {
  Closing,
  httpOrigin,
  RawClient,
  ScriptedInspector,
  siteFor,
  startFront,
} from '../fixtures/fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

const path = [[{ literal: 'orders' }], [{ parameter: 'value' }]];
const endpoint = {
  ...{ assetId: 'asset-1', generation: 1, method: 'POST', host: 'shop.test', path },
  observed: true,
};
const learning = {
  format: apiLearningFormat,
  siteId: 'site-1',
  endpoints: [endpoint],
  others: [],
} as const;

const inspector = new ScriptedInspector({
  bodyNeed: { inspect: true, limitBytes: 1_000, onExcess: 'prefix' },
});

async function run(change: Partial<SiteConfig>, bodies: readonly string[]) {
  let got = 0;
  const port = await httpOrigin(closing, (request, response) => {
    request.on('data', (piece: Buffer) => (got += piece.length));
    request.on('end', () => {
      response.statusCode = request.url === '/orders/404' ? 404 : 200;
      response.end('ok');
    });
  });
  const site = siteFor(port, { hosts: ['shop.test'], learning, ...change });
  const running = await startFront(closing, [site], inspector);
  for (const [at, body] of bodies.entries()) {
    const target = body === '{"refused":1}' ? '/orders/404' : `/orders/${at}`;
    const head = `POST ${target} HTTP/1.1\r\nHost: shop.test\r\nConnection: close\r\n`;
    const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    await new RawClient(running.port).send(head + type + body).all();
  }
  await running.eventsReach(bodies.length);
  expect(got).toBe(bodies.join('').length);
  return running.front.drainLearning().map(({ entries, ...rest }) => ({
    ...rest,
    entries: Object.fromEntries(entries),
  }));
}

const waf = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;
const bodies = ['{"a":"secret"}', '{"a":1,"b":[true]}', '{"a":null}', '{"refused":1}'];
const long = `{"a":"${'x'.repeat(2_000)}"}`;

test('held bodies teach names and types; what taught nothing is counted', async () => {
  expect(await run({ waf }, [...bodies, long, '{"a":'])).toEqual([
    {
      ...{ siteId: 'site-1', assetId: 'asset-1', generation: 1 },
      entries: {
        ...{ requests: 6, samples: 3 },
        ...{ 'gap not_successful': 1, 'gap too_long': 1, 'gap malformed': 1 },
        'type object ': 3,
        'type string /a': 1,
        'type integer /a': 1,
        'type null /a': 1,
      },
    },
  ]);
});

test('a body that nobody inspects is not held for learning', async () => {
  const [delta] = await run({}, bodies);
  expect(delta?.entries).toEqual({ requests: 4, 'gap not_held': 3, 'gap not_successful': 1 });
});

test('a site that learns nothing has nothing to tell', async () => {
  const port = await httpOrigin(closing, (_request, response) => response.end('ok'));
  const running = await startFront(closing, [siteFor(port)], inspector);
  await new RawClient(running.port).send('POST / HTTP/1.0\r\nHost: a\r\n\r\n').all();
  expect(running.front.drainLearning()).toEqual([]);
});
