/** Requests in traces, on the wire: what origins get, what is sampled, and what events say. */

import http2 from 'node:http2';
import type { IncomingHttpHeaders } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { clientIpRule } from '../../../test/support/client-ip-rule.ts';
import { eventually } from '../../../test/support/eventually.ts';
import { systemClock, type Clock } from '../../../base/clock.ts';
import { httpLimits } from '../../../base/delivery-limits.ts';
import { parseNetwork } from '../../../base/ip-address.ts';
import type { RequestEvent } from '../../contract/events.ts';
import type { TracingSettings } from '../../contract/logging.ts';
import type { SiteConfig } from '../../contract/site.ts';
import type { TrustConfig } from '../../contract/trust.ts';
import { SCAN } from '../../http/head-scanner.ts';
import { RequestHeadParser } from '../../http/request-head.ts';
import { EventPacker, unpackEvents } from './event-wire.ts';
import { Closing, httpOrigin, RawClient, siteFor } from '../fixtures/fixture.ts';
import { createFront } from '../threads/front.ts';
import { Tracer } from './tracer.ts';

const closing = new Closing();
afterEach(() => closing.run());

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const parent = (flags: string): string => `00-${traceId}-${spanId}-${flags}`;
const everything: TracingSettings = { ratio: 1, parents: true, perSecond: 1_000 };
const nothing: TracingSettings = { ...everything, ratio: 0 };

/** The peer of these tests is a proxy that is proved. */
const trust: TrustConfig = {
  nodes: [{ id: 'lb', ranges: [parseNetwork('127.0.0.0/8') ?? ''], xffMode: '' }],
  edges: [
    { from: 'internet', to: 'lb' },
    { from: 'lb', to: 'waf' },
  ],
  rules: [clientIpRule()],
};

interface Started {
  readonly port: number;
  /** Fields of requests as the origin got them; lists where there were several. */
  readonly received: { headers: IncomingHttpHeaders; raw: string[] }[];
  readonly events: RequestEvent[];
}

/** A front before an origin that answers with 201. `settings` null: traces are off. */
async function start(
  settings: TracingSettings | null,
  change: Partial<SiteConfig> = {},
): Promise<Started> {
  const received: Started['received'] = [];
  const origin = await httpOrigin(closing, ({ headers, rawHeaders: raw }, response) => {
    received.push({ headers, raw });
    response.writeHead(201).end('ok');
  });
  const tracer = new Tracer(systemClock, () => undefined);
  tracer.use(settings, 1);
  const events: RequestEvent[] = [];
  const front = createFront({
    routes: { revision: 'r1', sites: [siteFor(origin, change)] },
    inspectorOf: () => null,
    onRequestDone: (event) => void events.push(event),
    tracer,
  });
  closing.add(() => front.close());
  const port = await front.listen({ host: '127.0.0.1', port: 0 });
  return { port, received, events };
}

/** Sends one request with these header lines and waits for its answer. */
async function ask({ port }: Started, lines: string): Promise<string> {
  const client = new RawClient(port);
  client.send(`GET /a?b=c HTTP/1.1\r\nHost: shop.test\r\n${lines}Connection: close\r\n\r\n`);
  return client.all();
}

function partsOf(value: unknown): { trace: string; span: string; flags: string } {
  const [version, trace = '', span = '', flags = ''] = String(value).split('-');
  expect(version).toBe('00');
  return { trace, span, flags };
}

test('without tracing the context passes byte for byte, whatever it is', async () => {
  const started = await start(null);
  await ask(started, 'TraceParent:not one\r\ntracestate: A=1\r\nTraceparent: 00-x\r\n');
  const { raw } = started.received[0]!;
  const at = raw.findIndex((text) => text === 'TraceParent');
  expect(raw.slice(at, at + 6)).toEqual([
    ...['TraceParent', 'not one', 'tracestate', 'A=1', 'Traceparent', '00-x'],
  ]);
  expect(started.events[0]).not.toHaveProperty('trace');
});

test('the origin continues the client trace below our span, and the event joins them', async () => {
  const started = await start(everything);
  await ask(started, `Traceparent: ${parent('01')}\r\ntracestate: rojo=1\r\nTraceState: a=2\r\n`);
  const { headers, raw } = started.received[0]!;
  const { trace, span, flags } = partsOf(headers['traceparent']);
  expect({ trace, flags }).toEqual({ trace: traceId, flags: '01' });
  expect(headers['tracestate']).toBe('rojo=1,a=2');
  expect(raw.filter((name) => /^trace/i.test(name))).toEqual(['traceparent', 'tracestate']);
  const found = started.events[0]?.trace;
  expect(found).toMatchObject({ traceId, parentId: spanId, state: 'rojo=1,a=2' });
  expect(found?.origin).toMatchObject({ spanId: span, status: 201, scheme: 'http', resends: 0 });
  expect(new Set([spanId, span, found?.spanId]).size).toBe(3);
  const { fromUs = -1, untilUs = -1 } = found?.origin ?? {};
  expect(fromUs).toBeGreaterThanOrEqual(0);
  expect(untilUs).toBeGreaterThanOrEqual(fromUs);
  expect(untilUs).toBeLessThanOrEqual(started.events[0]!.durationUs + 1);
  expect(Math.abs(found!.startUs / 1000 - started.events[0]!.receivedAtMs)).toBeLessThan(1_000);
});

test.each([
  ['no context', ''],
  ['an invalid one', `traceparent: 00-${traceId}-${'0'.repeat(16)}-01\r\ntracestate: a=1\r\n`],
  ['two of them', `traceparent: ${parent('01')}\r\ntraceparent: ${parent('01')}\r\n`],
  ['one that Connection names', `traceparent: ${parent('01')}\r\nConnection: traceparent\r\n`],
  ['a state alone', 'tracestate: a=1\r\n'],
])('a trace begins here: %s', async (_name, lines) => {
  const started = await start(everything);
  await ask(started, lines);
  const { headers, raw } = started.received[0]!;
  const { trace, flags } = partsOf(headers['traceparent']);
  expect(trace).toMatch(/^[0-9a-f]{32}$/);
  expect([trace === traceId, flags]).toEqual([false, '01']);
  expect(raw.filter((name) => /^trace/i.test(name))).toEqual(['traceparent']);
  expect(started.events[0]?.trace).toMatchObject({ traceId: trace, parentId: '', state: '' });
});

test('an invalid state is left out; the trace continues', async () => {
  const started = await start(everything);
  await ask(started, `traceparent: ${parent('01')}\r\ntracestate: a=1,a=2\r\n`);
  const { headers } = started.received[0]!;
  expect(partsOf(headers['traceparent']).trace).toBe(traceId);
  expect(headers).not.toHaveProperty('tracestate');
});

test('what is not sampled is said to the origin, and is in no event', async () => {
  const started = await start(nothing);
  await ask(started, `traceparent: ${parent('01')}\r\n`);
  const { trace, span, flags } = partsOf(started.received[0]!.headers['traceparent']);
  expect([trace, flags]).toEqual([traceId, '00']);
  expect(span).not.toBe(spanId);
  expect(started.events[0]).not.toHaveProperty('trace');
});

test.each([
  ['a client that nobody proves cannot ask for spans', nothing, {}, '01', '00'],
  ['nor can it do without', everything, {}, '00', '01'],
  ['a proxy that is proved asks for spans', nothing, { trust }, '01', '01'],
  ['and does without', everything, { trust }, '00', '00'],
  ['unless the sampler looks at no parents', { ...nothing, parents: false }, { trust }, '01', '00'],
])('%s', async (_name, settings, change, sent, got) => {
  const started = await start(settings, change);
  await ask(started, `traceparent: ${parent(sent)}\r\nX-Forwarded-For: 203.0.113.9\r\n`);
  expect(partsOf(started.received[0]!.headers['traceparent']).flags).toBe(got);
});

test('the bound of a second holds for everybody, and what it leaves out is counted', () => {
  let nowUs = 1_000_000;
  const clock: Clock = { nowMs: () => 0, monotonicUs: () => nowUs };
  let dropped = 0;
  const tracer = new Tracer(clock, () => dropped++);
  tracer.use({ ...everything, perSecond: 20 }, 2);
  const text = `GET / HTTP/1.1\r\nHost: a\r\ntraceparent: ${parent('01')}\r\n\r\n`;
  const bytes = Buffer.from(text, 'latin1');
  const head = new RequestHeadParser(httpLimits);
  head.reset(0);
  expect(head.execute(bytes, bytes.length)).toBe(SCAN.DONE);
  const begin = (): boolean => tracer.begin(head, bytes, true, nowUs)!.sampled;
  const sampledOf = (count: number): number =>
    Array.from({ length: count }, begin).filter(Boolean).length;
  expect([sampledOf(50), dropped]).toEqual([10, 40]);
  nowUs += 500_000;
  expect([sampledOf(50), dropped]).toEqual([5, 85]);
  // A long pause saves up one second at most.
  nowUs += 60_000_000;
  expect(sampledOf(50)).toBe(10);
  // The same settings again, as with every generation, fill nothing.
  tracer.use({ ...everything, perSecond: 20 }, 2);
  expect(sampledOf(50)).toBe(0);
});

test('fields that the operator sets stand in place of ours', async () => {
  const received: IncomingHttpHeaders[] = [];
  const origin = await httpOrigin(closing, ({ headers }, response) => {
    received.push(headers);
    response.end();
  });
  const { upstream } = siteFor(origin);
  const requestHeaders = [{ name: 'TraceState', value: 'own=1' }];
  const started = await start(everything, { upstream: { ...upstream, requestHeaders } });
  await ask(started, `traceparent: ${parent('01')}\r\ntracestate: a=1\r\n`);
  expect(received[0]?.['tracestate']).toBe('own=1');
  expect(partsOf(received[0]?.['traceparent']).trace).toBe(traceId);
});

test('an origin that cannot be reached has a span without a status', async () => {
  const started = await start(everything, {
    upstream: {
      ...{ id: 'up-1', scheme: 'http' },
      endpoints: [{ host: '127.0.0.1', port: 9, weight: 1 }],
    },
  });
  expect(await ask(started, '')).toContain('HTTP/1.1 502');
  expect(started.events[0]?.trace?.origin).toMatchObject({ status: 0 });
});

test.each([
  [
    'a second host',
    `GET /a HTTP/1.1\r\nHost: a\r\ntraceparent: ${parent('01')}\r\nHost: b\r\n\r\n`,
  ],
  ['a line without a colon', `GET /a HTTP/1.1\r\ntraceparent: ${parent('01')}\r\nodd\r\n\r\n`],
  ['no request line', 'odd\r\n\r\n'],
])('a request that the parser refuses has a span: %s', async (_name, text) => {
  const started = await start(everything);
  expect(await new RawClient(started.port).send(text).all()).toContain('HTTP/1.1 400');
  const [event] = started.events;
  expect([event?.outcome, event?.status]).toEqual(['refused', 400]);
  const trace = event?.trace;
  expect(trace).toMatchObject({ origin: null, spanId: expect.stringMatching(/^[0-9a-f]{16}$/) });
  const joins = text.includes(traceId);
  expect([trace?.traceId === traceId, trace?.parentId]).toEqual([joins, joins ? spanId : '']);
});

test('a client whose request is refused cannot ask for a span', async () => {
  const started = await start(nothing, { trust });
  const lines = `Host: a\r\nodd\r\ntraceparent: ${parent('01')}\r\n\r\n`;
  await new RawClient(started.port).send(`GET /a HTTP/1.1\r\n${lines}`).all();
  expect(started.events[0]).toMatchObject({ outcome: 'refused' });
  expect(started.events[0]).not.toHaveProperty('trace');
});

test('requests over HTTP/2 are in traces like all others', async () => {
  const started = await start(everything);
  const client = http2.connect(`http://127.0.0.1:${started.port}`);
  closing.add(() => client.destroy());
  const asked = client.request({ ':path': '/a', traceparent: parent('01'), tracestate: 'a=1' });
  asked.resume();
  await eventually(() => started.events.length === 1);
  const { headers } = started.received[0]!;
  const { trace, span } = partsOf(headers['traceparent']);
  expect([trace, headers['tracestate']]).toEqual([traceId, 'a=1']);
  expect(started.events[0]?.trace).toMatchObject({ parentId: spanId, origin: { spanId: span } });
});

test('events bring their traces to the main thread', async () => {
  const started = await start(everything);
  await ask(started, `traceparent: ${parent('01')}\r\ntracestate: a="1"\r\n`);
  const [event] = started.events;
  const packer = new EventPacker();
  const { trace: _, ...bare } = event!;
  packer.add(bare);
  packer.add(event!);
  const [first, second] = unpackEvents(packer.take(0));
  expect(first).not.toHaveProperty('trace');
  expect(second?.trace).toEqual(event?.trace);
});
