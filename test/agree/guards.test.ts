/**
 * Proof that a guard does the same to live traffic and to a simulated request: every action, the
 * order of guards, what a bypass skips, what events and counters keep, and a guard that fails.
 */

import { afterEach, expect, test } from 'vitest';
import type { GuardName, GuardVerdict } from '../../engine/contract/guard.ts';
import { FrontCounters } from '../../engine/front/facts/counters.ts';
import { EventPacker, unpackEvents } from '../../engine/front/facts/event-wire.ts';
import { blockWith, Closing, ScriptedInspector } from '../../engine/front/fixtures/fixture.ts';
import type { GuardKind } from '../../engine/guard/guard.ts';
import { live, simulated, type BothCase, type Seen } from './both-ways.ts';

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

/** Guards see the same request on both ways. */
const seesAll: GuardKind = {
  name: 'ip',
  compile: () => ({
    name: 'ip',
    describe: () => '',
    decide: ({ host, method, path }) => {
      const reason = `${host} ${method} ${path}`;
      const texts = { ruleId: '', detail: '', reason };
      return { guard: 'ip', action: 'deny', status: 403, scenario: null, ...texts };
    },
  }),
};

interface Case extends Omit<BothCase, 'wire'> {
  readonly plant: string;
}

const page = { contentType: 'text/html', body: Buffer.from('<p>prove it</p>') };

function withWire(one: Case): BothCase {
  const fields = `Host: a.example\r\nX-Plant: ${one.plant}\r\nConnection: close\r\n\r\n`;
  return { ...one, wire: `GET /a HTTP/1.1\r\n${fields}` };
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
    'what a guard reads of the request',
    { kinds: [seesAll], plant: '' },
    {
      status: 403,
      outcome: 'blocked',
      refusal: 'a.example GET /a',
      guards: [['ip', 'deny', 'a.example GET /a']],
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
  [
    'guards after one that fails are asked, fail policy open',
    {
      kinds: [planted('ip', 'throws'), planted('country', {})],
      plant: 'ip country',
      waf: { failPolicy: 'open' },
    },
    {
      status: 403,
      outcome: 'blocked',
      refusal: 'country_deny',
      guards: [['country', 'deny', 'country_deny']],
      failure: 'internal',
    },
  ],
  [
    'nobody is let in whose password could not be checked, fail policy open',
    { kinds: [planted('auth', 'throws')], plant: 'auth', waf: { failPolicy: 'open' } },
    { status: 503, outcome: 'inspection_failed', refusal: '', guards: [], failure: 'internal' },
  ],
];

test.each(table)('%s', async (_, one, expected) => {
  expect((await live(closing, withWire(one))).seen).toEqual(expected);
  expect(simulated(withWire(one)).seen).toEqual(expected);
});

test('a challenge sends its page and fields; a refusal says when to come again', async () => {
  const headers = [['X-Proof', 'a\r\nb']] as const;
  const kinds = [planted('bot', { action: 'challenge', status: 401, page, headers })];
  const { text } = await live(closing, withWire({ kinds, plant: 'bot' }));
  expect(text).toContain('Content-Type: text/html\r\n');
  expect(text).toContain('\r\nX-Proof: ab\r\n');
  expect(text.endsWith('<p>prove it</p>')).toBe(true);
  const limit = planted('rate_limit', { status: 429, scenario: 'rate_limit', retryAfterS: 7 });
  const limited = await live(closing, withWire({ kinds: [limit], plant: 'rate_limit' }));
  expect(limited.text).toContain('\r\nRetry-After: 7\r\n');
  expect(limited.text).toContain('"kind":"rate_limit"');
});

test('events keep what guards decided on their way, and counters count it', async () => {
  const skips = ['country', 'waf'] as const;
  const kinds = [planted('ip', { ...bypass, skips })];
  const { event } = await live(closing, withWire({ kinds, plant: 'ip' }));
  const note = { guard: 'ip', action: 'bypass', reason: 'listed', ruleId: 'r-1', detail: '/a' };
  // There was no country guard to skip.
  expect(event.guards).toEqual([{ ...note, skipped: ['waf'] }]);
  const packer = new EventPacker();
  const { guards: _, ...plain } = event;
  packer.add(plain);
  packer.add(event);
  // Texts that are empty are left out.
  expect([plain.referer, plain.routeId]).toEqual(['', '']);
  const absent = { referer: undefined, routeId: undefined };
  expect(unpackEvents(packer.take(0))).toEqual([
    { ...plain, ...absent },
    { ...event, ...absent },
  ]);
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
  const { trace } = simulated(withWire({ kinds, plant: 'ip country' }));
  expect(
    trace.map(({ guard, saw, verdict, skipped }) => [guard, saw, verdict?.action, skipped]),
  ).toEqual([
    ['ip', 'X-Plant: ip country', 'bypass', false],
    ['country', 'X-Plant: ip country', undefined, true],
    ['virtual_patch', 'X-Plant: ip country', undefined, false],
  ]);
});
