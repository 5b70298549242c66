/** The proof that many values keep no frequent one out of a ranking, and are reported. */

import { expect, test } from 'vitest';
import { observationLimits } from '../limits/observation-limits.ts';
import { BoundedCounts } from './bounded-counts.ts';
import { SummarySums } from './summary.ts';

test('exact while there is room', () => {
  const counts = new BoundedCounts(3);
  for (const value of ['a', 'b', 'a', 'c']) counts.add(value);
  expect(counts.top().map(({ key, count }) => [key, count])).toEqual([
    ['a', 2],
    ['b', 1],
    ['c', 1],
  ]);
  expect(counts.limited).toBe(false);
});

test('a frequent value that comes after any number of others is ranked first', () => {
  const gone: string[] = [];
  const counts = new BoundedCounts(100, (key) => gone.push(key));
  for (let at = 0; at < 1000; at++) counts.add(`once-${at}`);
  for (let at = 0; at < 5000; at++) {
    counts.add(`flood-${at}`);
    if (at % 5 === 0) counts.add('attacker', 'who');
  }
  const [first] = counts.top(1);
  expect(first).toMatchObject({ key: 'attacker', label: 'who' });
  expect(first?.count).toBeGreaterThan(900);
  expect(first?.count).toBeLessThanOrEqual(1000);
  expect(counts.limited).toBe(true);
  expect(counts.top().length).toBeLessThanOrEqual(100);
  expect(gone).not.toContain('attacker');
});

test('no count is above the true one, whatever the order', () => {
  const counts = new BoundedCounts(50);
  const seen = new Map<string, number>();
  let state = 7;
  for (let at = 0; at < 20_000; at++) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    const value = `v${Math.floor((state / 2_147_483_648) ** 3 * 2000)}`;
    counts.add(value);
    seen.set(value, (seen.get(value) ?? 0) + 1);
  }
  for (const { key, count } of counts.top()) {
    expect(count).toBeLessThanOrEqual(seen.get(key) ?? 0);
  }
  const [most] = [...seen].sort((one, other) => other[1] - one[1]);
  expect(counts.top(1)[0]?.key).toBe(most?.[0]);
});

test('a summary names the rankings that had more values than are counted', () => {
  const [path, client] = [
    'SECURITY_SUMMARY_DIMENSION_PATH',
    'SECURITY_SUMMARY_DIMENSION_ATTACKER',
  ] as const;
  const sums = new SummarySums([path, client], false);
  for (let at = 0; at <= observationLimits.summaryKeysMax; at++) sums.addValue(path, `/${at}`, '');
  for (let at = 0; at < 10; at++) sums.addValue(path, '/target', '');
  sums.addValue(client, '192.0.2.1', '');
  const { top, limited } = sums.result(1);
  expect(limited).toEqual([path]);
  expect(top.get(path)).toEqual([{ key: '/target', count: 10n, label: '' }]);
});
