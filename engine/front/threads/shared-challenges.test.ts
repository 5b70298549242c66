/** Solutions of challenges that wait for other nodes: the request, its event, and what follows. */

import { afterEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../test/support/eventually.ts';
import { usual } from '../../../test/support/bot-gates.ts';
import { readPageText, solve } from '../../../test/support/challenge-solver.ts';
import type { UseAnswer } from '../../contract/bot.ts';
import type { RequestEvent } from '../../contract/events.ts';
import { Challenges } from '../../guard/bot/challenges.ts';
import { noGuardServices } from '../../guard/guard.ts';
import { RateTable, shareRates } from '../../guard/rate-table.ts';
import { Closing, httpOrigin, RawClient, siteFor } from '../fixtures/fixture.ts';
import { createFront } from './front.ts';

const closing = new Closing();
afterEach(() => closing.run());

const browser = 'Host: a\r\nAccept: text/html\r\n';

/** A front with a gate, whose questions to other nodes the test answers. */
async function start() {
  const asked: ((answer: UseAnswer) => void)[] = [];
  const use = (): Promise<UseAnswer> => new Promise((resolve) => asked.push(resolve));
  const table = new RateTable(shareRates([1, 2], 64));
  const challenges = new Challenges(table, Buffer.alloc(32, 7), { node: '1', uses: { use } });
  const origin = await httpOrigin(closing, (_request, response) => response.end('from origin'));
  const events: RequestEvent[] = [];
  const front = createFront({
    routes: { revision: 'r1', sites: [{ ...siteFor(origin), bot: usual }] },
    inspectorOf: () => null,
    guardServices: { ...noGuardServices, rates: table, challenges },
    onRequestDone: (event) => events.push(event),
  });
  const port = await front.listen({ host: '127.0.0.1', port: 0 });
  closing.add(() => front.close());
  const asking = new RawClient(port).send(`GET / HTTP/1.1\r\n${browser}Connection: close\r\n\r\n`);
  const page = readPageText(await asking.all());
  const path = `/.waf-check/pass?token=${page.token}&nonce=${solve(page)}`;
  const solution = `GET ${path} HTTP/1.1\r\n${browser}`;
  return { asked, events, port, solution };
}

describe('a solution that waits for other nodes', () => {
  test('is answered when they have answered, and the connection serves what follows', async () => {
    const { asked, events, port, solution } = await start();
    const client = new RawClient(port).send(`${solution}\r\n`);
    expect(await eventually(() => asked.length === 1)).toBe(true);
    // Another request of the thread meanwhile, and a pipelined one.
    const other = new RawClient(port).send(
      'GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    );
    expect(await other.all()).toContain('403');
    client.send(`GET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    expect(events).toHaveLength(2);
    asked[0]!('first');
    const text = await client.all();
    expect(text.indexOf('303')).toBeGreaterThan(-1);
    expect(text).toContain('Set-Cookie: ');
    expect(text.lastIndexOf('HTTP/1.1 403')).toBeGreaterThan(text.indexOf('303'));
    expect(await eventually(() => events.length === 4)).toBe(true);
    const notes = events.flatMap(({ guards = [] }) => guards.map(({ reason }) => reason));
    expect(notes).toContain('bot_solved');
  });

  test.each([
    ['again', 'HTTP/1.1 403', 'bot_replayed'],
    ['alone', 'HTTP/1.1 303', 'bot_solved_alone'],
  ] as const)('that others call %s', async (answer, status, reason) => {
    const { asked, events, port, solution } = await start();
    const client = new RawClient(port).send(`${solution}Connection: close\r\n\r\n`);
    await eventually(() => asked.length === 1);
    asked[0]!(answer);
    expect(await client.all()).toContain(status);
    expect(await eventually(() => events.length === 2)).toBe(true);
    expect(events[1]).toMatchObject({ guards: [{ reason }], refusal: reason });
  });

  test('whose client is gone ends without an answer', async () => {
    const { asked, events, port, solution } = await start();
    const client = new RawClient(port).send(`${solution}\r\n`);
    await eventually(() => asked.length === 1);
    client.socket.destroy();
    expect(await eventually(() => events.length === 2)).toBe(true);
    asked[0]!('first');
    await new Promise((resolve) => setImmediate(resolve));
    expect(events).toHaveLength(2);
    expect(events[1]).toMatchObject({ outcome: 'client_abort' });
  });
});
