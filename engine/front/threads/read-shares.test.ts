/** Tests that a large answer leaves each turn of the event loop room for others. */

import net from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { turnLimits } from '../../../base/delivery-limits.ts';
import { Closing, httpOrigin, RawClient, siteFor, startFront } from '../fixtures/fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

const bodyBytes = 16_000_000;
const { write } = net.Socket.prototype;

/** The most bytes that one socket of this process was given within one turn of the event loop. */
function watchTurns(): () => number {
  let most = 0;
  let perSocket: Map<net.Socket, number> | null = null;
  net.Socket.prototype.write = function (this: net.Socket, ...args: unknown[]): boolean {
    const { length } = args[0] as Uint8Array;
    // The test's own writes are larger than any read of the proxy.
    if (length <= turnLimits.sharedReadBytesMax) {
      if (perSocket === null) setImmediate(() => (perSocket = null));
      perSocket ??= new Map();
      const bytes = (perSocket.get(this) ?? 0) + length;
      perSocket.set(this, bytes);
      most = Math.max(most, bytes);
    }
    return (write as (...all: unknown[]) => boolean).apply(this, args);
  } as typeof write;
  closing.add(() => {
    net.Socket.prototype.write = write;
  });
  return () => most;
}

test('an answer takes its share of a turn, not all that its origin has sent', async () => {
  const body = Buffer.alloc(bodyBytes, 97);
  const origin = await httpOrigin(closing, (_, response) => response.end(body));
  const { port } = await startFront(closing, [siteFor(origin, { id: 'a', hosts: ['a'] })]);
  const most = watchTurns();
  const client = new RawClient(port);
  client.socket.removeAllListeners('data');
  let received = 0;
  client.socket.on('data', (chunk) => (received += chunk.length));
  client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await eventually(() => received > bodyBytes);
  expect(most()).toBeGreaterThan(turnLimits.bulkReadBytesMin);
  expect(most()).toBeLessThanOrEqual(turnLimits.aloneReadBytesMax + turnLimits.sharedReadBytesMax);
  client.socket.destroy();
});
