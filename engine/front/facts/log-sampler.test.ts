/** Holds the choice of requests to the log policy: none, all, and fair reservoirs. */

import { expect, test } from 'vitest';
import { loggingLimits } from '../../base/observation-limits.ts';
import type { RequestEvent } from '../../contract/events.ts';
import { exportBit, standardLogSettings, type LogSettings } from '../../contract/logging.ts';
import { LogSampler } from './log-sampler.ts';

const plain = {
  siteId: 's',
  receivedAtMs: 60_000,
  method: 'GET',
  target: '/a',
  status: 200,
  outcome: 'served',
  blocked: false,
  refusal: null,
  transaction: null,
} as unknown as RequestEvent;
const attack = { ...plain, status: 403, outcome: 'blocked', blocked: true } as RequestEvent;

/** Numbers that repeat in every run. */
function seeded(): () => number {
  let state = 12_345;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}

function sampler(change: Partial<LogSettings> = {}): LogSampler {
  const made = new LogSampler(seeded());
  const standard = { ...standardLogSettings, ...change };
  made.use({
    revision: 7,
    standard,
    sites: new Map(),
    exportAccess: false,
    exportAnswerBodies: false,
  });
  return made;
}

test.each<[string, Partial<LogSettings>, RequestEvent, object | null]>([
  ['no access event', { accessMode: 'none' }, plain, null],
  ['every access event', { accessMode: 'all' }, plain, { access: 1, windowMs: 0, revision: 7 }],
  ['the first of a status and path', {}, plain, { access: 6, windowMs: 60_000 }],
  ['of a status alone', { apiK: 0 }, plain, { access: 2 }],
  ['of a path alone', { statusK: 0 }, plain, { access: 4 }],
  ['nothing', { statusK: 0, apiK: 0 }, plain, null],
  ['with its security event', { statusK: 0, apiK: 0 }, attack, { access: 8, securityDetail: true }],
  ['without', { statusK: 0, apiK: 0, pairing: false }, attack, { access: 0, securityDetail: true }],
  ['compact', { accessMode: 'none', securityMode: 'none' }, attack, { securityDetail: false }],
])('%s', (_name, change, event, expected) => {
  const found = sampler(change).select(event);
  if (expected === null) expect(found).toBeNull();
  else expect(found).toMatchObject(expected);
});

test('the highest scores of a window are handed on, each as likely as the other', () => {
  const chosen = new Array<number>(100).fill(0);
  const own = sampler({ statusK: 5, apiK: 0 });
  for (let window = 1; window <= 400; window++) {
    const scores: [score: number, at: number][] = [];
    for (let at = 0; at < 100; at++) {
      const found = own.select({ ...plain, receivedAtMs: window * 60_000 + at });
      if (found !== null) scores.push([found.score, at]);
    }
    // Some that were among the best for a while are handed on, too.
    expect(scores.length).toBeGreaterThanOrEqual(5);
    for (const [, at] of scores.sort(([one], [other]) => other - one).slice(0, 5)) chosen[at]!++;
  }
  // Each place has a chance of 5 in 100: 20 of 400, give or take.
  const halves = [chosen.slice(0, 50), chosen.slice(50)].map((half) =>
    half.reduce((a, b) => a + b),
  );
  expect(halves[0]! + halves[1]!).toBe(2000);
  expect(Math.abs(halves[0]! - halves[1]!)).toBeLessThan(250);
});

test('security events are kept whole by kind, compact past them', () => {
  const own = sampler({ securityMode: 'exemplars', securityK: 2, accessMode: 'none' });
  const details = Array.from({ length: 200 }, () => own.select(attack)?.securityDetail);
  expect(details.filter(Boolean).length).toBeGreaterThanOrEqual(2);
  expect(details.filter(Boolean).length).toBeLessThan(40);
});

test('paths with numbers are one kind; a flood of paths costs examples, not memory', () => {
  const own = sampler({ statusK: 0, apiK: 1 });
  const kept = (target: string): boolean => own.select({ ...plain, target }) !== null;
  expect(kept('/item/1')).toBe(true);
  const again = Array.from({ length: 100 }, (_, at) => kept(`/item/${at}?x=${at}`));
  expect(again.filter(Boolean).length).toBeLessThan(20);
  let first = 0;
  for (let at = 0; at < loggingLimits.sampledKindsMax + 500; at++) {
    // Letters only, so that each is a kind.
    const name = [...String(at)].map((digit) => String.fromCharCode(97 + Number(digit))).join('');
    if (kept(`/${name}`)) first++;
  }
  expect(first).toBeLessThanOrEqual(loggingLimits.sampledKindsMax);
});

test('a site may have a policy of its own', () => {
  const own = new LogSampler(seeded());
  const sites = new Map([['s', { ...standardLogSettings, accessMode: 'none' as const }]]);
  own.use({
    revision: 1,
    standard: standardLogSettings,
    sites,
    exportAccess: false,
    exportAnswerBodies: false,
  });
  expect(own.select(plain)).toBeNull();
  expect(own.select({ ...plain, siteId: 'other' })).not.toBeNull();
});

test('every request is handed on where other systems want it, and kept no more often', () => {
  const made = new LogSampler(seeded());
  const standard = { ...standardLogSettings, accessMode: 'none' as const };
  made.use({
    revision: 1,
    standard,
    sites: new Map(),
    exportAccess: true,
    exportAnswerBodies: false,
  });
  for (let at = 0; at < 100; at++) expect(made.select(plain)?.access).toBe(exportBit);
  made.use({
    revision: 1,
    standard: standardLogSettings,
    sites: new Map(),
    exportAccess: true,
    exportAnswerBodies: false,
  });
  const picked = Array.from({ length: 100 }, () => made.select(plain)?.access ?? 0);
  expect(picked.every((access) => (access & exportBit) !== 0)).toBe(true);
  expect(picked.filter((access) => access !== exportBit).length).toBeLessThan(100);
});
