/** Tests that sizes of inventories are exact after every change, and read nothing without one. */

import { create, toBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import {
  CounterBatchSchema,
  CounterDeltaSchema,
} from '../../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { systemClock } from '../../../base/clock.ts';
import { crc32c } from '../../../base/crc32c.ts';
import { metricPayloadVersion } from '../../../base/protocol-versions.ts';
import type { ApiAssetRecord } from '../../domain/documents/api-records.ts';
import { openCounterStore } from '../../observe/counter-store.ts';
import { apiAssets } from '../../store/api-collections.ts';
import type { Kv } from '../../store/kv.ts';
import { openMemoryKv } from '../../store/memory-kv.ts';
import { openStore } from '../../store/store.ts';
import { InventoryCounts } from './inventory-counts.ts';

let batches = 0n;

function batchOf(siteId: string, keys: readonly string[]) {
  const entries = keys.map((key) => ({ family: 'api_endpoints', key, count: 1n }));
  const delta = create(CounterDeltaSchema, { siteId, requests: 1n, entries });
  const payload = toBinary(CounterBatchSchema, create(CounterBatchSchema, { deltas: [delta] }));
  const run = { agentId: 'local', tenantId: 't', bootId: 'ab', batchSeq: ++batches };
  return { ...run, crc32c: crc32c(payload), payload };
}

function assetOf(id: string, path: string, hidden: boolean): ApiAssetRecord {
  const place = { siteId: 's', tenantId: 't', method: 'GET', host: 'a.example', path };
  return { id, ...place, cataloged: true, hidden, revision: 1 } as unknown as ApiAssetRecord;
}

/** A store of counts whose reading and failing a test sees. */
async function open() {
  const inner = openMemoryKv();
  let [reads, fails] = [0, false];
  const kv: Kv = {
    ...inner,
    get: (key) => {
      if (key.startsWith('ep')) reads++;
      return inner.get(key);
    },
    write: async (change) => {
      if (!fails) return inner.write(change);
      const stage = inner.stage();
      change(stage.writer);
      await Promise.resolve();
      throw new Error('full');
    },
  };
  const counters = openCounterStore(kv);
  const store = await openStore(openMemoryKv(), systemClock);
  const inventory = new InventoryCounts(store, counters);
  return {
    store,
    size: () => {
      const before = reads;
      return { ...inventory.of('t', 's'), reads: reads - before };
    },
    see: (siteId: string, ...keys: string[]) =>
      counters.ingest(batchOf(siteId, keys), metricPayloadVersion),
    fail: (on: boolean) => (fails = on),
  };
}

test('sizes follow traffic and the catalog, and are read once after a change', async () => {
  const { store, size, see, fail } = await open();
  expect(size()).toMatchObject({ assets: 0, cataloged: 0, hidden: 0, omitted: 0 });
  await see('s', 'GET a.example /one', 'GET a.example /two');
  expect(size()).toMatchObject({ assets: 2, cataloged: 0 });
  expect(size()).toEqual({ assets: 2, cataloged: 0, hidden: 0, omitted: 0, reads: 0 });
  // What another site sees, and counts that are no endpoints, change nothing.
  await see('other', 'GET a.example /one');
  await see('s');
  expect(size()).toMatchObject({ assets: 2, reads: 0 });
  await store.write((tx) => tx.put(apiAssets, assetOf('one', '/three', false)));
  expect(size()).toMatchObject({ assets: 3, cataloged: 1, hidden: 0 });
  await store.write((tx) => tx.put(apiAssets, assetOf('one', '/three', true)));
  expect(size()).toMatchObject({ assets: 3, cataloged: 1, hidden: 1 });
  expect(size().reads).toBe(0);
  await store.write((tx) => tx.remove(apiAssets, 'one'));
  expect(size()).toMatchObject({ assets: 2, cataloged: 0, hidden: 0 });
  fail(true);
  await expect(see('s', 'GET a.example /lost')).rejects.toThrow('full');
  fail(false);
  expect(size()).toMatchObject({ assets: 2 });
  await see('s', 'GET a.example /found');
  expect(size()).toMatchObject({ assets: 3 });
});
