/** Proves that traffic is added up by step and site, once, and forgotten when it is old. */

import { create, toBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { CounterBatchSchema } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { crc32c } from '../../base/crc32c.ts';
import { openMemoryKv } from '../store/memory-kv.ts';
import { metricPayloadVersion } from '../../base/protocol-versions.ts';
import { openCounterStore, type CounterStore } from './counter-store.ts';

const hourMs = 3_600_000;
const startMs = 1_760_000_000_000 - (1_760_000_000_000 % hourMs);
let seq = 0n;

async function count(store: CounterStore, atMs: number, siteId: string, requests: number) {
  const delta = {
    siteId,
    requests: BigInt(requests),
    entries: [
      { family: 'outcome', key: 'blocked', count: 1n },
      { family: 'status', key: '200', count: BigInt(requests - 1) },
      { family: 'status', key: '403', count: 1n },
      { family: 'status', key: 'nonsense', count: 1n },
      { family: 'served', key: '200', count: BigInt(requests - 1) },
      { family: 'served', key: 'very_slow', count: 1n },
      { family: 'served', key: 'nonsense', count: 1n },
    ],
  };
  const message = create(CounterBatchSchema, { toMs: BigInt(atMs), deltas: [delta] });
  const payload = toBinary(CounterBatchSchema, message);
  const header = { agentId: 'local', tenantId: 't', bootId: '00', batchSeq: ++seq };
  return store.ingest({ ...header, crc32c: crc32c(payload), payload }, metricPayloadVersion);
}

test('counts lie in their minute and hour, for the site and for all', async () => {
  const store = openCounterStore(openMemoryKv());
  await count(store, startMs + 10, 'a', 3);
  await count(store, startMs + 59_999, 'a', 2);
  await count(store, startMs + 60_000, 'b', 4);
  await count(store, startMs + hourMs, '', 5);
  const minutes = store.traffic('minute', 't', 'a', startMs, startMs + hourMs);
  expect(minutes).toMatchObject([
    { atMs: startMs, requests: 5, blocked: 2, statuses: { 200: 3, 403: 2 } },
  ]);
  const all = store.traffic('hour', 't', '', startMs, startMs + 2 * hourMs);
  expect(all.map(({ atMs, requests }) => [atMs - startMs, requests])).toEqual([
    [0, 9],
    [hourMs, 5],
  ]);
  expect(store.traffic('hour', 'other', '', startMs, startMs + 2 * hourMs)).toEqual([]);
  expect(Object.keys(all[0]?.statuses ?? {})).toEqual(['200', '403']);
  expect(all[0]?.served).toEqual({ 200: 6, very_slow: 3 });
});

test('minutes are forgotten after a day, hours are kept', async () => {
  const store = openCounterStore(openMemoryKv());
  await count(store, startMs, 'a', 3);
  await count(store, startMs + 25 * hourMs, 'a', 2);
  const endMs = startMs + 26 * hourMs;
  expect(store.traffic('minute', 't', 'a', 0, endMs)).toMatchObject([{ requests: 2 }]);
  expect(store.traffic('hour', 't', 'a', 0, endMs)).toMatchObject([{ requests: 3 }, {}]);
  await count(store, startMs + 92 * 24 * hourMs, 'a', 1);
  const later = startMs + 93 * 24 * hourMs;
  expect(store.traffic('hour', 't', 'a', 0, later)).toMatchObject([{ requests: 1 }]);
});
