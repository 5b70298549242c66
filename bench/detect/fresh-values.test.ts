/**
 * Holds values that no detector was written from against the points without a ruleset: attacks by
 * the manuals of what they attack, and texts of people and programs that look like attacks.
 */

import { afterAll, describe, expect, test } from 'vitest';
import { scoreOf } from './figures.ts';
import { observe } from './observe.ts';
import { buildJudgedPolicy } from './policy.ts';
import { readRequests } from './requests.ts';

const { engine } = buildJudgedPolicy({
  ...{ template: 'Light', ruleset: 'none', crs4: '', cacheFolder: '.cache' },
});
const { detection } = engine.scoring!;

afterAll(() => engine.retire());

/** Ids of the requests of a file, and of those that the score refuses. */
function judge(name: string): { readonly all: number; readonly refused: number } {
  const requests = readRequests([`test/detect/${name}.jsonl`]);
  const refused = requests.filter((request) => {
    return scoreOf(observe(engine, request), detection) >= detection.weights.thresholds.block;
  });
  return { all: requests.length, refused: refused.length };
}

describe('of values in queries and forms', () => {
  test.each([
    ['attacks', 340, 0.95],
    ['attacks-kept', 300, 0.89],
    ['paths', 100, 0.97],
  ])('%s: of more than %i the score refuses %d', (name, count, share) => {
    const { all, refused } = judge(name);
    expect(all).toBeGreaterThan(2 * count);
    expect(refused / all).toBeGreaterThan(share);
  });

  test.each([
    ['ordinary', 290, 0.03],
    ['ordinary-kept', 290, 0.075],
    ['developers', 70, 0.05],
    ['code-and-prose', 120, 0.19],
    ['texts', 150, 0.1],
    ['texts-kept', 149, 0.17],
  ])('%s: of more than %i the score refuses at most %d', (name, count, share) => {
    const { all, refused } = judge(name);
    expect(all).toBeGreaterThan(2 * count);
    expect(refused / all).toBeLessThan(share);
  });
});
