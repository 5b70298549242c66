/** Rate limits as the specification words them, a row a sentence, through the guard itself. */

import { describe, expect, test } from 'vitest';
import { encodeUtf8 } from '../../base/byte-string.ts';
import { foldPath } from '../../base/stated-path.ts';
import type { GuardVerdict } from '../contract/guard.ts';
import type { RateLimitConfig, RateLimits } from '../contract/rate-limit.ts';
import type { SiteConfig } from '../contract/site.ts';
import { botGate } from './bot/bot-gate.ts';
import { Challenges } from './bot/challenges.ts';
import { cookieOf, readPage, solve } from '../../test/support/challenge-solver.ts';
import { noGuardServices, type Guard } from './guard.ts';
import { pathPatternOf, rateLimitGuard } from './rate-limit.ts';
import { RateTable, shareRates } from './rate-table.ts';
import { viewOf, type Asked } from '../../test/support/request-view.ts';

const usual: RateLimitConfig = {
  id: 'limit-1',
  pathPattern: '/*',
  methods: [],
  action: 'block',
  observe: false,
  key: { kind: 'ip' },
  budget: { requests: 2, windowSeconds: 60 },
  verifiedBudget: { requests: 2, windowSeconds: 60 },
  mitigationSeconds: 0,
  banGlobally: false,
};

const table = (): RateTable => new RateTable(shareRates([1, 2], 16));

function guardOf(rates: RateLimits, id = 'a', shared = table()): Guard {
  const site = { id, rates } as SiteConfig;
  return rateLimitGuard.compile(site, { ...noGuardServices, rates: shared })!;
}

/** What each request in turn meets: '' for nothing. */
function met(guard: Guard, asked: readonly Asked[]): string[] {
  return asked.map((one) => reasonOf(guard.decide(viewOf(one))));
}

function reasonOf(verdict: GuardVerdict | null): string {
  return verdict === null ? '' : `${verdict.action} ${verdict.reason}`;
}

const deny = 'deny rate_limit';
const cookie = (value: string): Asked => ({ fields: [`Cookie: x=1; PHPSESSID=${value}`] });
const key = (value: string): Asked => ({ fields: [`X-Key: ${value}`] });
const byHeader = { key: { kind: 'header', name: 'x-key' } } as const;

const rows: Readonly<
  Record<string, readonly [Partial<RateLimitConfig>, readonly Asked[], readonly string[]]>
> = {
  'request N passes, N+1 triggers': [{}, [{}, {}, {}], ['', '', deny]],
  'the window rolls': [
    {},
    [{}, { afterMs: 40_000 }, { afterMs: 59_000 }, { afterMs: 60_100 }, { afterMs: 60_200 }],
    ['', '', deny, '', deny],
  ],
  'clients are counted apart': [{}, [{}, {}, { ip: '192.0.2.9' }, {}], ['', '', '', deny]],
  'an IPv6 client is its /64': [
    {},
    [{ ip: '2001:db8::1' }, { ip: '2001:db8::ffff:1' }, { ip: '2001:db8:0:0:9::' }],
    ['', '', deny],
  ],
  'another /64 is another client': [
    {},
    [{ ip: '2001:db8::1' }, { ip: '2001:db8::1' }, { ip: '2001:db8:0:1::1' }],
    ['', '', ''],
  ],
  'an IPv4 address written as IPv6 is the same client': [
    {},
    [{ ip: '::ffff:192.0.2.1' }, { ip: '192.0.2.1' }, { ip: '::ffff:c000:201' }],
    ['', '', deny],
  ],
  'a session is counted by its cookie': [
    { key: { kind: 'session' } },
    [cookie('s1'), cookie('s1'), cookie('s2'), cookie('s1')],
    ['', '', '', deny],
  ],
  'credentials are a session, too': [
    { key: { kind: 'session' } },
    [1, 2, 3].map(() => ({ fields: ['Authorization: Bearer t'] })),
    ['', '', deny],
  ],
  'without a session the address counts': [
    { key: { kind: 'session' } },
    [{}, { fields: ['Cookie: other=1'] }, {}, cookie('s1')],
    ['', '', deny, ''],
  ],
  'a header is counted by its value': [
    byHeader,
    [key('k1'), key('k1'), key('k2'), key('k1')],
    ['', '', '', deny],
  ],
  'a header sent twice is one value': [
    byHeader,
    [1, 2, 3].map(() => ({ fields: ['X-Key: a', 'x-key: b'] })),
    ['', '', deny],
  ],
  'without the header, or with an empty one, the address counts': [
    byHeader,
    [{}, key(''), {}],
    ['', '', deny],
  ],
  'other paths are not counted': [
    { pathPattern: '/login' },
    [{ target: '/login' }, { target: '/' }, { target: '/login?x' }, { target: '/login' }],
    ['', '', '', deny],
  ],
  'a path in disguise is the same path': [
    { pathPattern: '/login' },
    [{ target: '/%6cogin' }, { target: '//login/' }, { target: '/x/../LOGIN' }],
    ['', '', deny],
  ],
  'other methods are not counted': [
    { methods: ['POST'] },
    [{ method: 'POST' }, { method: 'POST' }, { method: 'GET' }, { method: 'POST' }],
    ['', '', '', deny],
  ],
  'observe records and lets through': [
    { observe: true },
    [{}, {}, {}, {}],
    ['', '', 'monitor rate_limit_observed', 'monitor rate_limit_observed'],
  ],
  'a block holds for its time': [
    { mitigationSeconds: 300, budget: { requests: 1, windowSeconds: 1 } },
    [{}, {}, { afterMs: 299_000 }, { afterMs: 302_000 }],
    ['', deny, deny, ''],
  ],
  'a ban holds on all paths of the site': [
    { action: 'ban', mitigationSeconds: 600, pathPattern: '/login' },
    [
      ...[{ target: '/login' }, { target: '/login' }, { target: '/login' }],
      ...[{ target: '/other' }, { target: '/other', afterMs: 599_000 }],
      ...[
        { target: '/other', afterMs: 602_000 },
        { target: '/other', ip: '192.0.2.7' },
      ],
    ],
    [
      ...['', '', 'deny rate_limit_ban', 'deny rate_limit_banned', 'deny rate_limit_banned'],
      ...['', ''],
    ],
  ],
  'a ban by observation bans nobody': [
    { action: 'ban', mitigationSeconds: 600, observe: true },
    [{}, {}, {}, {}],
    ['', '', 'monitor rate_limit_observed', 'monitor rate_limit_observed'],
  ],
  'a challenge without settings blocks': [{ action: 'challenge' }, [{}, {}, {}], ['', '', deny]],
  'a trial decides and counts nothing': [
    {},
    [{ trial: true }, { trial: true }, { trial: true }, {}, {}, { trial: true }, {}],
    ['', '', '', '', '', deny, deny],
  ],
};

test.each(Object.entries(rows))('%s', (_, [change, asked, wanted]) => {
  const guard = guardOf({ limits: [{ ...usual, ...change }], globalBans: [] });
  expect(met(guard, asked)).toEqual(wanted);
});

test('a denial is 429 with the time to wait, in the operator’s wording', () => {
  const guard = guardOf({ limits: [usual], globalBans: [] });
  met(guard, [{}, {}]);
  const verdict = guard.decide(viewOf({ afterMs: 20_000 }));
  expect(verdict).toMatchObject({ scenario: 'rate_limit', status: 403, ruleId: 'limit-1' });
  expect(verdict?.retryAfterS).toBeGreaterThanOrEqual(40);
  expect(verdict?.retryAfterS).toBeLessThanOrEqual(41);
  expect(verdict?.detail).toBe('more than 2 in 60 s by ip');
  expect(guard.describe(viewOf({}))).toBe('/* by ip: 2 of 2 in 60 s');
});

test('a global ban holds on all sites, another ban on its own', () => {
  const ban = { ...usual, action: 'ban', mitigationSeconds: 60 } as const;
  const shared = table();
  const globalBans = [{ kind: 'ip' }] as const;
  const first = guardOf({ limits: [{ ...ban, banGlobally: true }], globalBans }, 'a', shared);
  const second = guardOf({ limits: [], globalBans }, 'b', shared);
  expect(met(first, [{}, {}, {}])).toEqual(['', '', 'deny rate_limit_ban']);
  expect(met(second, [{}, { ip: '192.0.2.7' }])).toEqual(['deny rate_limit_banned', '']);
  const own = guardOf({ limits: [ban], globalBans: [] }, 'c', shared);
  const other = guardOf({ limits: [ban], globalBans: [] }, 'd', shared);
  expect(met(own, [{}, {}, {}])).toEqual(['', '', 'deny rate_limit_ban']);
  expect(met(other, [{}])).toEqual(['']);
});

test('limits of one site are counted apart, the first that acts decides', () => {
  const watch = { ...usual, id: 'w', observe: true, budget: { requests: 1, windowSeconds: 60 } };
  const guard = guardOf({ limits: [watch, usual], globalBans: [] });
  const watched = 'monitor rate_limit_observed';
  expect(met(guard, [{}, {}, {}])).toEqual(['', watched, deny]);
});

test('sites count apart, and what is not limited costs no guard', () => {
  const shared = table();
  const limits = { limits: [usual], globalBans: [] };
  expect(met(guardOf(limits, 'a', shared), [{}, {}, {}]).at(-1)).toBe(deny);
  expect(met(guardOf(limits, 'b', shared), [{}])).toEqual(['']);
  const services = { ...noGuardServices, rates: shared };
  expect(rateLimitGuard.compile({ id: 'a' } as SiteConfig, services)).toBeNull();
});

test.each([
  ['/api/*', ['/api', '/api/', '/api/a', '/api/a/b', '/API/x'], ['/apix', '/ap', '/x/api/a']],
  ['/api/*/users', ['/api/v1/users', '/api//users'], ['/api/v1/x/users', '/api/users']],
  ['/a*z/b', ['/az/b', '/abcz/b/'], ['/a/z/b', '/abc/b']],
  ['/', ['/'], ['/a']],
  ['/*', ['/', '/a', '/a/b\nc'], []],
  ['/a.b+c', ['/a.b+c'], ['/axb+c', '/a.bc']],
  ['/ü', [encodeUtf8('/ü'), encodeUtf8('/Ü')], ['/u']],
])('%s', (pattern, fits, others) => {
  const path = pathPatternOf(pattern);
  expect(fits.map(foldPath).filter((one) => !path.test(one))).toEqual([]);
  expect(others.map(foldPath).filter((one) => path.test(one))).toEqual([]);
});

describe('challenges', () => {
  const challenge = {
    challengeTtlSeconds: 60,
    clearanceTtlSeconds: 900,
    proofDifficulty: 12,
    bindNetwork: true,
  };
  const verifiedBudget = { requests: 4, windowSeconds: 60 };
  const site = {
    id: 'a',
    rates: {
      limits: [{ ...usual, action: 'challenge', challenge, verifiedBudget }],
      globalBans: [],
    },
  } as unknown as SiteConfig;

  test('who cannot solve one past the limit waits', () => {
    const shared = table();
    const guard = rateLimitGuard.compile(site, { ...noGuardServices, rates: shared })!;
    const machine = { target: '/robots.txt' };
    for (let i = 0; i < usual.budget.requests; i++)
      expect(guard.decide(viewOf(machine))).toBeNull();
    expect(guard.decide(viewOf(machine))).toMatchObject({ action: 'deny', reason: 'rate_limit' });
    expect(guard.decide(viewOf({ fields: ['Accept: text/html'] }))).toMatchObject({
      action: 'challenge',
      reason: 'rate_limit_challenge',
    });
  });

  test('a browser past the limit solves one and has the budget of the verified', () => {
    const shared = table();
    const challenges = new Challenges(shared, Buffer.alloc(32, 7));
    const services = { ...noGuardServices, rates: shared, challenges };
    const limit = rateLimitGuard.compile(site, services)!;
    const gate = botGate.compile(site, services)!;
    const html = 'Accept: text/html';
    const browse = (fields: string[] = []): GuardVerdict | null =>
      limit.decide(viewOf({ fields: [html, ...fields] }));
    expect([reasonOf(browse()), reasonOf(browse())]).toEqual(['', '']);
    const verdict = browse();
    expect(reasonOf(verdict)).toBe('challenge rate_limit_challenge');
    expect([verdict?.guard, verdict?.ruleId]).toEqual(['rate_limit', 'limit-1']);
    // No wait without script: who asks too often is past being doubtful.
    const page = readPage(verdict);
    expect(page.text).not.toContain('http-equiv="refresh"');
    const target = `/.waf-check/pass?token=${page.token}&nonce=${solve(page)}`;
    const solved = gate.decide(viewOf({ target, fields: [html] }));
    expect(reasonOf(solved)).toBe('challenge bot_solved');
    const fields = [`Cookie: ${cookieOf(solved)}`];
    expect(Array.from({ length: 5 }, () => reasonOf(browse(fields)))).toEqual([
      '',
      '',
      '',
      '',
      deny,
    ]);
    // The unverified are still over.
    expect(reasonOf(browse())).toBe('challenge rate_limit_challenge');
  });

  test('a program past the limit gets 429 and no page', () => {
    const shared = table();
    const challenges = new Challenges(shared, Buffer.alloc(32, 7));
    const guard = rateLimitGuard.compile(site, { ...noGuardServices, rates: shared, challenges })!;
    const verdicts = [{}, {}, {}].map((one) => guard.decide(viewOf(one)));
    expect(verdicts.map(reasonOf)).toEqual(['', '', 'deny rate_limit_challenge_required']);
    expect(verdicts[2]).toMatchObject({ scenario: 'rate_limit', status: 403, forProgram: true });
    expect(verdicts[2]?.retryAfterS).toBeGreaterThan(0);
  });
});

describe('what answers tell of limits', () => {
  const standings = (guard: Guard, asked: Asked = {}): string => {
    const view = viewOf(asked);
    guard.decide(view);
    const { rateStandings } = view;
    return rateStandings.map((one) => `${one.name} ${one.remaining} ${one.resetSeconds}`).join();
  };
  const compile = (limits: readonly RateLimitConfig[], rateLimitFields = true): Guard => {
    const site = { id: 'a', rates: { limits, globalBans: [] }, rateLimitFields } as never;
    return rateLimitGuard.compile(site as SiteConfig, { ...noGuardServices, rates: table() })!;
  };

  test('counts down, and says past the limit when a request may pass', () => {
    const guard = compile([usual]);
    expect([standings(guard), standings(guard)]).toEqual(['limit-1 1 60', 'limit-1 0 60']);
    expect(standings(guard)).toMatch(/^limit-1 0 [1-9]\d?$/);
  });

  test('names every limit that applies, up to the one that refuses', () => {
    const tight = { ...usual, id: 'tight', budget: { requests: 1, windowSeconds: 5 } };
    const guard = compile([tight, usual]);
    expect(standings(guard)).toBe('tight 0 5,limit-1 1 60');
    expect(standings(guard)).toMatch(/^tight 0 \d$/);
  });

  test('is nothing of observed limits, and nothing where the site does not ask', () => {
    expect(standings(compile([{ ...usual, observe: true }]))).toBe('');
    expect(standings(compile([usual], false))).toBe('');
  });
});
