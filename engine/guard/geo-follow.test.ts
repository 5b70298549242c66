/** Proves that a country database can be put in place, replaced, broken and taken away. */

import { mkdtempSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTestMmdb } from '../../test/support/test-mmdb.ts';
import { FollowedCountryDatabase, placeCountryDatabase } from './geo.ts';

test('look-ups follow the file, at most once a second', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'waf-geo-')), 'geo', 'country.mmdb');
  let nowUs = 0;
  const failures: unknown[] = [];
  const clock = { nowMs: () => 0, monotonicUs: () => nowUs };
  const followed = new FollowedCountryDatabase(path, clock, (error) => failures.push(error));
  const country = (): string | undefined => followed.find('8.8.8.8')?.get('COUNTRY_CODE');
  expect(country()).toBe('US');
  placeCountryDatabase(path, makeTestMmdb('ZZ'));
  expect(country()).toBe('US');
  nowUs += 1_000_000;
  expect(country()).toBe('ZZ');
  placeCountryDatabase(path, makeTestMmdb('YY'));
  utimesSync(path, new Date(), new Date(1_000));
  nowUs += 1_000_000;
  expect(country()).toBe('YY');
  expect(() => placeCountryDatabase(path, Buffer.from('no database'))).toThrow(/country database/);
  nowUs += 1_000_000;
  expect(country()).toBe('YY');
  writeFileSync(path, 'damaged');
  nowUs += 1_000_000;
  expect(country()).toBeUndefined();
  expect(failures).toHaveLength(1);
  placeCountryDatabase(path, null);
  nowUs += 1_000_000;
  expect(country()).toBe('US');
});
