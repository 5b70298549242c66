/** Tests what requests meet on an overloaded thread: the fail policy of their site, no more. */

import { afterEach, expect, test } from 'vitest';
import type { CountryAccessRule } from '../../contract/access.ts';
import { notOverloaded } from '../../contract/overload.ts';
import type { SiteConfig } from '../../contract/site.ts';
import type { GuardServices } from '../../guard/guard.ts';
import { OverloadController } from '../../overload/controller.ts';
import { FrontCounters } from '../facts/counters.ts';
import {
  blockWith,
  Closing,
  httpOrigin,
  RawClient,
  ScriptedInspector,
  siteFor,
  startFront,
} from '../fixtures/fixture.ts';

const closing = new Closing();
afterEach(() => closing.run());

/** One that inspects every `1 / percent`th request; the first hundredth of them is not. */
function overloaded(percent: number): OverloadController {
  const controller = new OverloadController();
  controller.status = { ...notOverloaded, state: 'shedding', probePercent: percent };
  return controller;
}

const denied: CountryAccessRule = {
  id: 'c1',
  kind: 'deny',
  bypass: 'all_waf',
  source: 'client_ip',
  inverted: false,
  countries: ['XX'],
};
const guardServices: GuardServices = { countryOf: () => 'XX', rates: null };

const post = 'POST /?a=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nb=2';

async function start(waf: SiteConfig['waf'], percent = 1, more: Partial<SiteConfig> = {}) {
  const origin = await httpOrigin(closing, (request, response) => {
    request.resume().on('end', () => response.end('from the origin'));
  });
  const inspector = new ScriptedInspector({ head: () => blockWith(403, 1) });
  const overload = overloaded(percent);
  const sites = [siteFor(origin, { waf, ...more })];
  const front = await startFront(closing, sites, waf.enabled ? inspector : null, {}, 'strict', {
    overload,
    guardServices,
  });
  return { front, inspector, overload };
}

test.each(['blocking', 'detection'] as const)('closed, %s: 503 and its page', async (mode) => {
  const { front, inspector } = await start({ enabled: true, mode, failPolicy: 'closed' });
  const client = new RawClient(front.port).send(post);
  const text = await client.has('\r\n\r\n');
  expect(text).toMatch(/^HTTP\/1\.1 503 /);
  expect(await client.has('"kind":"service_unavailable"')).not.toContain('origin');
  expect(inspector.opened).toBe(0);
  const [event] = await front.eventsReach(1);
  expect(event).toMatchObject({ outcome: 'inspection_failed', status: 503, blocked: false });
  expect(event?.transaction?.failure).toBe('overload');
});

test('open: the request passes uninspected, and its event records it', async () => {
  const { front, inspector } = await start({
    ...{ enabled: true, mode: 'blocking', failPolicy: 'open' },
  });
  expect(await new RawClient(front.port).send(post).has('from the origin')).toMatch(/ 200 /);
  const [event] = await front.eventsReach(1);
  expect(event).toMatchObject({ outcome: 'served', status: 200 });
  expect(event?.transaction?.failure).toBe('overload');
  expect(inspector.opened).toBe(0);
  const counters = new FrontCounters();
  counters.add(event!, 'p');
  const [delta] = counters.drain();
  expect([...delta!.entries.get('failure')!]).toEqual([['overload', 1]]);
  expect([...delta!.entries.get('verdict')!]).toEqual([['failed', 1]]);
  // It says nothing of how long inspection takes.
  expect(delta).toMatchObject({ inspected: 0, inspectionUs: 0 });
  expect(delta!.inspections.every((count) => count === 0)).toBe(true);
});

test('a site without inspection has nothing to shed', async () => {
  const { front, overload } = await start({
    ...{ enabled: false, mode: 'blocking', failPolicy: 'closed' },
  });
  expect(await new RawClient(front.port).send(post).has('from the origin')).toMatch(/ 200 /);
  const [event] = await front.eventsReach(1);
  expect(event).toMatchObject({ outcome: 'served', transaction: null });
  expect(overload.shed).toBe(0);
});

test('guards decide as before', async () => {
  const waf = { enabled: true, mode: 'blocking', failPolicy: 'open' } as const;
  const { front } = await start(waf, 1, { access: { ip: [], country: [denied] } });
  expect(await new RawClient(front.port).send(post).has('\r\n\r\n')).toMatch(/ 403 /);
  const [event] = await front.eventsReach(1);
  expect(event).toMatchObject({ outcome: 'blocked', status: 403, transaction: null });
});

test('the share that is inspected is inspected whole', async () => {
  const waf = { enabled: true, mode: 'blocking', failPolicy: 'open' } as const;
  const { front, inspector } = await start(waf, 50);
  for (let at = 0; at < 10; at++) await new RawClient(front.port).send(post).has('HTTP/1.1 ');
  const events = await front.eventsReach(10);
  expect(events.filter(({ status }) => status === 403)).toHaveLength(5);
  expect(inspector.opened).toBe(5);
});
