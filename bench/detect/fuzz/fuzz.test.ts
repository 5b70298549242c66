/** Tests that mutants of attacks which act are found, and that the judges tell which act. */

import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { detect } from '../../../engine/detect/detect.ts';
import { detectors } from '../../../engine/detect/list.ts';
import { fuzz } from './fuzz.ts';
import { actsInShell } from './shell.ts';
import { actsInSqlite } from './sql.ts';

const strong = new Set(
  detectors.filter((one) => one.strong && one.variables === undefined).map(({ id }) => id),
);
const isFound = (value: string): boolean => {
  const { leaves } = detect([{ path: 'args.q', bytes: Buffer.from(value, 'latin1') }]);
  return leaves.some(({ hits }) => hits.some(({ id }) => strong.has(id)));
};

// The set-up of the tests installs it where it can.
describe.skipIf(!existsSync('/usr/bin/sqlite3'))('mutants', () => {
  test.each([
    ["zz' or 1=1--", true],
    ["zz' union select 'x' --", true],
    ["zz';insert into t values(9,'z')--", true],
    ["zz' or", false],
    ['zz or 1=1', false],
  ])('SQLite says whether %s acts: %s', (value, acts) => {
    expect(actsInSqlite({ value, context: "select a from t where a='?'" })).toBe(acts);
  });

  test.each([
    [';id', true],
    ['$(echo uid=$((6*7)))', true],
    ['`id`', true],
    ['id', false],
    ["';id", false],
  ])('sh says whether %s acts: %s', (value, acts) => {
    expect(actsInShell({ value, context: 'echo ping ?' })).toBe(acts);
  });

  test('at most 3 % of those that act pass', () => {
    for (const { name, acting, passed } of fuzz(150, 11, isFound)) {
      const values = passed.map(({ value }) => value);
      expect(acting, name).toBeGreaterThan(60);
      expect(values.length / acting, `${name}: ${JSON.stringify(values)}`).toBeLessThanOrEqual(
        0.03,
      );
    }
  });
});
