/** Tests of inspected answers that wait for slow clients: whole, in order, in a bounded memory. */

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
import type { HeldBudget } from '../wire/held-budget.ts';

const closing = new Closing();
afterEach(() => closing.run());

const waf = { enabled: true, mode: 'blocking', failPolicy: 'open' } as const;
const pageBytes = 520_000;

/** A page whose bytes say where they stand. */
const page = Buffer.from(
  Array.from({ length: pageBytes / 8 }, (_, at) => String(at).padStart(7, '0') + '\n').join(''),
);

interface Setting {
  /** What the origin answers; the page when left out. */
  readonly body?: Buffer;
  readonly chunked: boolean;
  readonly limitBytes: number;
  readonly later: boolean;
}

async function start(setting: Setting, heldBytesMax = 100_000_000): Promise<Running> {
  const { body = page } = setting;
  const origin = await httpOrigin(closing, (_, response) => {
    if (!setting.chunked) response.setHeader('Content-Length', body.length);
    for (let at = 0; at < body.length; at += 100_000) {
      response.write(body.subarray(at, at + 100_000));
    }
    response.end();
  });
  const responseNeed = {
    inspect: true,
    limitBytes: setting.limitBytes,
    onExcess: 'prefix',
  } as const;
  const script = { responseNeed, responseBody: () => passVerdict, later: setting.later };
  const sites = ['a', 'b'].map((id) => siteFor(origin, { id, hosts: [id], waf }));
  return startFront(closing, sites, new ScriptedInspector(script), { heldBytesMax });
}

function budgetOf(front: Running): HeldBudget {
  return (front.front as unknown as { context: FrontContext }).context.held;
}

/** Content of a response, its framing removed. */
function contentOf(text: string): string {
  const at = text.indexOf('\r\n\r\n') + 4;
  if (!/\r\nTransfer-Encoding: chunked\r\n/i.test(text.slice(0, at))) return text.slice(at);
  let rest = text.slice(at);
  let content = '';
  for (;;) {
    const line = rest.indexOf('\r\n');
    const size = Number.parseInt(rest.slice(0, line), 16);
    if (size === 0) return content;
    content += rest.slice(line + 2, line + 2 + size);
    expect(rest.slice(line + 2 + size, line + 4 + size)).toBe('\r\n');
    rest = rest.slice(line + 4 + size);
  }
}

const settings = [true, false].flatMap((chunked) =>
  [1_000_000, 150_000, 20_000].flatMap((limitBytes) =>
    [true, false].map((later) => ({ chunked, limitBytes, later })),
  ),
);

test.each(settings)('a slow reader gets all of an answer: %o', async (setting) => {
  const front = await start(setting);
  const client = new RawClient(front.port);
  client.socket.on('data', () => {
    client.socket.pause();
    setTimeout(() => client.socket.resume(), 1);
  });
  client.send('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  const text = await client.all();
  expect(contentOf(text) === page.toString('latin1')).toBe(true);
  const [event] = await front.eventsReach(1);
  expect(event).toMatchObject({ outcome: 'served', status: 200, bytesOut: pageBytes });
  expect(budgetOf(front).used).toBe(0);
});

test('the connection serves the next request after an answer that was paid out', async () => {
  const front = await start({ chunked: true, limitBytes: 1_000_000, later: false });
  const client = new RawClient(front.port);
  for (let round = 1; round <= 3; round++) {
    client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await client.has('\r\n0\r\n\r\n', round);
  }
  expect(client.text.length).toBeGreaterThan(3 * pageBytes);
  client.socket.destroy();
});

test('many slow readers of one client have their share, and others are served', async () => {
  const heldBytesMax = 120_000_000;
  // More than the system's buffers of a connection take.
  const body = Buffer.alloc(12_000_000, 97);
  const setting = { body, chunked: false, limitBytes: 20_000_000, later: false };
  const front = await start(setting, heldBytesMax);
  const budget = budgetOf(front);
  let most = 0;
  const { add } = budget;
  budget.add = (...args) => {
    add.apply(budget, args);
    most = Math.max(most, budget.used);
  };
  const readers = Array.from({ length: 25 }, () => {
    const client = new RawClient(front.port);
    client.socket.pause();
    return client.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  });
  const refusals = (): number =>
    front.events.filter(({ status, refusal }) => status === 503 && refusal === 'memory').length;
  await eventually(() => refusals() > 15);
  expect(most).toBeLessThanOrEqual(heldBytesMax * 0.5 + frontLimits.readBufferBytes);
  const victim = new RawClient(front.port, '127.0.0.2');
  victim.socket.removeAllListeners('data');
  let received = 0;
  victim.socket.on('data', (chunk) => (received += chunk.length));
  for (let round = 1; round <= 3; round++) {
    victim.send('GET / HTTP/1.1\r\nHost: b\r\n\r\n');
    await eventually(() => received > round * body.length);
  }
  const served = front.events.filter(
    ({ siteId, outcome }) => siteId === 'b' && outcome === 'served',
  );
  expect(served).toHaveLength(3);
  for (const client of [...readers, victim]) client.socket.destroy();
  await eventually(() => budget.used === 0);
});
