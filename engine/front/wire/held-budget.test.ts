/** Tests of what a thread keeps for all clients together: too many are refused, none forgotten. */

import { afterEach, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { frontLimits } from '../../../base/delivery-limits.ts';
import { passVerdict } from '../../contract/verdict.ts';
import {
  Closing,
  httpOrigin,
  RawClient,
  ScriptedInspector,
  siteFor,
  startFront,
} from '../fixtures/fixture.ts';
import type { Running } from '../fixtures/fixture.ts';
import type { FrontContext } from '../front-context.ts';
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

test('who pipelines and takes no answers is not read for ever', async () => {
  const origin = await httpOrigin(closing, (_, response) => response.end(Buffer.alloc(60_000, 97)));
  const front = await startFront(closing, [siteFor(origin)]);
  const { context } = front.front as unknown as { context: FrontContext };
  const client = new RawClient(front.port);
  client.socket.pause();
  const request = `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(900)}\r\n\r\n`;
  const count = 24_000;
  let sent = 0;
  const more = (): void => {
    while (sent < count) {
      sent++;
      if (!client.socket.write(request)) return void client.socket.once('drain', more);
    }
  };
  more();
  let most = 0;
  let [before, still] = [-1, 0];
  await eventually(() => {
    most = Math.max(most, context.held.used);
    still = before === client.socket.bytesWritten ? still + 1 : 0;
    before = client.socket.bytesWritten;
    return still > 30;
  });
  expect(front.events.length).toBeGreaterThan(10);
  expect(sent).toBeLessThan(count);
  expect(most).toBeLessThan(frontLimits.heldInputBytesMax + 2 * frontLimits.readBufferBytes);
  let got = 0;
  client.socket.removeAllListeners('data').on('data', (chunk: Buffer) => (got += chunk.length));
  client.socket.resume();
  await eventually(() => front.events.length >= 300 && got > 300 * 60_000);
  client.socket.destroy();
  await eventually(() => context.held.used === 0);
});

test('a flood of small requests on one connection is read as fast as it is served', async () => {
  const front = await startFront(closing, [siteFor(1, { hosts: ['a'] })]);
  const { context } = front.front as unknown as { context: FrontContext };
  let most = 0;
  const { add } = context.held;
  context.held.add = (...args) => {
    add.apply(context.held, args);
    most = Math.max(most, context.held.used);
  };
  const client = new RawClient(front.port);
  client.socket.removeAllListeners('data').resume();
  const count = 15_000;
  client.send('GET / HTTP/1.1\r\nHost: b\r\n\r\n'.repeat(count));
  await eventually(() => front.events.length === count);
  expect(most).toBeLessThan(frontLimits.heldInputBytesMax + 2 * frontLimits.readBufferBytes);
  client.socket.destroy();
  await eventually(() => context.held.used === 0);
});

const mb = 1024 * 1024;
const budgetBytes = 240 * mb;

test('a budget is as large after as before', () => {
  const budget = new HeldBudget(10);
  const [one, two] = [budget.holder('192.0.2.1', 's'), budget.holder('192.0.2.1', 's')];
  expect(one.hold(10)).toBe(true);
  expect(two.hold(1)).toBe(false);
  expect(one.hold(4)).toBe(true);
  expect(two.hold(6)).toBe(true);
  expect(two.hold(7)).toBe(false);
  expect(two.bytes).toBe(6);
  expect(one.hold(0) && two.hold(0) && two.hold(0)).toBe(true);
  expect([budget.used, budget.accounts]).toEqual([0, 0]);
});

/** Holds pieces of one size until the budget refuses one; what was held then. */
function fill(budget: HeldBudget, addressOf: (at: number) => string, siteId: string): number {
  const pieceBytes = 6 * mb;
  let bytes = 0;
  for (let at = 0; at < 1000; at++) {
    if (!budget.holder(addressOf(at), siteId).hold(pieceBytes)) return bytes;
    bytes += pieceBytes;
  }
  return bytes;
}

test.each([
  ['an IPv4 address', () => '192.0.2.1', 1 / 2],
  ['an IPv6 network', (at: number) => `2001:db8:0:1::${at.toString(16)}`, 1 / 2],
  ['many clients of one site', (at: number) => `192.0.2.${at}`, 2 / 3],
] as const)('%s leaves room for others', (_, addressOf, share) => {
  const budget = new HeldBudget(budgetBytes);
  const taken = fill(budget, addressOf, 'attacked');
  expect(taken).toBeLessThanOrEqual(budgetBytes * share);
  expect(taken).toBeGreaterThan(budgetBytes * share - 12 * mb);
  expect(budget.holder('198.51.100.1', 'other').hold(12 * mb)).toBe(true);
  // Of the same site, too: at least a usual body.
  expect(budget.holder('198.51.100.2', 'attacked').hold(100_000)).toBe(true);
});

test('many clients at one site after another leave a usual body to everybody else', () => {
  const budget = new HeldBudget(budgetBytes);
  for (let at = 0; at < 10; at++) fill(budget, () => `192.0.2.${at}`, `site-${at}`);
  for (let at = 0; at < 10; at++) {
    expect(budget.holder(`198.51.100.${at}`, 'other').hold(frontLimits.heldClientBytesMin)).toBe(
      true,
    );
  }
});

test('unfinished uploads of one client leave room for those of another site', async () => {
  const origin = await httpOrigin(closing, (request, response) => {
    request.resume().on('end', () => response.end('served'));
  });
  const inspector = new ScriptedInspector({
    bodyNeed: { inspect: true, limitBytes: 13 * mb, onExcess: 'prefix' },
    body: () => passVerdict,
  });
  const waf = { enabled: true, mode: 'blocking', failPolicy: 'closed' } as const;
  const sites = ['a', 'b'].map((id) => siteFor(origin, { id, hosts: [id], waf }));
  const front = await startFront(closing, sites, inspector, { heldBytesMax: 8 * mb });
  const begun = (host: string, length: number): string =>
    `POST / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${length}\r\n\r\n`;
  const uploads = Array.from({ length: 30 }, () => {
    return new RawClient(front.port).send(begun('a', mb + 1)).send('x'.repeat(mb));
  });
  const refused = await front.eventsReach(20);
  expect(refused.every(({ siteId, status }) => siteId === 'a' && status === 503)).toBe(true);
  const victim = new RawClient(front.port, '127.0.0.2');
  const form = 'x'.repeat(500_000);
  for (let round = 0; round < 10; round++) {
    victim.send(begun('b', form.length) + form);
    await victim.has('served', round + 1);
  }
  for (const client of [...uploads, victim]) client.socket.destroy();
});
