/** Proof that counts are exact by interval, whatever the order in which requests end. */

import { expect, test } from 'vitest';
import { schemaLimits } from '../../base/schema-limits.ts';
import { otherFingerprint } from '../contract/api-counts.ts';
import { CheckCounts, type CountedRun } from './check-counts.ts';
import { violation } from './finding.ts';
import { checksOf, operation } from './fixture.ts';

const checks = checksOf([operation('GET', '/a')]);
const run: CountedRun = { operation: 0, results: [], finding: null };
const { countIntervalMs } = schemaLimits;

test('requests that end in turns across a border make two intervals, not one each', () => {
  const counts = new CheckCounts();
  for (let at = 0; at < 100; at++) counts.add(checks, run, countIntervalMs - (at % 2));
  const deltas = counts.drain();
  const starts = deltas.map(({ startMs }) => startMs);
  expect(starts.toSorted((a, b) => a - b)).toEqual([0, countIntervalMs]);
  for (const { entries } of deltas) expect([...entries.values()]).toEqual([50]);
  expect(counts.drain()).toEqual([]);
});

test('kinds of violations past the bound are counted together', () => {
  const counts = new CheckCounts();
  const more = schemaLimits.fingerprintsMax + 5;
  for (let at = 0; at < more; at++) {
    counts.add(checks, { ...run, finding: violation('query', 'type', `/p${at}`) }, 0);
  }
  const [{ violations } = { violations: [] }] = counts.drain();
  expect(violations).toHaveLength(schemaLimits.fingerprintsMax + 1);
  const other = violations.find(({ fingerprint }) => fingerprint === otherFingerprint);
  expect(other?.count).toBe(5);
});
