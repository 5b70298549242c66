/** Tests that decisions of IP lists are counted by entry, in bounded number, and none is lost. */

import { create, toBinary } from '@bufbuild/protobuf';
import { expect, test } from 'vitest';
import {
  CounterBatchSchema,
  CounterDeltaSchema,
} from '../../proto/gen/waf/runtime/v1/observation_pb.ts';
import { crc32c } from '../../base/crc32c.ts';
import { metricPayloadVersion } from '../../base/protocol-versions.ts';
import { observationLimits } from '../limits/observation-limits.ts';
import { openMemoryKv } from '../store/memory-kv.ts';
import { openCounterStore } from './counter-store.ts';
import { addListEntryHits, readListEntryHits, type ListEntriesOf } from './list-entry-hits.ts';

/** Addresses are entries of their own here; those that begin with `none` have none. */
const entriesOf: ListEntriesOf = (tenantId) => (bindingId, address) => {
  if (tenantId !== 't' || bindingId === 'gone') return null;
  return { listId: `list-${bindingId}`, entryKey: address.startsWith('none') ? '' : address };
};

const delta = (...hits: readonly (readonly [key: string, count: bigint])[]) =>
  create(CounterDeltaSchema, {
    entries: hits.map(([key, count]) => ({ family: 'list_hit', key, count })),
  });

test('decisions of an IP list are counted by entry, once a batch, with the last time', async () => {
  const nowMs = 1_700_000_000_000;
  const clock = { nowMs: () => nowMs };
  const more = [undefined, clock, undefined, undefined, entriesOf] as const;
  const store = openCounterStore(openMemoryKv(), ...more);
  const send = (batchSeq: bigint, toMs: number, tenantId = 't') => {
    const deltas = [delta(['b e', 2n], ['b none', 3n], ['b ', 4n], ['gone e', 1n])];
    const batch = create(CounterBatchSchema, { deltas, toMs: BigInt(toMs) });
    const payload = toBinary(CounterBatchSchema, batch);
    const run = { agentId: tenantId, tenantId, bootId: 'ab', batchSeq };
    return store.ingest({ ...run, crc32c: crc32c(payload), payload }, metricPayloadVersion);
  };
  const hitsOf = (entryKey: string, listId = 'list-b') =>
    store.listEntryHits('t', { listId, entryKey });
  await send(1n, nowMs - 5_000);
  expect(await send(1n, nowMs)).toBe('repeated');
  // A clock that is fast does not make it later than now.
  await send(2n, nowMs + 60_000);
  await send(1n, nowMs, 'other');
  expect(hitsOf('e')).toEqual({ hits: 4, lastMs: nowMs });
  expect(hitsOf('')).toEqual({ hits: 14, lastMs: nowMs });
  expect([hitsOf('never'), hitsOf('e', 'list-gone')]).toEqual([null, null]);
  expect(store.listEntryHits('other', { listId: 'list-b', entryKey: 'e' })).toBeNull();
  // They are no requests of a site.
  expect(store.list()).toEqual([]);
});

test('entries that decided nothing for longest are counted for their lists', async () => {
  const kv = openMemoryKv();
  const max = observationLimits.countedListEntriesMax;
  const add = (atMs: number, ...hits: readonly (readonly [string, bigint])[]) =>
    kv.write((writer) => addListEntryHits(writer, entriesOf, 't', atMs, [delta(...hits)]));
  const many = Array.from({ length: max - 1 }, (_, at) => [`b e${at}`, 1n] as const);
  await add(1, ['old e', 5n]);
  await add(2, ...many);
  const hitsOf = (listId: string, entryKey: string) =>
    readListEntryHits(kv, 't', { listId, entryKey });
  expect(hitsOf('list-old', 'e')).toEqual({ hits: 5, lastMs: 1 });
  await add(3, ['b new', 1n]);
  expect(hitsOf('list-old', 'e')).toBeNull();
  expect(hitsOf('list-old', '')).toEqual({ hits: 5, lastMs: 1 });
  expect(hitsOf('list-b', 'new')).toEqual({ hits: 1, lastMs: 3 });
  const rows = many.map(([key]) => hitsOf('list-b', key.slice(2))?.hits ?? 0);
  const kept = rows.reduce((sum, one) => sum + one, 0);
  expect(kept).toBeLessThan(max * 0.9);
  expect(kept + hitsOf('list-b', '')!.hits).toBe(max - 1);
});
