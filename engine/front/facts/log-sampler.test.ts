/** Holds the choice of requests to the log policy: none, all, and the first of each kind. */

import { expect, test } from 'vitest';
import { loggingLimits } from '../../base/observation-limits.ts';
import type { RequestEvent } from '../../contract/events.ts';
import { exportBit, standardLogSettings, type LogSettings } from '../../contract/logging.ts';
import { ExemplarQuota, shareQuota } from './exemplar-quota.ts';
import { LogSampler } from './log-sampler.ts';

const plain = {
  siteId: 's',
  receivedAtMs: 60_000,
  durationUs: 900,
  method: 'GET',
  target: '/a',
  status: 200,
  outcome: 'served',
  blocked: false,
  refusal: null,
  transaction: null,
} as unknown as RequestEvent;
const attack = { ...plain, status: 403, outcome: 'blocked', blocked: true } as RequestEvent;

function sampler(change: Partial<LogSettings> = {}, quota = new ExemplarQuota()): LogSampler {
  const made = new LogSampler(quota);
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
  [
    'every access event beside examples of security events',
    { accessMode: 'all', securityMode: 'exemplars' },
    plain,
    { access: 1, windowMs: 0, securityDetail: false },
  ],
])('%s', (_name, change, event, expected) => {
  const found = sampler(change).select(event);
  if (expected === null) expect(found).toBeNull();
  else expect(found).toMatchObject(expected);
});

const kept = (own: LogSampler, event: RequestEvent): boolean => own.select(event) !== null;
const countKept = (own: LogSampler, event: RequestEvent, requests: number): number =>
  Array.from({ length: requests }, () => kept(own, event)).filter(Boolean).length;

test.each([
  ['status', { statusK: 2, apiK: 0 }],
  ['path', { statusK: 0, apiK: 2 }],
  ['status and path', { statusK: 2, apiK: 2 }],
])('no more examples of a %s are kept in a window than asked for', (_name, change) => {
  const own = sampler(change);
  expect(countKept(own, plain, 20)).toBe(2);
  expect(countKept(own, { ...plain, receivedAtMs: 119_999 }, 20)).toBe(0);
  expect(countKept(own, { ...plain, receivedAtMs: 120_000 }, 20)).toBe(2);
  expect(countKept(own, { ...plain, siteId: 'other' }, 20)).toBe(2);
});

test('threads of a node keep no more than one thread may', () => {
  const memory = shareQuota();
  const threads = Array.from({ length: 4 }, () =>
    sampler({ statusK: 3, apiK: 0 }, new ExemplarQuota(memory)),
  );
  const found = threads.map((own) => countKept(own, plain, 20));
  expect(found.reduce((sum, one) => sum + one)).toBe(3);
  // A thread in place of one that died, and a policy that is set again, do not begin anew.
  const next = sampler({ statusK: 3, apiK: 0 }, new ExemplarQuota(memory));
  expect(countKept(next, plain, 20)).toBe(0);
});

test('requests that end after their window count in it; very long ones in a later one', () => {
  const own = sampler({ statusK: 2, apiK: 0 });
  const late = { ...plain, receivedAtMs: 119_000, durationUs: 20_000_000 };
  expect(countKept(own, late, 1)).toBe(1);
  expect(countKept(own, { ...plain, receivedAtMs: 125_000 }, 20)).toBe(2);
  // Each in turn: the other window is not forgotten.
  expect(countKept(own, late, 20)).toBe(1);
  expect(countKept(own, { ...plain, receivedAtMs: 126_000 }, 20)).toBe(0);
  const long = { ...plain, receivedAtMs: 61_000, durationUs: 3_600_000_000 };
  expect(own.select(long)).toMatchObject({ windowMs: 3_600_000 });
});

test('security events are kept whole by kind, compact past them', () => {
  const own = sampler({ securityMode: 'exemplars', securityK: 2, accessMode: 'none' });
  const details = Array.from({ length: 200 }, () => own.select(attack)?.securityDetail);
  expect(details.filter(Boolean).length).toBe(2);
  const refused = { ...attack, refusal: 'host' } as RequestEvent;
  expect(own.select(refused)?.securityDetail).toBe(true);
  // A request without a security event takes no place.
  expect(own.select(plain)).toBeNull();
});

test('a message of a WebSocket takes no places of access events', () => {
  const own = sampler({ statusK: 1, apiK: 1 });
  for (let at = 0; at < 10; at++) expect(own.select(attack, false)).toMatchObject({ access: 0 });
  expect(own.select(attack)).toMatchObject({ access: 2 | 4 | 8 });
});

test('paths with numbers are one kind; a flood of paths costs examples, not memory', () => {
  const own = sampler({ statusK: 0, apiK: 1 });
  const keeps = (target: string): boolean => kept(own, { ...plain, target });
  expect(keeps('/item/1')).toBe(true);
  const again = Array.from({ length: 100 }, (_, at) => keeps(`/item/${at}?x=${at}`));
  expect(again.filter(Boolean).length).toBe(0);
  let first = 0;
  for (let at = 0; at < loggingLimits.sampledKindsMax + 500; at++) {
    // Letters only, so that each is a kind.
    const name = [...String(at)].map((digit) => String.fromCharCode(97 + Number(digit))).join('');
    if (keeps(`/${name}`)) first++;
  }
  expect(first).toBeGreaterThan(1_000);
  expect(first).toBeLessThanOrEqual(loggingLimits.quotaSets * loggingLimits.quotaWays);
  // Statuses and rules have places of their own.
  expect(kept(sampler({}), plain)).toBe(true);
  expect(own.select(attack)).toMatchObject({ securityDetail: true });
});

test('a site may have a policy of its own', () => {
  const own = new LogSampler();
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
  const made = new LogSampler();
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
