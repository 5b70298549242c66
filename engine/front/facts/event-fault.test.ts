/** A fault in reporting a request ends neither its connection nor the thread. */

import { afterEach, expect, test } from 'vitest';
import { Closing, httpOrigin, RawClient, siteFor } from '../fixtures/fixture.ts';
import { createFront } from '../threads/front.ts';

const closing = new Closing();
afterEach(() => closing.run());

test.each(['strict', 'uws'] as const)(
  'a connection continues after a request that cannot be reported (%s)',
  async (listener) => {
    const origin = await httpOrigin(closing, (_, response) => response.end('ok'));
    const faults: unknown[] = [];
    const front = createFront({
      ...{
        routes: { revision: 'r1', sites: [siteFor(origin)] },
        inspectorOf: () => null,
        listener,
      },
      onRequestDone: () => {
        throw new Error('planted');
      },
      onEventFault: (thrown) => faults.push(thrown),
    });
    const port = await front.listen({ host: '127.0.0.1', port: 0 });
    closing.add(() => front.close());
    const client = new RawClient(port);
    for (let sent = 1; sent <= 3; sent++) {
      client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await client.until(() => client.text.split('200 OK').length === sent + 1);
    }
    client.socket.destroy();
    expect(faults).toHaveLength(3);
  },
);
