/** Tests that training finds what tells attacks, the same each time, and never takes points off. */

import { describe, expect, test } from 'vitest';
import type { SignFacts } from '../../../engine/detect/score.ts';
import { readWeights } from '../../../engine/detect/weights.ts';
import { scoreOf } from '../figures.ts';
import type { Observation } from '../observe.ts';
import { leaveOutEach } from './left-out.ts';
import { fit } from './regression.ts';
import { train } from './train.ts';

const detector = 198_100;
const noise = 932_100;
const sqlRule = 942_100;
const facts: SignFacts = {
  isStrong: () => false,
  confirmedBy: (id) => (id === detector ? [942] : []),
};

const observation = (at: number, attack: boolean, pieces: number[][]): Observation => {
  const source = attack ? 'attacks' : at % 2 === 0 ? 'recorded' : 'other';
  const wire = Buffer.alloc(0);
  const request = { id: `${at}`, attack, kind: 'k', source, group: `g${at}`, wire };
  return { request, otherwise: false, anomaly: pieces.length > 0, pieces, openedPieces: [] };
};

/** The rule `noise` matches in benign requests and attacks alike; the others in attacks. */
const observations = [
  ...Array.from({ length: 600 }, (_, at) => observation(at, false, at % 3 === 0 ? [[noise]] : [])),
  ...Array.from({ length: 200 }, (_, at) =>
    observation(1000 + at, true, [[noise], [detector, sqlRule, ...(at % 3 === 0 ? [noise] : [])]]),
  ),
];
const training = {
  ...{ seed: 7, without: '', version: '4.28.0', name: 'crs4', date: '2026-01-02T03' },
  strong: [],
  openedWeights: null,
};

test('signs of attacks bring points, what benign requests hold brings none', () => {
  const { file, report } = train(observations, facts, training);
  const weights = readWeights(file);
  expect(file.version).toBe('crs4-2026-01-02-7');
  expect(file.points[noise] ?? 0).toBeLessThan(file.points[sqlRule]!);
  expect(file.pairs[detector]).toBeGreaterThan(0);
  const refused = observations.filter((one) => {
    return scoreOf(one, { weights, openedWeights: weights, facts }) >= weights.thresholds.block;
  });
  expect(refused.filter(({ request }) => !request.attack)).toEqual([]);
  expect(refused.length).toBe(200);
  expect(report).toContain('attacks: attack k | 200 |');
});

test('the same requests and seed give the same weights', () => {
  const [one, other] = [0, 1].map(() => train(observations, facts, training).file);
  expect(one).toEqual(other);
});

test('a source that is left out is judged, and does not teach', () => {
  const { file, report } = train(observations, facts, { ...training, without: 'attacks' });
  expect(file.points).toEqual({});
  expect(report).toMatch(/On attacks, which was left out:[^]*attacks: attack k \| 200 \|/);
});

describe('a detector that proves an attack', () => {
  const proof = 198_510;
  const proving: SignFacts = {
    isStrong: (id) => id === proof,
    confirmedBy: (id) => (id === proof ? [942] : facts.confirmedBy(id)),
  };
  const trainOn = (more: readonly Observation[]): ReturnType<typeof train>['file'] =>
    train([...observations, ...more], proving, { ...training, strong: [proof] }).file;

  test('refuses alone, though no attack of the training part has it', () => {
    const { points, thresholds } = trainOn([]);
    expect(points[proof]).toBe(thresholds.block);
  });

  test('refuses alone where benign requests of one group have it', () => {
    const { points, thresholds } = trainOn([observation(2000, false, [[proof, 942_999]])]);
    expect(points[proof]).toBe(thresholds.block);
  });

  test('does not where benign requests of two groups have it, unless a rule confirms it', () => {
    const { points, pairs, thresholds } = trainOn([
      observation(2000, false, [[proof]]),
      observation(2001, false, [[proof]]),
    ]);
    const alone = points[proof] ?? 0;
    expect(alone).toBeLessThan(thresholds.block);
    expect(alone + pairs[proof]!).toBeCloseTo(thresholds.block);
  });

  test('counts as any other where benign requests of two groups have it confirmed', () => {
    const { points, pairs } = trainOn([
      observation(2000, false, [[proof, 942_999]]),
      observation(2001, false, [[proof, 942_999]]),
    ]);
    expect([points[proof], pairs[proof]]).toEqual([undefined, undefined]);
  });
});

test('what no grammar proves has too few points to refuse alone', () => {
  const { points, thresholds } = train(observations, facts, training).file;
  expect(Object.keys(points)).not.toEqual([]);
  for (const value of Object.values(points)) expect(value).toBeLessThan(thresholds.block);
});

test('each source with attacks is left out in turn, beside what training with it gives', () => {
  const table = leaveOutEach(observations, facts, training);
  const rows = table.split('\n').filter((line) => line.startsWith('| attacks'));
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatch(/attacks: attack k \| 200 \| 0\.00 % [^|]*\| 100\.0 % [^|]*\| 0\.000/);
});

test('a fit has no weight below 0, and a penalty that drops columns without use', () => {
  const rows = [
    { columns: [0, 2], label: 1, weight: 50 },
    { columns: [1], label: 0, weight: 50 },
    { columns: [], label: 0, weight: 50 },
  ] as const;
  const { weights, bias } = fit(rows, { columns: 4, penalty: 0.001, steps: 300 });
  expect([...weights].every((weight) => weight >= 0)).toBe(true);
  expect(weights[0]).toBeGreaterThan(1);
  expect([weights[1], weights[3]]).toEqual([0, 0]);
  expect(bias).toBeLessThan(0);
  const strict = fit(rows, { columns: 4, penalty: 1, steps: 300 });
  expect([...strict.weights]).toEqual([0, 0, 0, 0]);
});
