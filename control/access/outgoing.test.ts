/** Tests which addresses outgoing fetches refuse when a name leads to several. Asks no resolver. */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { fetchOutgoing } from './outgoing.ts';

const addresses = vi.hoisted(() => ({ found: [] as { address: string; family: number }[] }));
vi.mock('node:dns/promises', () => ({ lookup: () => Promise.resolve(addresses.found) }));

let server: Server;
let asked = 0;
beforeAll(async () => {
  server = createServer((request, response) => {
    asked++;
    request.resume();
    response.end('content');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => server.close());
beforeEach(() => {
  asked = 0;
});

/** Fetches from the name under which `found` are found. */
function fetchFrom(found: readonly string[], allowedNetworks: readonly string[]): Promise<unknown> {
  addresses.found = found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  const url = `http://source.example:${(server.address() as AddressInfo).port}/`;
  const request = { url, headers: {}, etag: '', lastModified: '', allowedNetworks };
  return fetchOutgoing(request, async (body) => {
    for await (const chunk of body) return chunk.toString();
    return '';
  });
}

test('a name may lead to special addresses only where all of them are allowed', async () => {
  const answer = await fetchFrom(['127.0.0.1'], ['127.0.0.0/8']);
  expect(answer).toMatchObject({ httpStatus: 200, result: 'content' });
  expect(asked).toBe(1);
});

test.each([
  [['127.0.0.1', '10.0.0.1']],
  [['127.0.0.1', '93.184.216.34', '169.254.169.254']],
  [['127.0.0.1', '::1']],
  [['::ffff:10.0.0.1', '127.0.0.1']],
  [['fe80::1']],
])('one that is not allowed among %j: nothing is asked', async (found) => {
  await expect(fetchFrom(found, ['127.0.0.0/8'])).rejects.toMatchObject({
    resultCode: 'blocked_address',
  });
  expect(asked).toBe(0);
});
