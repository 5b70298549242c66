/** The quality of traffic tells what origins answered from what the product answered itself. */

import { expect, test } from 'vitest';
import { emptyStep } from '../../observe/traffic-series.ts';
import { durationBoundsSeconds } from '../../observe/counter-store.ts';
import { toQuality } from './traffic.ts';

test('answers of origins are counted apart, the most frequent failures named', () => {
  const step = {
    ...emptyStep(0),
    requests: 30,
    blocked: 8,
    refused: 2,
    statuses: { 200: 10, 403: 8, 404: 6, 410: 3, 502: 1, 503: 2 },
    served: { 200: 10, 404: 6, 410: 3, 503: 1, slow: 4, very_slow: 1, duration_us: 900 },
  };
  expect(toQuality(step)).toMatchObject({
    total: 30n,
    status4xx: 17n,
    businessRequests: 20n,
    businessStatus4xx: 9n,
    businessStatus5xx: 1n,
    businessSlowRequests: 4n,
    businessVerySlowRequests: 1n,
    businessDurationSumMicros: 900n,
    topBusiness4xxStatus: 404,
    topBusiness4xxCount: 6n,
    topBusiness5xxStatus: 503,
    topBusiness5xxCount: 1n,
  });
});

test('a request is slow from the first bound of durations above one second', () => {
  const at = durationBoundsSeconds.indexOf(1);
  const slowOf = (place: number): number => {
    const durations = durationBoundsSeconds.map((_, index) => Number(index === place));
    return Number(toQuality({ ...emptyStep(0), durations }).slowRequests);
  };
  expect([at - 1, at, at + 1, at + 2].map(slowOf)).toEqual([0, 0, 1, 1]);
});

test('without traffic everything is zero', () => {
  const numbers = Object.values(toQuality(emptyStep(0))).map(Number);
  expect(numbers).toHaveLength(19);
  expect(new Set(numbers)).toEqual(new Set([0]));
});

test.each([
  ['nothing was asked', [], 0n],
  ['all are of one class', [[0, 200]], 500n],
  [
    'one of 100 is slower: it is not among the 99',
    [
      [1, 99],
      [9, 1],
    ],
    1_000n,
  ],
  [
    'two of 100 are slower',
    [
      [1, 98],
      [9, 2],
    ],
    500_000n,
  ],
  [
    'two of 100 took longer than every bound',
    [
      [1, 98],
      [13, 2],
    ],
    10_000_000n,
  ],
] as const)('99 of 100 answers: %s', (_name, counts, durationP99Micros) => {
  const durations = [...durationBoundsSeconds, 0].map(
    (_bound, at) => counts.find(([place]) => place === at)?.[1] ?? 0,
  );
  expect(toQuality({ ...emptyStep(0), durations })).toMatchObject({ durationP99Micros });
});
