/** The proof of the country catalog: the bundled data set, counted by walking its tree. */

import { expect, test } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { CountryDatabase } from '../../engine/guard/geo.ts';
import { openMemoryKv } from '../store/memory-kv.ts';
import { openStore } from '../store/store.ts';
import { countryCatalog } from './country-catalog.ts';

test('the bundled data set has the countries of the world, with their networks', async () => {
  const store = await openStore(openMemoryKv(), systemClock);
  const catalog = countryCatalog(store);
  expect(catalog).toMatchObject({ available: true, datasetSource: 'bundled' });
  expect(catalog.datasetSha256).toMatch(/^[0-9a-f]{64}$/);
  const countries = catalog.countries ?? [];
  expect(countries.length).toBeGreaterThan(200);
  const codes = countries.map(({ code = '' }) => code);
  expect(codes).toEqual(codes.toSorted((left, right) => (left < right ? -1 : 1)));
  const known = new CountryDatabase().find('8.8.8.8')?.get('COUNTRY_CODE');
  expect(countries.find(({ code }) => code === known)?.prefixCount).toBeGreaterThan(1000);
  expect(countryCatalog(store)).toEqual(catalog);
});
