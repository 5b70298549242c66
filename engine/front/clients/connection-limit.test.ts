/** Tests of clients past the connection limit: closed at once, and counted. */

import { afterEach, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { FrontCounters } from '../facts/counters.ts';
import { Closing, httpOrigin, RawClient, siteFor } from '../fixtures/fixture.ts';
import { createFront } from '../threads/front.ts';

const closing = new Closing();
afterEach(() => closing.run());

test('one client too many is closed and counted; a place that is free again is taken', async () => {
  const origin = await httpOrigin(closing, (_, response) => response.end('answer'));
  const counters = new FrontCounters();
  const front = createFront({
    routes: { revision: 'r1', sites: [siteFor(origin)] },
    inspectorOf: () => null,
    settings: { sweepIntervalMs: 10, connectionsMax: 2 },
    onRequestDone: (event, policyId) => counters.add(event, policyId),
    onClientRefused: (why) => counters.addRefusedClient(why),
  });
  closing.add(() => front.close());
  const port = await front.listen({ host: '127.0.0.1', port: 0 });
  const get = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';
  const clients = [new RawClient(port), new RawClient(port)];
  for (const client of clients) await client.send(get).has('answer');
  expect(await new RawClient(port).all()).toBe('');
  const [delta] = counters.drain().filter(({ siteId }) => siteId === '');
  expect(delta).toMatchObject({ requests: 0, policyId: '' });
  expect([...delta!.entries.get('refusal')!]).toEqual([['connection_limit', 1]]);
  clients[0]!.socket.destroy();
  await eventually(() => front.connections === 1);
  await new RawClient(port).send(get).has('answer');
  expect(counters.drain().every(({ entries }) => entries.get('refusal')!.size === 0)).toBe(true);
});
