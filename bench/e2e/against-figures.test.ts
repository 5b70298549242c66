/** Tests which differences between two builds count as losses, and which are noise. */

import { describe, expect, test } from 'vitest';
import { compareBuilds, comparisonTable, type Sides } from './against-figures.ts';
import type { RunRecord } from './summary.ts';

const sides: Sides = {
  ...{ now: 'now', nowAgain: 'now2', before: 'then', beforeAgain: 'then2', plain: 'nginx' },
};

const run = (target: string, round: number, cpu: number, faults: string[] = []): RunRecord => ({
  ...{ workload: 'get', target, round, requests: 1000, seconds: 1, requestsPerSecond: 1000 },
  ...{ p50Us: 100, p99Us: 200, p999Us: 300, half: null, cpuUsPerRequest: cpu, cpuBusy: 1 },
  ...{ rssBytes: 1e8, pssBytes: 1e8, faults },
});

/**
 * Rounds of five targets: `noise` moves the builds apart in turn, the second process of the older
 * build costs more by `apart`, and the machine becomes `slower` by this share in every round.
 */
function rounds(
  change: number,
  noise: number,
  { count = 10, slower = 0.1, apart = 0 } = {},
): RunRecord[] {
  return Array.from({ length: count }, (_, i) => i + 1).flatMap((round) => {
    const sign = round % 2 === 0 ? 1 : -1;
    const drift = 1 + round * slower;
    const before = 50 * drift * (1 + sign * noise);
    const now = 50 * drift * (1 - sign * noise) * (1 + change);
    return [
      ...[run('nginx', round, 10 * drift), run('now', round, now), run('now2', round, now)],
      ...[run('then', round, before), run('then2', round, before * (1 + apart))],
    ];
  });
}

const cpuOf = (runs: RunRecord[]): ReturnType<typeof compareBuilds>[number] =>
  compareBuilds(runs, ['get'], sides).find(({ figure }) => figure === 'cpuUsPerRequest')!;

describe('two builds', () => {
  test('a loss of 5 % is found although the machine changes its pace', () => {
    const found = cpuOf(rounds(0.05, 0.005));
    expect(found.ratio.median).toBeCloseTo(1.05, 3);
    expect(found.noise).toBeLessThan(0.02);
    expect(found.lost).toBe(true);
  });

  test('rounds that other work of the machine slows neither hide a loss of 5 % nor make one', () => {
    const slowed = (change: number): RunRecord[] =>
      rounds(change, 0.005, { count: 12, slower: 0 }).map((one) => ({
        ...one,
        cpuUsPerRequest: one.cpuUsPerRequest * (one.round % 3 === 0 ? 1.3 + one.round / 5 : 1),
      }));
    expect(cpuOf(slowed(0.05))).toMatchObject({ lost: true });
    expect(cpuOf(slowed(0))).toMatchObject({ lost: false });
  });

  test('what is within 3 % beyond the noise is no loss, nor is a gain', () => {
    expect(cpuOf(rounds(0.02, 0.005)).lost).toBe(false);
    expect(cpuOf(rounds(-0.2, 0.005)).lost).toBe(false);
  });

  test('two processes of one build that differ widen what counts as noise', () => {
    expect(cpuOf(rounds(0.06, 0)).lost).toBe(true);
    const found = cpuOf(rounds(0.06, 0, { apart: 0.04 }));
    expect(found.ratio.median).toBeCloseTo(1.06 / Math.sqrt(1.04), 3);
    expect(found.noise).toBeCloseTo(0.04, 2);
    expect(found.lost).toBe(false);
    expect(cpuOf(rounds(0.05, 0.1)).lost).toBe(false);
  });

  test('rounds in which a side does not count are left out; without any there is no figure', () => {
    const broken = rounds(0, 0).map((one) =>
      one.target === 'now' && one.round > 1 ? { ...one, faults: ['no answer at all'] } : one,
    );
    expect(cpuOf(broken).ratio).toEqual({ median: 1, min: 1, max: 1 });
    const none = broken.filter(({ target, round }) => target !== 'now' || round > 1);
    expect(compareBuilds(none, ['get'], sides)).toEqual([]);
  });

  test('the table names every load, its CPU time before and after, and marks losses', () => {
    const runs = rounds(0.1, 0);
    const table = comparisonTable(compareBuilds(runs, ['get'], sides), runs, sides);
    expect(table.split('\n')).toHaveLength(3);
    expect(table).toContain('| get | 77.5 → 85.3 | x5.5 | **1.100 (1.10–1.10; 0.0 %)** | 1.000 ');
  });
});
