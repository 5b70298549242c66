/** Proves what is shown of addresses: bundled countries, and what was uploaded in their place. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeTestMmdb } from '../../test/support/test-mmdb.ts';
import { systemClock } from '../../base/clock.ts';
import { geoDatabases } from '../store/collections.ts';
import { openMemoryKv } from '../store/memory-kv.ts';
import { openStore, type Store } from '../store/store.ts';
import { openNetworkGeo } from './network-geo.ts';

let store: Store;
beforeAll(async () => {
  store = await openStore(openMemoryKv(), systemClock);
});
afterAll(() => store.close());

test('countries of the product, until others are uploaded', async () => {
  const place = openNetworkGeo(store)('8.8.8.8');
  expect(place).toMatchObject({ countryCode: 'US', countryName: 'United States', asn: 0 });
  expect(openNetworkGeo(store)('127.0.0.1')).toBeNull();
  expect(openNetworkGeo(store)('no address')).toBeNull();
  const facts = {
    id: 'country',
    kind: 'country',
    sha256: 'x',
    blob: 'b',
    createdAt: '',
    updatedAt: '',
  };
  await store.write((tx) => {
    tx.putBlob('b', makeTestMmdb('CH'));
    tx.put(geoDatabases, facts as never);
  });
  expect(openNetworkGeo(store)('8.8.8.8')).toMatchObject({ countryName: 'Switzerland' });
  expect(openNetworkGeo(store)('127.0.0.1')).toMatchObject({ countryCode: 'CH' });
});
