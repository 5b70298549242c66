/**
 * Hundreds of clients that are slow on purpose, in several ways at once: heads and bodies byte by
 * byte, answers that nobody takes. Somebody else is served all the while, and in the end every slow
 * one is gone and on record.
 */

import { afterEach, expect, test } from 'vitest';
import { passVerdict } from '../../engine/contract/verdict.ts';
import {
  Closing,
  httpOrigin,
  RawClient,
  ScriptedInspector,
  siteFor,
  startFront,
} from '../../engine/front/fixtures/fixture.ts';

const perKind = 100;
const closing = new Closing();
afterEach(() => closing.run());

/** What a slow client begins with, what it then drips. */
const kinds = {
  head: { begin: 'GET / HTTP/1.1\r\nHost: a\r\nX: ', drip: 'x' },
  held: {
    begin: 'POST /held HTTP/1.1\r\nHost: a\r\nContent-Length: 9999\r\n\r\n',
    drip: 'x',
  },
  chunks: {
    begin: 'POST /chunks HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n',
    drip: '1\r\nx\r\n',
  },
} as const;

const settings = {
  headTimeoutMs: 2_500,
  bodyProgressTimeoutMs: 60_000,
  requestTotalTimeoutMs: 2_500,
  sendProgressTimeoutMs: 2_500,
};

test('slow clients cost their own time', async () => {
  const big = Buffer.alloc(16 * 1024 * 1024, 97);
  const origin = await httpOrigin(closing, (request, response) => {
    request.resume().on('end', () => response.end(request.url === '/big' ? big : 'served'));
  });
  const need = { inspect: true, limitBytes: 100_000, onExcess: 'reject' } as const;
  const inspector = new ScriptedInspector({ bodyNeed: need, body: () => passVerdict });
  const waf = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;
  const front = await startFront(closing, [siteFor(origin, { waf })], inspector, settings);
  const slow: RawClient[] = [];
  for (const { begin } of Object.values(kinds)) {
    for (let i = 0; i < perKind; i++) slow.push(new RawClient(front.port).send(begin));
  }
  const readers = Array.from({ length: 20 }, () => {
    const client = new RawClient(front.port).send('GET /big HTTP/1.1\r\nHost: a\r\n\r\n');
    client.socket.pause();
    return client;
  });
  const drips = setInterval(() => {
    for (const [index, client] of slow.entries()) {
      const kind = Object.values(kinds)[Math.floor(index / perKind)]!;
      if (!client.ended && client.socket.writable) client.send(kind.drip);
    }
  }, 50);
  let served = 0;
  const expected = slow.length + readers.length;
  const isSlow = ({ outcome }: { outcome: string }): boolean => outcome !== 'served';
  while (front.events.filter(isSlow).length < expected) {
    const client = new RawClient(front.port);
    const text = await client
      .send('GET /fine HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      .all();
    expect(text).toMatch(/\r\n\r\nserved$|served/);
    served++;
  }
  clearInterval(drips);
  const ended = front.events.filter(isSlow);
  console.log(`slow clients: ${expected}, served meanwhile: ${served}`);
  expect(served).toBeGreaterThan(1);
  expect(ended).toHaveLength(expected);
  const counts = new Map<string, number>();
  for (const { outcome, status, refusal } of ended) {
    const name = `${outcome} ${status} ${refusal}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  console.log(Object.fromEntries(counts));
  expect(counts.get('refused 408 head_timeout')).toBe(perKind);
  expect(counts.get('refused 408 body_timeout')).toBe(2 * perKind);
  expect(counts.get('client_abort 200 null')).toBe(readers.length);
  for (const client of [...slow, ...readers]) client.socket.destroy();
  await front.front.drain();
  expect(front.front.connections).toBe(0);
  expect(inspector.finished).toBe(inspector.opened);
});
