/** Tests that points are read as they stand, and that the program's own files are sound. */

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { detectors } from './list.ts';
import { readWeights, type WeightsFile } from './weights.ts';

const file: WeightsFile = {
  version: 'crs4-1',
  ruleset: '4.28.0',
  thresholds: { watch: 10, challenge: 20, block: 50 },
  points: { '942100': 12.5 },
  pairs: { '198100': 3 },
  training: null,
};

test('points are by number', () => {
  const { points, pairs, thresholds } = readWeights(file);
  expect([...points]).toEqual([[942_100, 12.5]]);
  expect([...pairs]).toEqual([[198_100, 3]]);
  expect(thresholds).toEqual({ watch: 10, challenge: 20, block: 50 });
});

test.each([
  ['points below 0', { points: { '942100': -1 } }],
  ['points that are no number', { pairs: { '198100': Number.NaN } }],
  ['thresholds out of order', { thresholds: { watch: 30, challenge: 20, block: 50 } }],
  ['a threshold of 0', { thresholds: { watch: 0, challenge: 20, block: 50 } }],
  ['a threshold above 100', { thresholds: { watch: 1, challenge: 20, block: 101 } }],
])('%s are refused', (_, change) => {
  expect(() => readWeights({ ...file, ...change })).toThrow(/weights crs4-1/);
});

test.each(['crs4', 'crs3', 'none'])('the weights %s of the program name what made them', (name) => {
  const path = new URL(`./weights/${name}.weights.json`, import.meta.url);
  const weights = readWeights(JSON.parse(readFileSync(path, 'utf8')) as WeightsFile);
  expect(weights.version.startsWith(`${name}-`)).toBe(true);
});

/** Pages of editors hold them; a rule that confirms one makes it a proof again. */
const confirmedOnly: readonly string[] = ['script-tag'];

test.each(['crs4', 'crs3', 'none'])('by the weights %s what proves an attack refuses', (name) => {
  const path = new URL(`./weights/${name}.weights.json`, import.meta.url);
  const weights = readWeights(JSON.parse(readFileSync(path, 'utf8')) as WeightsFile);
  const weak = detectors.filter(({ id, strong }) => {
    return strong && (weights.points.get(id) ?? 0) < weights.thresholds.block;
  });
  expect(weak.map((one) => one.name)).toEqual(confirmedOnly);
});
