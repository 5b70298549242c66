/**
 * Proof that a guard does the same to live traffic and to a simulated request: every action, the
 * order of guards, what a bypass skips, what events and counters keep, and a guard that fails.
 */

import { afterEach, expect, test } from 'vitest';
import type { RequestEvent } from '../../engine/contract/events.ts';
import type { GuardName, GuardVerdict } from '../../engine/contract/guard.ts';
import type { Inspector } from '../../engine/contract/inspection.ts';
import type { SiteConfig } from '../../engine/contract/site.ts';
import { FrontCounters } from '../../engine/front/counters.ts';
import { EventPacker, unpackEvents } from '../../engine/front/event-wire.ts';
import {
  blockWith,
  Closing,
  httpOrigin,
  RawClient,
  ScriptedInspector,
  siteFor,
  startFront,
} from '../../engine/front/fixture.ts';
import { noGuardServices, type GuardKind } from '../../engine/guard/guard.ts';
import { compileGuards } from '../../engine/guard/guard-chain.ts';
import { RequestHeadParser } from '../../engine/http/request-head.ts';
import { simulateRequest } from '../../engine/simulate/simulated-request.ts';

const closing = new Closing();
afterEach(() => closing.run());

/** A guard that acts on requests that name it in a field. */
function planted(name: GuardName, verdict: Partial<GuardVerdict> | 'throws'): GuardKind {
  return {
    name,
    compile: () => ({
      name,
      describe: (view) => `X-Plant: ${view.header('x-plant') ?? ''}`,
      decide: (view) => {
        if (view.header('x-plant')?.includes(name) !== true) return null;
        if (verdict === 'throws') throw new Error('planted');
        const usual = { action: 'deny', reason: `${name}_deny`, ruleId: 'r-1', detail: view.path };
        return { guard: name, status: 403, scenario: null, ...usual, ...verdict } as GuardVerdict;
      },
    }),
  };
}

/** Blocks every request: what passes it was not inspected. */
const blocksAll = new ScriptedInspector({ head: () => blockWith(406, 1) });

interface Case {
  readonly kinds: readonly GuardKind[];
  readonly plant: string;
  readonly inspector?: Inspector | null;
  readonly waf?: Partial<SiteConfig['waf']>;
}

interface Seen {
  readonly status: number;
  readonly outcome: string;
  readonly refusal: string;
  readonly guards: readonly (readonly [string, string, string])[];
  readonly failure: string;
}

const page = { contentType: 'text/html', body: Buffer.from('<p>prove it</p>') };

async function live(one: Case): Promise<{ seen: Seen; event: RequestEvent; text: string }> {
  const port = await httpOrigin(closing, (_, response) => response.end('ok'));
  const running = await startFront(
    closing,
    [siteOf(port, one)],
    one.inspector ?? null,
    {},
    'strict',
    { guardKinds: one.kinds },
  );
  const client = new RawClient(running.port).send(headText(one.plant));
  const text = await client.all();
  const [event] = await running.eventsReach(1);
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
  const { outcome, refusal, guards = [], transaction } = event!;
  const notes = guards.map(({ guard, action, reason }) => [guard, action, reason] as const);
  const failure = transaction?.failure ?? '';
  const seen = { status: outcome === 'served' ? 0 : status, outcome, refusal: refusal ?? '' };
  return { seen: { ...seen, guards: notes, failure }, event: event!, text };
}

function simulated(one: Case): Seen {
  const site = siteOf(1, one);
  const bytes = Buffer.from(headText(one.plant), 'latin1');
  const parser = new RequestHeadParser();
  parser.reset(0);
  parser.execute(bytes, bytes.length);
  const connection = { clientIp: '127.0.0.1', peerIp: '127.0.0.1', serverIp: '127.0.0.1' };
  const { outcome, status, refusal, notes, record } = simulateRequest(
    {
      site,
      inspector: one.inspector ?? null,
      guards: compileGuards(site, noGuardServices, one.kinds),
    },
    {
      snapshot: {
        requestId: 'x',
        receivedAtMs: 0,
        siteId: site.id,
        connection: { ...connection, clientPort: 1, serverPort: 80, scheme: 'http' },
        head: { bytes, spans: parser.copySpans() },
      },
      head: parser,
      body: null,
    },
  );
  const guards = notes.map(({ guard, action, reason }) => [guard, action, reason] as const);
  return { status, outcome, refusal, guards, failure: record?.failure ?? '' };
}

function siteOf(port: number, { inspector = null, waf }: Case): SiteConfig {
  return siteFor(port, {
    waf: { enabled: inspector !== null, mode: 'blocking', failPolicy: 'closed', ...waf },
  });
}

function headText(plant: string): string {
  return `GET /a HTTP/1.1\r\nHost: a.example\r\nX-Plant: ${plant}\r\nConnection: close\r\n\r\n`;
}

const bypass: Partial<GuardVerdict> = { action: 'bypass', reason: 'listed', status: 0 };

/** Case, and what both sides must say. */
const table: readonly (readonly [string, Case, Seen])[] = [
  [
    'nothing to say',
    { kinds: [planted('ip', {})], plant: '' },
    { status: 0, outcome: 'served', refusal: '', guards: [], failure: '' },
  ],
  [
    'deny',
    { kinds: [planted('ip', {})], plant: 'ip' },
    {
      status: 403,
      outcome: 'blocked',
      refusal: 'ip_deny',
      guards: [['ip', 'deny', 'ip_deny']],
      failure: '',
    },
  ],
  [
    'drop',
    { kinds: [planted('ip', { action: 'drop', status: 0 })], plant: 'ip' },
    {
      status: 0,
      outcome: 'blocked',
      refusal: 'ip_deny',
      guards: [['ip', 'drop', 'ip_deny']],
      failure: '',
    },
  ],
  [
    'redirect',
    {
      kinds: [planted('ip', { action: 'redirect', status: 302, location: '/else' })],
      plant: 'ip',
    },
    {
      status: 302,
      outcome: 'blocked',
      refusal: 'ip_deny',
      guards: [['ip', 'redirect', 'ip_deny']],
      failure: '',
    },
  ],
  [
    'challenge with a page of its own',
    { kinds: [planted('bot', { action: 'challenge', status: 401, page })], plant: 'bot' },
    {
      status: 401,
      outcome: 'challenged',
      refusal: 'bot_deny',
      guards: [['bot', 'challenge', 'bot_deny']],
      failure: '',
    },
  ],
  [
    'monitor, and what decides after it',
    {
      kinds: [planted('rate_limit', { action: 'monitor', status: 0 }), planted('ip', {})],
      plant: 'rate_limit ip',
    },
    {
      status: 403,
      outcome: 'blocked',
      refusal: 'ip_deny',
      guards: [
        ['rate_limit', 'monitor', 'rate_limit_deny'],
        ['ip', 'deny', 'ip_deny'],
      ],
      failure: '',
    },
  ],
  [
    'guards come before the rules',
    { kinds: [planted('ip', {})], plant: 'ip', inspector: blocksAll },
    {
      status: 403,
      outcome: 'blocked',
      refusal: 'ip_deny',
      guards: [['ip', 'deny', 'ip_deny']],
      failure: '',
    },
  ],
  [
    'a bypass of the rules',
    { kinds: [planted('ip', { ...bypass, skips: ['waf'] })], plant: 'ip', inspector: blocksAll },
    {
      status: 0,
      outcome: 'served',
      refusal: '',
      guards: [['ip', 'bypass', 'listed']],
      failure: '',
    },
  ],
  [
    'a bypass of a later guard only',
    {
      kinds: [planted('ip', { ...bypass, skips: ['country'] }), planted('country', {})],
      plant: 'ip country',
      inspector: blocksAll,
    },
    {
      status: 406,
      outcome: 'blocked',
      refusal: '',
      guards: [['ip', 'bypass', 'listed']],
      failure: '',
    },
  ],
  [
    'a guard that fails, fail policy closed',
    { kinds: [planted('ip', 'throws')], plant: 'ip' },
    { status: 503, outcome: 'inspection_failed', refusal: '', guards: [], failure: 'internal' },
  ],
  [
    'a guard that fails, fail policy open',
    { kinds: [planted('ip', 'throws')], plant: 'ip', waf: { failPolicy: 'open' } },
    { status: 0, outcome: 'served', refusal: '', guards: [], failure: 'internal' },
  ],
];

test.each(table)('%s', async (_, one, expected) => {
  expect((await live(one)).seen).toEqual(expected);
  expect(simulated(one)).toEqual(expected);
});

test('a challenge sends its page and fields; a refusal says when to come again', async () => {
  const headers = [['X-Proof', 'a\r\nb']] as const;
  const kinds = [planted('bot', { action: 'challenge', status: 401, page, headers })];
  const { text } = await live({ kinds, plant: 'bot' });
  expect(text).toContain('Content-Type: text/html\r\n');
  expect(text).toContain('\r\nX-Proof: ab\r\n');
  expect(text.endsWith('<p>prove it</p>')).toBe(true);
  const limit = planted('rate_limit', { status: 429, scenario: 'rate_limit', retryAfterS: 7 });
  const limited = await live({ kinds: [limit], plant: 'rate_limit' });
  expect(limited.text).toContain('\r\nRetry-After: 7\r\n');
  expect(limited.text).toContain('"kind":"rate_limit"');
});

test('events keep what guards decided on their way, and counters count it', async () => {
  const skips = ['country', 'waf'] as const;
  const { event } = await live({ kinds: [planted('ip', { ...bypass, skips })], plant: 'ip' });
  const note = { guard: 'ip', action: 'bypass', reason: 'listed', ruleId: 'r-1', detail: '/a' };
  // There was no country guard to skip.
  expect(event.guards).toEqual([{ ...note, skipped: ['waf'] }]);
  const packer = new EventPacker();
  const { guards: _, ...plain } = event;
  packer.add(plain);
  packer.add(event);
  expect(unpackEvents(packer.take(0))).toEqual([plain, event]);
  const counters = new FrontCounters();
  counters.add(event, '');
  counters.add(event, '');
  expect(counters.drain()[0]?.entries.get('guard')).toEqual(new Map([['ip:bypass', 2]]));
});

test('the trace names every guard, what it saw, and what was skipped', () => {
  const kinds = [
    planted('ip', { ...bypass, skips: ['country'] }),
    planted('country', {}),
    planted('virtual_patch', {}),
  ];
  const site = siteFor(1);
  const bytes = Buffer.from(headText('ip country'), 'latin1');
  const parser = new RequestHeadParser();
  parser.reset(0);
  parser.execute(bytes, bytes.length);
  const connection = {
    clientIp: '127.0.0.1',
    clientPort: 1,
    peerIp: '127.0.0.1',
    serverIp: '127.0.0.1',
    serverPort: 80,
    scheme: 'http',
  } as const;
  const { guardTrace } = simulateRequest(
    { site, inspector: null, guards: compileGuards(site, noGuardServices, kinds) },
    {
      snapshot: {
        requestId: 'x',
        receivedAtMs: 0,
        siteId: site.id,
        connection,
        head: { bytes, spans: parser.copySpans() },
      },
      body: null,
    },
  );
  expect(
    guardTrace.map(({ guard, saw, verdict, skipped }) => [guard, saw, verdict?.action, skipped]),
  ).toEqual([
    ['ip', 'X-Plant: ip country', 'bypass', false],
    ['country', 'X-Plant: ip country', undefined, true],
    ['virtual_patch', 'X-Plant: ip country', undefined, false],
  ]);
});
