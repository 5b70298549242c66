/** Tests the figures made of runs: medians, ratios within a round, runs that do not count. */

import { expect, test } from 'vitest';
import { summarize, spread, type RunRecord } from './summary.ts';
import type { TargetFacts } from './target.ts';

const target = (name: string, baseline: string | null): TargetFacts => ({
  name,
  title: name,
  expectation: 'waf',
  baseline,
});

const run = (name: string, round: number, cpu: number, faults: string[] = []): RunRecord => ({
  workload: 'w',
  target: name,
  round,
  requests: 100,
  seconds: 1,
  requestsPerSecond: 100,
  p50Us: 1,
  p99Us: 2,
  p999Us: 3,
  half: null,
  cpuUsPerRequest: cpu,
  cpuBusy: 1,
  rssBytes: 1,
  pssBytes: 1,
  faults,
});

test('takes the middle, and the mean of two', () => {
  expect(spread([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3 });
  expect(spread([4, 1, 2, 3]).median).toBe(2.5);
  expect(spread([]).median).toBeNaN();
});

test('ratios pair runs of the same round', () => {
  // The machine was twice as slow in round 2: both figures double, the ratio stays.
  const runs = [run('a', 1, 10), run('b', 1, 400), run('a', 2, 20), run('b', 2, 800)];
  const [a, b] = summarize(runs, ['w'], [target('a', 'b'), target('b', null)]);
  expect(a!.timesCheaper).toEqual({ median: 40, min: 40, max: 40 });
  expect(b!.timesCheaper).toBeNull();
});

test('a run with faults does not count, nor does a ratio to one', () => {
  const runs = [run('a', 1, 10), run('b', 1, 400, ['late']), run('a', 2, 10, ['wrong'])];
  const [a, b] = summarize(runs, ['w'], [target('a', 'b'), target('b', null)]);
  expect(a!.runs).toBe(1);
  expect(a!.faults).toEqual(['wrong']);
  expect(a!.timesCheaper).toBeNull();
  expect(b!.runs).toBe(0);
  expect(b!.cpuUsPerRequest.median).toBeNaN();
});

test('runs at half of saturation are summed up where they count', () => {
  const half = (p999Us: number, faults: string[] = []): RunRecord['half'] => {
    return { share: 0.5, p50Us: 1, p99Us: 2, p999Us, faults };
  };
  const runs = [half(4), half(8), half(900, ['late'])].map((one, round) => {
    return { ...run('a', round, 10), half: one };
  });
  const [a] = summarize([...runs, run('b', 1, 10)], ['w'], [target('a', null)]);
  expect(a!.half!.p999Us).toEqual({ median: 6, min: 4, max: 8 });
  expect(summarize([run('b', 1, 10)], ['w'], [target('b', null)])[0]!.half).toBeNull();
});
