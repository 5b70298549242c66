/** Tests of what a thread keeps for all clients together: too many are refused, none forgotten. */

import { afterEach, expect, test } from 'vitest';
import { passVerdict } from '../contract/verdict.ts';
import {
  Closing,
  httpOrigin,
  RawClient,
  ScriptedInspector,
  siteFor,
  startFront,
} from './fixture.ts';
import type { Running } from './fixture.ts';
import { HeldBudget } from './held-budget.ts';

const closing = new Closing();
afterEach(() => closing.run());

const heldBytesMax = 100_000;
const piece = 20_000;

async function start(): Promise<Running> {
  const origin = await httpOrigin(closing, (request, response) => {
    request.resume().on('end', () => response.end('served'));
  });
  const inspector = new ScriptedInspector({
    bodyNeed: { inspect: true, limitBytes: 1_000_000, onExcess: 'prefix' },
    body: () => passVerdict,
  });
  const waf = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;
  return startFront(closing, [siteFor(origin, { waf })], inspector, { heldBytesMax });
}

const wires = [
  ['heads', `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(piece)}`, '\r\n\r\n'],
  [
    'bodies',
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${piece + 1}\r\n\r\n${'x'.repeat(piece)}`,
    'x',
  ],
] as const;

test.each(wires)('unfinished %s past the bound get 503, the others are served', async (...wire) => {
  const [, begun, rest] = wire;
  const front = await start();
  for (let round = 0; round < 3; round++) {
    front.events.length = 0;
    const clients = Array.from({ length: 12 }, () => new RawClient(front.port).send(begun));
    const refused = await front.eventsReach(12 - Math.floor(heldBytesMax / piece));
    expect(refused.every(({ status }) => status === 503)).toBe(true);
    expect(refused[0]).toMatchObject({ outcome: 'refused', refusal: 'memory' });
    const waiting = clients.filter(({ text }) => text === '');
    await Promise.all(clients.filter((one) => !waiting.includes(one)).map((one) => one.all()));
    for (const client of waiting) if (!client.ended) client.send(rest);
    await front.eventsReach(12);
    const served = front.events.filter(({ outcome }) => outcome === 'served');
    expect(served.length).toBeGreaterThan(1);
    for (const client of clients) client.socket.destroy();
  }
});

test('a budget is as large after as before', () => {
  const budget = new HeldBudget(10);
  expect(budget.change(0, 10)).toBe(true);
  expect(budget.change(0, 1)).toBe(false);
  expect(budget.change(10, 4)).toBe(true);
  expect(budget.change(0, 6)).toBe(true);
  expect(budget.change(4, 0)).toBe(true);
  expect(budget.change(6, 0)).toBe(true);
  expect(budget.used).toBe(0);
});
