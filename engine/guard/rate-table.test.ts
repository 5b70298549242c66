/** Counts are exact at the limit, in every window, and survive being read and restored. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HalfSipHash, type HashKey } from '../base/half-sip-hash.ts';
import { RateTable, shareRates, type RateAnswer } from './rate-table.ts';

const seed: HashKey = [1, 2];
const startMs = 1_790_000_000_123;
const hash = new HalfSipHash(seed);

function keyOf(text: string) {
  const { low, high } = hash.hash(text);
  return { low, high };
}

function opened(sets = 16) {
  const table = new RateTable(shareRates(seed, sets));
  const ask = (key: string, requests: number, seconds: number, nowMs: number, mitigate = 0) =>
    table.ask(keyOf(key), { requests, windowSeconds: seconds }, mitigate, nowMs, false);
  return { table, ask };
}

test.each([1, 2, 5, 100, 70_000])('request %i passes, the next is over', (limit) => {
  const { ask, table } = opened();
  for (let at = 0; at < limit; at++)
    if (ask('a', limit, 60, startMs) !== 'pass') expect(at).toBe(-1);
  expect(ask('a', limit, 60, startMs)).toBe('over');
  expect(table.retryAfterMs).toBeGreaterThan(59_900);
  expect(table.retryAfterMs).toBeLessThan(60_100);
  expect(ask('b', limit, 60, startMs)).toBe('pass');
});

test('requests that came together are forgotten together, after a window and not before', () => {
  const { ask } = opened();
  for (let at = 0; at < 5; at++) expect(ask('a', 5, 60, startMs)).toBe('pass');
  expect(ask('a', 5, 60, startMs + 59_990)).toBe('over');
  const later = startMs + 60_010;
  const answers = Array.from({ length: 6 }, () => ask('a', 5, 60, later));
  expect(answers).toEqual(['pass', 'pass', 'pass', 'pass', 'pass', 'over']);
});

test('never more than the limit in any window, and late by a ninth at most', () => {
  const times = fc.array(fc.integer({ min: 0, max: 4_000 }), { minLength: 20, maxLength: 200 });
  fc.assert(
    fc.property(
      times,
      fc.integer({ min: 1, max: 12 }),
      fc.integer({ min: 1, max: 7 }),
      (gaps, n, w) => {
        const { ask } = opened();
        const windowMs = w * 1000;
        const slackMs = Math.ceil(windowMs / 9) * (1 + 2 / 4096) + 1;
        const passed: number[] = [];
        let nowMs = startMs;
        for (const gap of gaps) {
          nowMs += Math.floor(gap / 4);
          const within = (spanMs: number): number =>
            passed.filter((at) => at > nowMs - spanMs).length;
          const answer = ask('k', n, w, nowMs);
          if (answer === 'pass') {
            expect(within(windowMs)).toBeLessThan(n);
            passed.push(nowMs);
          } else expect(within(windowMs + slackMs)).toBeGreaterThanOrEqual(n);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('a mitigation holds for its time, then the budget is there again', () => {
  const { ask, table } = opened();
  const answers = (nowMs: number): RateAnswer => ask('a', 1, 1, nowMs, 30_000);
  expect([answers(startMs), answers(startMs), answers(startMs + 29_000)]).toEqual([
    'pass',
    'over',
    'mitigated',
  ]);
  expect(table.retryAfterMs).toBeLessThanOrEqual(2_000);
  expect(answers(startMs + 31_000)).toBe('pass');
});

test('a dry question changes nothing', () => {
  const { table, ask } = opened();
  const dry = (): RateAnswer =>
    table.ask(keyOf('a'), { requests: 2, windowSeconds: 9 }, 5_000, startMs, true);
  for (let at = 0; at < 9; at++) expect(dry()).toBe('pass');
  ask('a', 2, 9, startMs);
  ask('a', 2, 9, startMs);
  expect([dry(), dry(), table.used]).toEqual(['over', 'over', 2]);
  expect(table.isBanned(keyOf('a'), startMs)).toBe(false);
});

test('a clock that goes back forgets nothing', () => {
  const { ask } = opened();
  for (let at = 0; at < 3; at++) ask('a', 3, 10, startMs);
  expect(ask('a', 3, 10, startMs - 5_000)).toBe('over');
});

test('bans and counts survive being read and restored; what has ended does not', () => {
  const { table, ask } = opened();
  for (let at = 0; at < 4; at++) ask(`long${at % 2}`, 9, 3600, startMs);
  ask('short', 9, 1, startMs);
  table.ban(keyOf('banned'), 600_000, startMs);
  const changed = table.takeChanged(100);
  expect(changed.length).toBeGreaterThan(0);
  expect(table.takeChanged(100)).toEqual([]);
  const other = opened();
  expect(other.table.hasBans).toBe(false);
  const laterMs = startMs + 60_000;
  for (const set of changed) {
    expect(other.table.restoreSet(set, table.readSet(set, laterMs), laterMs)).toBe(true);
  }
  expect([other.table.hasBans, other.table.isBanned(keyOf('banned'), laterMs)]).toEqual([
    true,
    true,
  ]);
  expect(other.table.isBanned(keyOf('banned'), startMs + 601_000)).toBe(false);
  other.ask('long0', 9, 3600, laterMs);
  expect(other.table.used).toBe(2);
  const kept = changed.reduce((sum, set) => sum + table.readSet(set, laterMs).length, 0);
  expect(kept).toBe(3 * 64);
  expect(other.table.restoreSet(0, new Uint8Array(63), laterMs)).toBe(false);
  expect(other.table.restoreSet(16, new Uint8Array(64), laterMs)).toBe(false);
});

test('a full set gives up the row that ends first, and counts it', () => {
  const { table, ask } = opened(1);
  ask('first', 2, 10, startMs);
  for (let at = 0; at < 63; at++) ask(`k${at}`, 2, 3600, startMs);
  expect(table.evicted).toBe(0);
  ask('one more', 2, 3600, startMs);
  expect(table.evicted).toBe(1);
  ask('k3', 2, 3600, startMs);
  expect(table.used).toBe(1);
  ask('first', 2, 10, startMs);
  expect(table.used).toBe(0);
});

test('a million keys keep their counts, in 64 bytes each', () => {
  const shared = shareRates(seed);
  expect(shared.memory.byteLength).toBeLessThan(200 * 1024 * 1024);
  const table = new RateTable(shared);
  const budget = { requests: 1, windowSeconds: 3600 };
  const wrong = (answer: RateAnswer): number => {
    let count = 0;
    for (let at = 0; at < 1_000_000; at++) {
      if (table.ask(hash.hash(`198.18.${at}`), budget, 0, startMs, false) !== answer) count++;
    }
    return count;
  };
  expect([wrong('pass'), wrong('over'), table.evicted]).toEqual([0, 0, 0]);
});
