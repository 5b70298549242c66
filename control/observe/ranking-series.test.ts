/** Proves that rankings are added up by hour and site, bounded, never overstated, and forgotten. */

import { create, toBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import { CounterBatchSchema } from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { crc32c } from '../../base/crc32c.ts';
import { observationLimits } from '../limits/observation-limits.ts';
import { openMemoryKv } from '../store/memory-kv.ts';
import { metricPayloadVersion } from '../../base/protocol-versions.ts';
import { openCounterStore, type CounterStore } from './counter-store.ts';

const hourMs = 3_600_000;
const startMs = 1_760_000_000_000 - (1_760_000_000_000 % hourMs);
let seq = 0n;

type Entry = readonly [family: string, key: string, count: number];

async function tell(store: CounterStore, atMs: number, siteId: string, entries: readonly Entry[]) {
  const list = entries.map(([family, key, count]) => ({ family, key, count: BigInt(count) }));
  const deltas = [{ siteId, entries: list }];
  const message = create(CounterBatchSchema, { toMs: BigInt(atMs), deltas });
  const payload = toBinary(CounterBatchSchema, message);
  const header = { agentId: 'local', tenantId: 't', bootId: '00', batchSeq: ++seq };
  return store.ingest({ ...header, crc32c: crc32c(payload), payload }, metricPayloadVersion);
}

test('values add up over batches and hours, for the site and for all, and are no other counts', async () => {
  const store = openCounterStore(openMemoryKv());
  await tell(store, startMs, 'a', [
    ['top_path', '/x', 3],
    ['top_path_blocked', '/x', 2],
    ['top_user_agent_blocked', 'alone', 1],
    ['top_nonsense', '/x', 9],
  ]);
  await tell(store, startMs + hourMs, 'a', [['top_path', '/x', 1]]);
  await tell(store, startMs + hourMs, 'b', [['top_path', '/y', 9]]);
  const one = store.rankings('t', 'a', startMs + 10, startMs + 2 * hourMs);
  expect(one.path).toEqual([{ key: '/x', total: 4, blocked: 2 }]);
  expect(one.user_agent).toEqual([{ key: 'alone', total: 0, blocked: 0 }]);
  const all = store.rankings('t', '', startMs, startMs + 2 * hourMs);
  expect(all.path.map(({ key }) => key)).toEqual(['/y', '/x']);
  expect(store.rankings('t', 'a', startMs, startMs + hourMs).path).toMatchObject([{ total: 3 }]);
  expect(store.rankings('other', '', 0, startMs + 2 * hourMs).path).toEqual([]);
  expect(store.list()).toEqual([]);
  expect(store.traffic('hour', 't', '', 0, startMs + 2 * hourMs)).toEqual([]);
});

test('a flood of values stays within its bound and keeps what is frequent', async () => {
  const store = openCounterStore(openMemoryKv());
  for (let round = 0; round < 20; round++) {
    const rare = Array.from({ length: 50 }, (_, at): Entry => ['top_path', `/${round}-${at}`, 1]);
    await tell(store, startMs, '', [['top_path', '/often', 30], ...rare]);
  }
  const { path } = store.rankings('t', '', startMs, startMs + 1);
  expect(path.length).toBe(observationLimits.rankedValuesMax);
  expect(path[0]).toEqual({ key: '/often', total: 600, blocked: 0 });
  expect(path.reduce((sum, { total }) => sum + total, 0)).toBeLessThanOrEqual(20 * 80);
});

test('rankings are forgotten after their time', async () => {
  const store = openCounterStore(openMemoryKv());
  await tell(store, startMs, 'a', [['top_path', '/x', 3]]);
  const laterMs = startMs + observationLimits.rankingsKeptMs + 2 * hourMs;
  await tell(store, laterMs, 'b', [['top_path', '/y', 3]]);
  expect(store.rankings('t', 'a', 0, laterMs + hourMs).path).toEqual([]);
  expect(store.rankings('t', '', 0, laterMs + hourMs).path).toMatchObject([{ key: '/y' }]);
});
