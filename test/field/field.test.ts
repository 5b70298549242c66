/**
 * What real clients and attackers sent, from public reports of bugs in comparable products: each
 * case sends its bytes through the running product and judges the answer itself.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  fieldCases,
  missingField,
  missingTool,
  startFieldBed,
  type FieldBed,
} from './field-bed.ts';
import { knownFailures } from './known-failures-table.ts';

if (missingField !== null) console.log(missingField);

const cases = fieldCases();
const skipped = cases.map(missingTool).filter((reason) => reason !== null);
for (const reason of skipped) console.log(reason);
const possible = cases.filter((name) => missingTool(name) === null);
/** Whether a case sends megabytes, as its name says. */
const isLarge = (name: string): boolean => /\d+MB/.test(name);
const startTimeoutMs = 15 * 60_000;

describe.skipIf(missingField !== null)('field cases', () => {
  let bed: FieldBed;
  beforeAll(async () => {
    bed = await startFieldBed();
  }, startTimeoutMs);
  afterAll(() => bed?.stop(), startTimeoutMs);

  async function judge(name: string): Promise<void> {
    const said = await bed.run(name);
    if (name in knownFailures) {
      expect(said, 'it passes: remove it from known-failures-table.ts').not.toBe('PASS');
    } else {
      expect(said).toBe('PASS');
    }
  }

  test.concurrent.each(possible.filter((name) => !isLarge(name)))('%s', judge);
  // Their clients give up after a time of their own, which others beside them must not use.
  test.each(possible.filter(isLarge))('%s, with nothing beside it', judge);

  test('every known failure is a case of the corpus', () => {
    expect(Object.keys(knownFailures).filter((name) => !cases.includes(name))).toEqual([]);
    expect(cases.length).toBeGreaterThan(150);
  });
});
